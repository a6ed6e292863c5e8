"""The two preservation protocols side by side: nanoseconds of a wrapper's steps, and sentences of
the contract that hold.

    ./slotfuzz bench preservation

Writes docs/preservation.md. bench/native/preservation.cc says what each step is. The two binaries
run in turn, and the best run of a step counts, so that a slow moment of the machine changes no
ratio. A sentence holds if the tests of tests/core that name its number pass under address.
"""

import json
import re
import subprocess
import tempfile
import xml.etree.ElementTree
from pathlib import Path

from slotfuzz.errors import BrokenError
from slotfuzz.finding import finding
from slotfuzz.measure.benchmark import Measured, markdown_table
from slotfuzz.paths import ROOT
from slotfuzz.subject import build
from slotfuzz.subject.subjects.core import PROTOCOL_WORDS

TURNS = 5
SECONDS_EACH = 0.2
BINARIES = {"refcount_bit": "bench/preservation", "resurrection": "resurrect/bench/preservation"}
SUBJECTS = {word: name for name, word in PROTOCOL_WORDS.items()}
DOCUMENT = ROOT / "docs" / "preservation.md"
TEST = re.compile(r"^def (test_\w+)\(.*\):  # (.*)$", re.MULTILINE)
CONTRACT = re.compile(r"\b[A-Z]\d+[a-g]?\b")


def measure(args) -> Measured:
    """One row per step, then one per sentence of the contract."""
    steps = _steps()
    sentences = _sentences()
    finding.write_file(DOCUMENT, document(steps, sentences))
    said = [f"{row['name']}: refcount-bit takes {row['ratio']:.2f} of resurrection's time"
            for row in steps]
    broken = {name: [row["name"] for row in sentences if _is_broken(row[name])]
              for name in SUBJECTS}
    said += [f"{name}: {len(sentences) - len(broken[name])} of {len(sentences)} sentences hold in"
             f" every test{', but for ' + ', '.join(broken[name]) if broken[name] else ''}"
             for name in SUBJECTS]
    return Measured(steps + sentences, said,
                    {"ratios": {row["name"]: row["ratio"] for row in steps}, "broken": broken})


def plot(measured: Measured, axes) -> None:
    """Bars: the ratio of each step."""
    rows = [row for row in measured.rows if row["table"] == "step"][::-1]
    axes.barh([row["name"] for row in rows], [row["ratio"] for row in rows])
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xlabel("time under refcount-bit / time under resurrection")


def document(steps: list[dict], sentences: list[dict]) -> str:
    """The text of docs/preservation.md."""
    head = ["refcount-bit", "resurrection"]
    return "\n".join([
        "# The two preservation protocols, side by side", "",
        "Made by `./slotfuzz bench preservation`. Nanoseconds are of one machine; compare ratios.",
        "", "## Cost", "",
        *markdown_table(["step", *(f"{name}, ns" for name in head), "ratio"],
                        [[row["name"], row["refcount_bit"], row["resurrection"], row["ratio"]]
                         for row in steps]), "",
        "## Sentences of the contract", "",
        "How many tests of `tests/core` that name the sentence pass, of those that ran. The",
        "failing ones are the exemption of resurrection in the contract: the collector finds the",
        "wrapper in a dead cycle while C++ owns the impl.", "",
        *markdown_table(["sentence", *head],
                        [[row["name"], row["refcount_bit"], row["resurrection"]]
                         for row in sentences]), ""])


def _row(table: str, name: str, ours, theirs, ratio="") -> dict:
    return {"table": table, "name": name, "refcount_bit": ours, "resurrection": theirs,
            "ratio": ratio}


def _steps() -> list[dict]:
    folder = build.build("plain", ["bench-preservation", "bench-preservation-resurrect"])
    best = {}
    for _ in range(TURNS):
        for protocol, binary in BINARIES.items():
            for step, nanoseconds in _run(folder / binary):
                key = step, protocol
                best[key] = min(nanoseconds, best.get(key, nanoseconds))
    rows = []
    for step in dict.fromkeys(step for step, _ in best):
        ours, theirs = best[step, "refcount_bit"], best[step, "resurrection"]
        rows.append(_row("step", step, round(ours, 1), round(theirs, 1), round(ours / theirs, 2)))
    return rows


def _run(binary) -> list[tuple[str, float]]:
    command = [binary, "--benchmark_format=json", f"--benchmark_min_time={SECONDS_EACH}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        tail = (result.stderr.strip().splitlines() or ["no output"])[-1]
        raise BrokenError(f"{binary} ended with {result.returncode}: {tail}")
    return [(row["name"], row["cpu_time"]) for row in json.loads(result.stdout)["benchmarks"]]


def _sentences() -> list[dict]:
    """`passed of ran` for each sentence and protocol."""
    numbers = {}
    for path in (ROOT / "tests" / "core").rglob("test_*.py"):
        for name, comment in TEST.findall(path.read_text()):
            numbers[path.stem, name] = CONTRACT.findall(comment)
    counts = {}
    for protocol, subject in SUBJECTS.items():
        for case in _cases(subject):
            key = case.get("classname").rpartition(".")[2], case.get("name").partition("[")[0]
            outcome = "passed" if len(case) == 0 else case[0].get("type", "")
            if outcome == "pytest.skip":
                continue
            for number in numbers.get(key, []):
                passed, ran = counts.setdefault(number, {}).setdefault(protocol, (0, 0))
                counts[number][protocol] = passed + (outcome == "passed"), ran + 1
    return [_row("sentence", number, *("{} of {}".format(*counts[number][name])
                                       for name in SUBJECTS))
            for number in sorted(counts)]


def _cases(subject: str) -> list:
    with tempfile.TemporaryDirectory(prefix="slotfuzz-") as scratch:
        report = Path(scratch, "report.xml")
        command = [ROOT / "slotfuzz", "python", "--subject", subject, "-m", "pytest", "-q", "-p",
                   "no:cacheprovider", f"--junit-xml={report}", "tests/core"]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if result.returncode not in (0, 1) or not report.exists():
            raise BrokenError(f"tests/core did not run on {subject}: {result.stdout[-300:]}")
        return xml.etree.ElementTree.parse(report).findall(".//testcase")


def _is_broken(cell: str) -> bool:
    passed, _, ran = cell.split()
    return passed != ran
