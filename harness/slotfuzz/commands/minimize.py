"""Finds the smallest program with the same signature and writes it as a script.

FILE may be a case, the folder that `capture` writes. Then lines and tensors become as few and as
plain as the failure allows, and DIR gets repro.py, the smaller case and NOTES.md.
The exit code is 1, since the result is a finding. What does not fail is an error.
"""

import tempfile
from pathlib import Path

from slotfuzz import options
from slotfuzz.engine.server import Server
from slotfuzz.errors import UserError
from slotfuzz.finding import contract, finding
from slotfuzz.hunt.hunt import VERIFY_RUNS
from slotfuzz.inputs import capture, case as cases, folder, minimized, notes
from slotfuzz.subject import packages as system, rootfs
from slotfuzz.triage import draft, verify
from slotfuzz.inputs.trial import Trial
from slotfuzz.triage.smallest import smallest

EXAMPLE = ("./slotfuzz minimize corpus/storage/delete_in_hermetic.py"
           " --subject mutant:hermetic-del-storage -o small.py")


def packages(args) -> tuple[str, ...]:
    """A case needs no build."""
    return () if args.file.is_dir() else system.LISTS


def add_arguments(parser) -> None:
    """The options of minimize."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a program, or a case")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", required=True,
                        help="of a case: DIR")
    options.add_subject(parser, of_file=True)
    options.add_target_of_file(parser)
    options.add_skip_unknown(parser)


def run(args, output) -> int:
    """Minimizes, verifies and writes; 1, since it is a finding."""
    return (_of_case if args.file.is_dir() else _of_program)(args, output)


def _of_case(args, output) -> int:
    for name in ("subject", "sanitizer", "target", "skip_unknown"):
        if getattr(args, name):
            raise UserError(f"--{name.replace('_', '-')} is for programs; {args.file} is a case,"
                            " which names its interpreter")
    case = cases.read(args.file)
    folder.check(args.output)
    place = _place(args, case)
    with Trial(place) as trial:
        result, failure = minimized.reduce(case, trial)
    with folder.filled(args.output) as made:
        written = minimized.write(made, case, place, result, failure)
    small = result.case
    output.text(
        f"{failure.text}\nlines {len(case.lines)} -> {len(small.lines)}, variables"
        f" {len(case.capture.names)} -> {len(small.capture.names)}, bytes {case.bytes} ->"
        f" {small.bytes}, {result.runs} runs, {result.seconds:.2f} s,"
        f" {'1-minimal' if result.one_minimal else 'not 1-minimal'}, fails in {written.failed} of"
        f" {minimized.FRESH_RUNS} fresh processes\n{notes.picture(small)}\nwrote {args.output}")
    output.document({
        "case": str(args.file), "output": str(args.output), "failure": failure.text,
        "lines_before": len(case.lines), "lines": len(small.lines),
        "names_before": len(case.capture.names), "names": len(small.capture.names),
        "bytes_before": case.bytes, "bytes": small.bytes, "runs": result.runs,
        "seconds": round(result.seconds, 3), "one_minimal": result.one_minimal,
        "fresh_runs": minimized.FRESH_RUNS, "fresh_failed": written.failed,
    })
    return 1


def _place(args, case) -> capture.Place:
    """The interpreter that the options name, or else the one of the capture."""
    tree = options.tree(args)
    if args.python or tree:
        return capture.place_of(args.python, tree)
    kept = case.record.tree
    return capture.place_of(case.record.python, rootfs.check(Path(kept)) if kept else None)


def _of_program(args, output) -> int:
    text = options.read_program(args.file)
    wish = options.meant(args, args.file, text)
    finding.check_writable(args.output.absolute().parent)
    chosen = options.resolve(args, wish)
    with Server(chosen, wish.target) as server, \
            Server(chosen, wish.target, symbols=False) as quick:
        options.check_lines(args, args.file, server, server.run(text))
        best = smallest(server, quick, text)
        if best is None:
            raise UserError(f"{args.file} is clean on {chosen.name}: nothing to minimize")
        program = server.table.program_text(best.minimized.lines)
    with Server(chosen, wish.target, trace=True) as server:
        traced = server.run(program)
        reply = traced if traced.is_finding else best.reply
        number = contract.contract_of(reply)
        script = draft.script_of(server, best.reply, best.signature, number)
        imported = chosen.function.files() if chosen.function else {}
        with tempfile.TemporaryDirectory(prefix="slotfuzz-") as place:
            path = Path(place) / "repro.py"
            path.write_text(script)
            for name, text in imported.items():
                (path.parent / name).write_text(text)
            verified = verify.by_itself(chosen, lambda environment: verify.verify(
                chosen.script_command(path), path.parent, environment, VERIFY_RUNS, best.reply))
        script = draft.script_of(server, best.reply, best.signature, number, verified.manner)
    finding.write_file(args.output, script)
    for name, text in imported.items():
        finding.write_file(args.output.parent / name, text)
    result = best.minimized
    output.text(
        f"{best.signature.text}\n"
        f"lines {result.lines_before} -> {len(result.lines)}, {result.runs} runs"
        f" of {result.tried} programs, {result.seconds:.2f} s,"
        f" {'1-minimal' if result.one_minimal else 'not 1-minimal'}, fails"
        f" in {verified.rate:.0%} of {verified.runs} fresh processes"
        f" (at least {verified.rate_low:.0%})\n{program}wrote {args.output}")
    output.document({
        "file": str(args.file), "output": str(args.output), "signature": best.signature.text,
        "lines_before": result.lines_before, "lines": len(result.lines), "runs": result.runs,
        "programs": result.tried,
        "seconds": round(result.seconds, 3), "one_minimal": result.one_minimal,
        "rate": verified.rate, "rate_low": verified.rate_low, "program": program,
    })
    return 1
