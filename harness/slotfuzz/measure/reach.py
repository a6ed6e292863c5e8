"""Counts how often the patched lines of a mutant run, and for which ops.

If no hunt finds a mutant, then no program reaches its code, or no oracle notices it. These problems
have different remedies. The coverage build of the mutant counts.
"""

import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.engine.server import Server
from slotfuzz.errors import BrokenError
from slotfuzz.measure import coverage
from slotfuzz.paths import ROOT
from slotfuzz.subject import build
from slotfuzz.subject.subjects import core

# Each line of a program writes a profile, which takes some milliseconds.
PROGRAMS_MAX = 100
OPS_SHOWN = 6
HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
TARGET_FILE = re.compile(r"^\+\+\+ b/(\S+)")


@dataclass(frozen=True)
class Reach:
    """How often the patched lines ran in PROGRAMS programs: COUNTS by op, largest first."""

    programs: int
    counts: dict[str, int]

    def words(self) -> str:
        """One line for a person."""
        if not self.programs:
            return "its hunt kept no program"
        where = f"in {self.programs} programs of its hunt"
        if not self.counts:
            return f"its patched lines never ran {where}"
        shown = [f"{op} {count:,}" for op, count in self.counts.items()]
        more = f" and {len(shown) - OPS_SHOWN} more ops" if len(shown) > OPS_SHOWN else ""
        return (f"its patched lines ran {sum(self.counts.values()):,} times {where}:"
                f" {', '.join(shown[:OPS_SHOWN])}{more}")


def patched_lines(patch: str) -> dict[str, set[int]]:
    """By file, the numbers of lines that PATCH adds, or the line after lines that it removes."""
    found: dict[str, set[int]] = {}
    number, lines, removed = 0, set(), False
    for text in patch.splitlines():
        if match := TARGET_FILE.match(text):
            lines = found.setdefault(match[1], set())
        elif match := HUNK.match(text):
            number, removed = int(match[1]), False
        elif text.startswith("+") and number:
            lines.add(number)
            number, removed = number + 1, False
        elif text.startswith("-") and number:
            removed = True
        elif number:
            if removed:
                lines.add(number)
            number, removed = number + 1, False
    return found


def of_mutant(name: str, target: str, programs: Iterable[str]) -> Reach:
    """Builds mutant NAME for coverage and runs PROGRAMS on TARGET, up to PROGRAMS_MAX of them."""
    folder = build.build_mutant(coverage.PRESET, name, [target])
    chosen = core.of_folder(f"mutant:{name}", "none", coverage.PRESET, folder)
    texts = _some(list(programs))
    patched = patched_lines((ROOT / "mutants" / f"{name}.patch").read_text())
    with tempfile.TemporaryDirectory(prefix="slotfuzz-") as profiles:
        with Server(chosen, target, extra={"LLVM_PROFILE_FILE": f"{profiles}/.start"}) as server:
            server.profile(texts, profiles)
        written = sorted(Path(profiles).glob("*.profraw"))
        if texts and not written:
            raise BrokenError(f"the build of {name} for coverage has written no profile")
        counts = {}
        for profile in written:
            op = profile.name.rpartition("-")[0]
            counts[op] = counts.get(op, 0) + _count(folder / "targets" / target, profile, patched)
    often = sorted(counts.items(), key=lambda entry: -entry[1])
    return Reach(len(texts), {op: count for op, count in often if count})


def _some(texts: list[str]) -> list[str]:
    """PROGRAMS_MAX of TEXTS, at equal distances."""
    if len(texts) <= PROGRAMS_MAX:
        return texts
    return [texts[i * len(texts) // PROGRAMS_MAX] for i in range(PROGRAMS_MAX)]


def _count(binary: Path, profile: Path, patched: dict[str, set[int]]) -> int:
    """The largest count of a patched line in one PROFILE of BINARY."""
    merged = profile.with_suffix(".profdata")
    coverage.tool("llvm-profdata", "merge", "--sparse", profile, "-o", merged)
    lcov = coverage.tool("llvm-cov", "export", "-format=lcov", "-skip-functions", binary,
                         f"-instr-profile={merged}")
    return max(counts_of(lcov, patched), default=0)


def counts_of(lcov: str, patched: dict[str, set[int]]) -> list[int]:
    """The count of each PATCHED line that has code, from llvm-cov's output LCOV."""
    counts, lines = [], set()
    for text in lcov.splitlines():
        kind, _, rest = text.partition(":")
        if kind == "SF":
            lines = next((numbers for name, numbers in patched.items()
                          if rest == name or rest.endswith(f"/{name}")), set())
        elif kind == "DA":
            number, _, count = rest.partition(",")
            if int(number) in lines:
                counts.append(int(count.partition(",")[0]))
    return counts
