"""Runs random programs on the core and on an installed PyTorch, and compares observations.

    ./slotfuzz bench differential --rootfs build/rootfs-trixie --runs 100000

Each difference needs a reason in bench/differential.toml; one that is added while the command runs
counts, too. A run that was interrupted goes on when the same command runs with the same binary.
If a difference has none at the end, the command exits with 1 and writes its smallest
program as two scripts, one for each module. The table goes to repro/torch-<release>/differences.md,
which `report --markdown` includes in docs/torch.md.
"""

import hashlib
import json
import tomllib

from slotfuzz import options
from slotfuzz.finding import finding
from slotfuzz.language import prelude
from slotfuzz.measure import compared, differences, differential
from slotfuzz.measure.benchmark import Measured, markdown_table
from slotfuzz.paths import ROOT, build_root, shown
from slotfuzz.progress import ProgressLine
from slotfuzz.subject import registry, subject
from slotfuzz.subject.capabilities import Capabilities

RUNS, SEED = 100_000, 1
# What the core is compared with.
SUBJECT = "torch"
REASONS = ROOT / "bench" / "differential.toml"
SCRIPT = '''\
# {signature}
# After line {line}, {observation}: {core} on slotcore, {torch} on torch.
# run: {command}
import gc, os, sys, weakref
import {module} as T

{snippets}
PROGRAM = """
{program}"""
for number, line in enumerate(PROGRAM.strip().splitlines(), 1):
    try:
        exec(line)
        print(f"{{number}}: {{line}}")
    except Exception as error:
        print(f"{{number}}: {{line}} raised {{type(error).__name__}}")
    print(observe(globals()))
'''


class ReasonsOfNow:
    """Reads the table of reasons at each call; one that is half written stays as it was."""

    def __init__(self):
        self.rows = differences.read_reasons(REASONS)

    def __call__(self) -> list[differences.Reason]:
        try:
            self.rows = differences.read_reasons(REASONS)
        except (tomllib.TOMLDecodeError, KeyError):
            pass
        return self.rows


def measure(args) -> Measured:
    """One row for the programs that agree, one for each reason and each unexplained difference."""
    torch = subject.resolve(SUBJECT, "none", [differential.TARGET], args.python,
                            tree=options.tree(args))
    runs, seed = args.runs or RUNS, args.seed or SEED
    with differential.Pair(*differential.servers(torch), reasons=ReasonsOfNow()) as pair:
        line, kept = ProgressLine(), _kept(torch, pair, f"{runs} programs of seed {seed}")
        progress = kept.read()
        if progress and progress.holds_with(pair.reasons):
            line.note(f"continues an interrupted run at {progress.result.programs:,} programs"
                      f" ({shown(kept.file)})")
        try:
            result = pair.compare(runs, seed, line.note, line.show, kept)
        finally:
            line.close()
        snippets = prelude.snippets_of(pair.core.table.description)
    rows = [_row("equal in every line", "", "", result.alike)]
    rows += [_row(one.name, one.why, one.place, result.reasons[one.name]) for one in pair.reasons
             if result.reasons[one.name]]
    place = finding.check_writable(build_root() / "bench" / "differences")
    for number, (signature, one) in enumerate(result.unexplained.items()):
        rows.append(_row("no reason", signature, "", len(one.programs)))
        for about in (registry.find(registry.DEFAULT), registry.find(SUBJECT)):
            write_script(place / f"{number}-{about.module}.py", about, one, snippets)
    said = _sentences(result, pair, torch.edition, seed)
    if result.unexplained:
        said.append(f"scripts are in {shown(place)}")
    place = ROOT / "repro" / torch.edition.replace(" ", "-") / "differences.md"
    if result.interrupted:
        said.append(f"interrupted: {shown(place)} stays as it was, and the same command goes on")
    else:
        finding.write_file(finding.check_writable(place.parent) / place.name, document(rows, said))
        said.append(f"wrote {shown(place)}")
    return Measured(rows, said, {"programs": result.programs, "lines": result.lines,
                                 "alike": result.alike, "crashed": result.crashed,
                                 "left_out": [*pair.vocabulary.left_out],
                                 "unexplained": [*result.unexplained]},
                    failed=bool(result.unexplained))


