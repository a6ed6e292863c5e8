"""Where the time of programs of 20 lines goes: the bare lines, the reset, the judge, the ledger.

    ./slotfuzz bench throughput

Writes docs/throughput.md. The core under AddressSanitizer and UBSan, and torch without a sanitizer
if it can be imported; the programs are what a target's generator draws.
harness/engine/serve/measure.h says how each part is measured.
"""

import json
import subprocess

from slotfuzz import console
from slotfuzz.errors import BrokenError, UserError
from slotfuzz.finding import finding
from slotfuzz.measure.benchmark import Measured, markdown_table
from slotfuzz.paths import ROOT
from slotfuzz.subject import subject

SUBJECTS = (("core", "address"), ("torch", "none"))
TARGETS = ("storage", "tensor")
# What a program needs to run; its text is only made when it is mutated.
RUN = ("lines", "reset", "judge", "ledger")
OPS_MAX = 8
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
            told = _ask(resolved, target)
            found = parts(told)
            title = f"{resolved.edition or name}, {sanitizer}, target {target}"
            rows += [{"subject": name, "sanitizer": sanitizer, "target": target, **row}
                     for row in found]
            rate, bare = rate_of(told, RUN), rate_of(told, RUN[:1])
            summary[f"{name} {target}"] = {
                "programs_per_second": round(rate), "ratio": round(rate / bare, 3)}
            sentences.append(f"{title}: {rate:,.0f} programs/s with reset and judge,"
                             f" {rate / bare:.2f} of the bare lines")
            sections += section(title, told)
    finding.write_file(DOCUMENT, document(sections))
    return Measured(rows, sentences, summary)


def plot(measured: Measured, axes) -> None:
    """Bars: microseconds of each part."""
    rows = [row for row in measured.rows[::-1] if row["part"] != "all"]
    axes.barh([f"{row['subject']} {row['target']} {row['part']}" for row in rows],
              [row["nanoseconds"] / 1000 for row in rows])
    axes.set_xlabel("microseconds of a program of 20 lines, one core")


def rate_of(told: dict, names: tuple[str, ...]) -> float:
    """Programs per second if they consisted of the parts NAMES."""
    return 1e9 / sum(told["parts"][name] for name in names)


def parts(told: dict) -> list[dict]:
    """Each part: nanoseconds, and their ratio to the bare lines; `all` is what a run takes."""
    times = {**told["parts"], "all": sum(told["parts"][name] for name in RUN)}
    return [{"part": name, "nanoseconds": round(times[name]),
             "ratio": round(times[name] / times["lines"], 3)}
            for name in (*RUN, "all", "text")]


def mix(told: dict) -> list[dict]:
    """Lines that raise, that collect, and the others: their shares of lines and time."""
    groups = {"raise": [], "collect": [], "others": []}
    for row in told["ops"]:
        kind = "raise" if row["raised"] else "collect" if row["collects"] else "others"
        groups[kind].append(row)
    lines = sum(row["lines"] for row in told["ops"])
    time = sum(row["nanoseconds"] for row in told["ops"])
    found = []
    for name, group in groups.items():
        count, spent = (sum(row[key] for row in group) for key in ("lines", "nanoseconds"))
        found.append({"lines that": name, "of lines": f"{count / lines:.1%}",
                      "of time": f"{spent / time:.1%}",
                      "ns each": round(spent / count) if count else ""})
    return found


def without_raising(told: dict) -> float:
    """Programs per second if each line that raises were as dear as the average of the others."""
    kept = [row for row in told["ops"] if not row["raised"]]
    mean = sum(row["nanoseconds"] for row in kept) / sum(row["lines"] for row in kept)
    rest = sum(told["parts"][name] for name in RUN[1:])
    return 1e9 / (mean * told["lines"] + rest)


def section(title: str, told: dict) -> list[str]:
    """What docs/throughput.md says of one subject and target."""
    dearest = sorted(told["ops"], key=lambda row: -row["nanoseconds"])[:OPS_MAX]
    time = sum(row["nanoseconds"] for row in told["ops"])
    ops = [[row["op"] + (", raises" if row["raised"] else ""), f"{row['nanoseconds'] / time:.1%}",
            round(row["nanoseconds"] / row["lines"])] for row in dearest]
    groups = mix(told)
    return [
        f"## {title}", "",
        f"{rate_of(told, RUN):,.0f} programs/s; the bare lines {rate_of(told, RUN[:1]):,.0f};"
        f" without lines that raise {without_raising(told):,.0f}.", "",
        *markdown_table(["part", "ns", "of bare lines"],
                        [list(row.values()) for row in parts(told)]), "",
        *markdown_table(list(groups[0]), [list(row.values()) for row in groups]), "",
        *markdown_table(["dearest ops", "of time", "ns each"], ops), ""]


def document(sections: list[str]) -> str:
    """The text of docs/throughput.md."""
    return "\n".join([
        "# Where the time goes", "",
        "Made by `./slotfuzz bench throughput`: programs of 20 lines, as each target's generator",
        "draws them, without those that find a bug, that leave a cycle through C++ behind, or that",
        "have lanes. Nanoseconds are of one machine; ratios say more. `all` is what a run takes;",
        "`text` is parsing it, and parsing, mutating and printing it once. libFuzzer's own work is",
        "not in it.", "", *sections])


def _ask(resolved: subject.Subject, target: str) -> dict:
    result = subprocess.run(resolved.command(target, "--measure"), capture_output=True, text=True,
                            check=False, env=resolved.environment())
    try:
        return json.loads(result.stdout)
    except ValueError as error:
        tail = (result.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise BrokenError(f"--measure ended with {result.returncode}: {tail}") from error
