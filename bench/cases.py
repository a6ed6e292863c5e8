"""Captures and minimizes the crashes of PyTorch in repro/: bytes of tensors before and after.

    ./slotfuzz bench cases [--rootfs DIR] [--runs N]

Each repro.py of the release that the interpreter has is a user's script. It is captured before a
line in its middle where tensors are in scope; if the failure needs what no capture keeps (a hook, a
storage, a thread), before the lines next to it. The case is minimized, and its script runs in new
processes, without any file beside it. On PyTorch 2, the two writers of bench/input_writers.py
write and read the tensors of the same case: a `yes` says that its lines still fail alike.
"""

import ast
import tempfile
from dataclasses import replace
from pathlib import Path

from slotfuzz import console, options
from slotfuzz.errors import UserError
from slotfuzz.finding import finding
from slotfuzz.inputs import capture, minimized, script
from slotfuzz.inputs.trial import Trial
from slotfuzz.measure import benchmark
from slotfuzz.measure.benchmark import Measured
from slotfuzz.paths import ROOT, shown
from slotfuzz.subject import interpreter

COLUMNS = ("finding", "failure", "line", "lines_before", "lines", "bytes_before", "bytes",
           "minimal", "runs", "seconds", "fresh", "input_writer", "minifier")
PEERS = ("dynamo", "functorch")
VERSION = "import torch; print(torch.__version__)"
RELEASE_PARTS = 2  # Debian's 1.13.1 says 1.13.0a0


def measure(args) -> Measured:
    """A row for each crash, at most --runs of them."""
    place = capture.place_of(args.python, options.tree(args))
    version = interpreter.ask(place.python, place.tree, VERSION, "cannot import torch").strip()
    release = ".".join(version.split(".")[:RELEASE_PARTS])
    folders = [path.parent for path in sorted(ROOT.glob(f"repro/torch-{release}.*/*/finding.json"))
               if finding.load(path.parent).kind.startswith("SIG")]
    rows, other = [], []
    with Trial(place) as trial:
        for folder in folders:
            if args.runs and len(rows) == args.runs:
                break
            row, why = _of_finding(folder, place, trial)
            console.say(f"{shown(folder)}: {why or row['bytes']}")
            if row:
                rows.append(row)
            else:
                other.append(f"{folder.name}: {why}")
    fell = [row for row in rows if row["bytes"] <= 0.1 * row["bytes_before"] or row["minimal"]]
    fresh = [row for row in rows if row["fresh"] == minimized.FRESH_RUNS]
    peers = ", ".join(f"{name} repeats {sum(row[name] == 'yes' for row in rows)}"
                      for name in COLUMNS[-len(PEERS):])
    sentences = [f"torch {version}: {len(rows)} of {len(rows) + len(other)} crashes repeat from a"
                 f" capture; {len(fresh)} of them in all {minimized.FRESH_RUNS} new processes; of"
                 f" {len(fell)} the bytes fell by 90 % or are minimal; {peers}", *other]
    summary = {"torch": version, "tried": len(rows) + len(other), "cases": len(rows),
               "fresh": len(fresh), "small": len(fell), "others": other}
    return Measured(rows or [dict.fromkeys(COLUMNS, "")], sentences, summary)


def _of_finding(folder: Path, place, trial: Trial) -> tuple[dict | None, str]:
    """The row of a finding; None and the reason if no line of it can be captured and repeated."""
    path = folder / "repro.py"
    failure = minimized.fresh_failure(path, place)
    if failure is None:
        return None, "the script does not fail here"
    why = "it has one line"
    for line in _lines(path.read_text()):
        with tempfile.TemporaryDirectory(prefix="slotfuzz-") as scratch:
            try:
                case = capture.capture(path, line, place, _made(scratch, "case"))
                result, found = minimized.reduce(case, trial)
            except UserError as error:
                why = str(error).partition("; nothing is")[0].replace(f"{path}", "repro.py")
                continue
            if found != failure:
                why = f"{found.text} instead of {failure.text}"
                continue
            written = minimized.write(_made(scratch, "small"), case, place, result, found)
        small = result.case
        return dict(zip(COLUMNS, (
            folder.name, found.what, line, len(case.lines), len(small.lines), case.bytes,
            small.bytes, result.one_minimal, result.runs, round(result.seconds, 1),
            written.failed, *_peers(case, failure, trial)))), ""
    return None, why


def _peers(case, failure, trial) -> list[str]:
    """Whether CASE fails alike after each peer has written and read its tensors."""
    functions = benchmark.load("input_writers").PEERS
    names = list(case.capture.names)
    answers = []
    for peer in PEERS:
        passed = (f"globals().update(zip({names}, {peer}({{name: globals()[name] for name in"
                  f" {names}}}, {{'torch': torch}})))")
        lines = (*script.statements(f"{functions}\n{passed}"), *case.lines)
        answers.append("yes" if trial.failure(replace(case, lines=lines)) == failure else "no")
    return answers


def _made(scratch: str, name: str) -> Path:
    folder = Path(scratch) / name
    folder.mkdir()
    return folder


def _lines(source: str) -> list[int]:
    """Where a line of the program begins, apart from the first one: the middle first."""
    body = ast.parse(source).body
    check = max((at for at, node in enumerate(body) if isinstance(node, ast.If)
                 and "--check" in ast.unparse(node.test)), default=-1)
    begins = [script.first_line(node) for node in body[check + 1:]
              if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom))]
    middle = len(begins) / 2
    return sorted(begins[1:], key=lambda line: abs(begins.index(line) - middle))


def plot(measured: Measured, axes) -> None:
    """Bytes before and after, a dot for each crash."""
    axes.scatter([row["bytes_before"] for row in measured.rows],
                 [row["bytes"] for row in measured.rows], s=14)
    axes.set_xlabel("bytes before")
    axes.set_ylabel("bytes")
