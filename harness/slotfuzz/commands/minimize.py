"""Finds the smallest program with the same signature and writes it as a script.

The exit code is 1, since the result is a finding. A clean FILE is an error: it has no signature.
"""

import tempfile
from pathlib import Path

from slotfuzz import options
from slotfuzz.engine.server import Server
from slotfuzz.errors import UserError
from slotfuzz.finding import contract, finding
from slotfuzz.hunt.hunt import VERIFY_RUNS
from slotfuzz.triage import draft, verify
from slotfuzz.triage.smallest import smallest

EXAMPLE = ("./slotfuzz minimize corpus/storage/delete_in_hermetic.py"
           " --subject mutant:hermetic-del-storage -o small.py")


def add_arguments(parser) -> None:
    """The options of minimize."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", required=True)
    options.add_subject(parser, of_file=True)
    options.add_target_of_file(parser)
    options.add_skip_unknown(parser)


def run(args, output) -> int:
    """Minimizes, verifies and writes the program; 1, since it is a finding."""
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
    with tempfile.TemporaryDirectory(prefix="slotfuzz-") as folder:
        path = Path(folder) / "repro.py"
        path.write_text(script)
        for name, text in imported.items():
            (path.parent / name).write_text(text)
        verified = verify.verify(chosen.script_command(path), path.parent,
                                 chosen.script_environment(), VERIFY_RUNS, best.reply)
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
