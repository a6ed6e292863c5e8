"""The time of programs of 20 lines by part: the bare lines, the reset, the judge, the ledger.

    ./slotfuzz bench throughput

Writes docs/throughput.md. It measures the core under AddressSanitizer and UBSan, and torch without
a sanitizer if it can be imported. The target's generator draws the programs.
harness/engine/session/measure.h describes how each part is measured.
"""

import json
import subprocess

from slotfuzz import console
from slotfuzz.errors import BrokenError, UserError
from slotfuzz.finding import finding
from slotfuzz.measure import benchmark
from slotfuzz.measure.benchmark import Measured, markdown_table
from slotfuzz.paths import ROOT
from slotfuzz.subject import subject

SUBJECTS = (("core", "address"), ("torch", "none"))
TARGETS = ("storage", "tensor")
# The parts of a run; the text of a program is only made when it is mutated.
RUN = ("lines", "reset", "judge", "ledger")
OPS_MAX = 8
# Benchmarks that write a section of the document.
OTHERS = ("function_calls",)
DOCUMENT = ROOT / "docs" / "throughput.md"


def measure(args) -> Measured:
    """One row per subject, target and part."""
    rows, sentences, summary, sections = [], [], {}, []
    for name, sanitizer in SUBJECTS:
        try:
            resolved = subject.resolve(name, sanitizer, list(TARGETS), with_python=False)
        except UserError as error:
            console.say(f"without {name}: {error}")
            continue
        for target in TARGETS:
            reply = _ask(resolved, target)
            found = parts(reply)
            title = f"{resolved.edition or name}, {sanitizer}, target {target}"
            rows += [{"subject": name, "sanitizer": sanitizer, "target": target, **row}
                     for row in found]
            rate, bare = rate_of(reply, RUN), rate_of(reply, RUN[:1])
            summary[f"{name} {target}"] = {
                "programs_per_second": round(rate), "ratio": round(rate / bare, 3)}
            sentences.append(f"{title}: {rate:,.0f} programs/s with reset and judge,"
                             f" {rate / bare:.2f} of the bare lines")
            sections += section(title, reply)
    finding.write_file(DOCUMENT, with_others(document(sections), DOCUMENT.read_text()))
    return Measured(rows, sentences, summary)


def plot(measured: Measured, axes) -> None:
    """Bars: microseconds of each part."""
    rows = [row for row in measured.rows[::-1] if row["part"] != "all"]
    axes.barh([f"{row['subject']} {row['target']} {row['part']}" for row in rows],
              [row["nanoseconds"] / 1000 for row in rows])
    axes.set_xlabel("microseconds of a program of 20 lines, one core")


def rate_of(reply: dict, names: tuple[str, ...]) -> float:
    """Programs per second if they consisted of the parts NAMES."""
    return 1e9 / sum(reply["parts"][name] for name in names)


def parts(reply: dict) -> list[dict]:
    """Each part: nanoseconds, and their ratio to the bare lines; `all` is a whole run."""
    times = {**reply["parts"], "all": sum(reply["parts"][name] for name in RUN)}
    return [{"part": name, "nanoseconds": round(times[name]),
             "ratio": round(times[name] / times["lines"], 3)}
            for name in (*RUN, "all", "text")]


def mix(reply: dict) -> list[dict]:
    """Lines that raise, that collect, and the others: their shares of lines and time."""
    groups = {"raise": [], "collect": [], "others": []}
    for row in reply["ops"]:
        kind = "raise" if row["raised"] else "collect" if row["collects"] else "others"
        groups[kind].append(row)
    lines = sum(row["lines"] for row in reply["ops"])
    time = sum(row["nanoseconds"] for row in reply["ops"])
    found = []
    for name, group in groups.items():
        count, spent = (sum(row[key] for row in group) for key in ("lines", "nanoseconds"))
        found.append({"lines that": name, "of lines": f"{count / lines:.1%}",
                      "of time": f"{spent / time:.1%}",
                      "ns each": round(spent / count) if count else ""})
    return found


def without_raising(reply: dict) -> float:
    """Programs per second if a line that raises cost as much as the average of the others."""
    kept = [row for row in reply["ops"] if not row["raised"]]
    mean = sum(row["nanoseconds"] for row in kept) / sum(row["lines"] for row in kept)
    rest = sum(reply["parts"][name] for name in RUN[1:])
    return 1e9 / (mean * reply["lines"] + rest)


def section(title: str, reply: dict) -> list[str]:
    """The section of docs/throughput.md for one subject and target."""
    slowest = sorted(reply["ops"], key=lambda row: -row["nanoseconds"])[:OPS_MAX]
    time = sum(row["nanoseconds"] for row in reply["ops"])
    ops = [[f"`{row['op']}`" + (", raises" if row["raised"] else ""),
            f"{row['nanoseconds'] / time:.1%}", round(row["nanoseconds"] / row["lines"])]
           for row in slowest]
    groups = mix(reply)
    return [
        f"## {title}", "",
        f"{rate_of(reply, RUN):,.0f} programs/s; the bare lines {rate_of(reply, RUN[:1]):,.0f};"
        f" without lines that raise {without_raising(reply):,.0f}.", "",
        *markdown_table(["part", "ns", "of bare lines"],
                        [list(row.values()) for row in parts(reply)]), "",
        *markdown_table(list(groups[0]), [list(row.values()) for row in groups]), "",
        *markdown_table(["slowest ops", "of time", "ns each"], ops), ""]


def document(sections: list[str]) -> str:
    """The text of docs/throughput.md."""
    return "\n".join([
        "# Where the time goes", "",
        "Made by `./slotfuzz bench throughput`: programs of 20 lines that each target's generator",
        "draws, except programs that find a bug, that leave a cycle through C++ behind, or that",
        "have lanes. Nanoseconds are of one machine; compare ratios. `all` is a whole run; `text`",
        "is parsing it, and parsing, mutating and printing it once. libFuzzer's own work is not",
        "included.", "", *sections])


def with_others(text: str, former: str) -> str:
    """The document TEXT with the sections of other benchmarks in its FORMER text."""
    for name in OTHERS:
        title = benchmark.load(name).TITLE
        if kept := benchmark.sections(former).get(title):
            text = benchmark.with_section(text, title, kept)
    return text


def _ask(resolved: subject.Subject, target: str) -> dict:
    result = subprocess.run(resolved.command(target, "--measure"), capture_output=True, text=True,
                            check=False, env=resolved.environment())
    try:
        return json.loads(result.stdout)
    except ValueError as error:
        tail = (result.stderr.strip().splitlines() or ["no output"])[-1]
        raise BrokenError(f"--measure ended with {result.returncode}: {tail}") from error