def _kept(torch, pair: differential.Pair, wanted: str) -> compared.KeptProgress:
    """The progress of what is WANTED, with these binaries, ops and this release."""
    binary = torch.target(differential.TARGET).read_bytes()
    ops = json.dumps([server.table.ops for server in (pair.core, pair.torch[0])], sort_keys=True)
    about = "\n".join([wanted, torch.edition, hashlib.sha256(binary).hexdigest(), ops])
    folder = finding.check_writable(build_root() / "bench")
    return compared.KeptProgress(folder / f"differential-{wanted.split()[-1]}.pickle",
                                 hashlib.sha256(about.encode()).hexdigest())


def plot(measured: Measured, axes) -> None:
    """Bars: the number of programs for each reason."""
    rows = measured.rows[1:][::-1]
    axes.barh([row["what"] for row in rows], [row["programs"] for row in rows])
    axes.set_xlabel("programs")
    axes.set_ylabel("reason")


def document(rows: list[dict], sentences: list[str]) -> str:
    """The text of differences.md."""
    head = ["what", "why", "where it says so", "programs"]
    return "\n".join([
        "### Compared with slotcore", "",
        "`./slotfuzz bench differential` wrote this section. It runs random programs on both in one"
        " engine, and compares what a program can observe after each line: the exception, and for"
        " all objects that it reaches the class, sizes, strides, numbers, version, base,"
        " attributes, weak references, and identity. It omits use counts, because PyTorch's include"
        " the references that its autograd holds. If a difference has a reason, it drops the line"
        " and compares the rest again; it passes over a line if only what it raised differs.",
        "", *sentences, "",
        *markdown_table(head, [[row["what"], row["why"], row["place"], row["programs"]]
                               for row in rows]), ""])


def write_script(place, about: Capabilities, one: compared.Unexplained, snippets) -> None:
    """The program for the subject ABOUT; it prints its observations after each line."""
    needed = prelude.needed(snippets, f"observe {one.text}", about.module)
    difference, helpers = one.difference, "\n".join(snippet.text for snippet in needed)
    finding.write_file(place, SCRIPT.format(
        signature=difference.signature, line=difference.line + 1,
        observation=difference.observation, core=difference.core, torch=difference.torch,
        command=f"{about.runs_scripts} {place.name}", module=about.module, snippets=helpers,
        program=one.text))


def _row(what: str, why: str, place: str, programs: int) -> dict:
    return {"what": what, "why": why, "place": place, "programs": programs}


def _sentences(
    result: compared.Result, pair: differential.Pair, edition: str, seed: int,
) -> list[str]:
    said = [f"{result.programs:,} random programs (seed {seed}, {result.lines:,} lines) that both"
            f" slotcore and {edition} can run: {result.alike:,} equal in every line,"
            f" {result.programs - result.alike - _unexplained(result):,} after lines with a"
            f" reason to differ were dropped or passed over,"
            f" {_unexplained(result):,} differ without a reason.",
            f"{result.crashed:,} more ended torch's process, or took it longer than"
            f" {differential.TORCH_SECONDS} s, and were not compared."
            f" {len(pair.vocabulary.drawn)} ops were drawn from. Checks are not among them: each"
            " compares a subject with the contract, and hunts draw it."]
    for name, one in pair.vocabulary.left_out.items():
        known = pair.reason_for(one)
        said.append(f"`{pair.core.table.ops[name]['template']}` is left out, since it too often"
                    f" {f'differs: {known[0].name}' if known else 'ends the process of torch'}.")
    return said + [one.sentence() for one in result.unexplained.values()]


def _unexplained(result: compared.Result) -> int:
    return sum(len(one.programs) for one in result.unexplained.values())
