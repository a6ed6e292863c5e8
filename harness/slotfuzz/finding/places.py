"""Source places of a finding: lines of the core from report and record, and its script's line.

All places come from the finding's folder, so that a report needs no access to the hunt's machine.
The record has those of the trace, and report.txt those of a sanitizer.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.evidence.report import Report
from slotfuzz.evidence.signature import HANGING
from slotfuzz.finding import finding
from slotfuzz.paths import ROOT
from slotfuzz.schema.record import Finding, Passed
from slotfuzz.schema.trace import Event

IN_CORE = re.compile(r"^(?:.*?/)?(core/[\w./-]+):(\d+)")
# More than the longest list that a page or a log shows.
PASSED_MAX = 50
# Folders into which a gate moves findings that do not count, with the reason.
OLD_FOLDER, UNCOMPARED_FOLDER = "old", "uncompared"
ASIDE = {OLD_FOLDER: "It reproduces on the base.",
         UNCOMPARED_FOLDER: "The gate ended before it was compared with the base."}


@dataclass(frozen=True)
class Place:
    """LINE (from 1) of FILE, a path from the checkout's root or absolute; WHAT happens there."""

    file: str
    line: int
    what: str


@dataclass(frozen=True)
class Found:
    """A finding with its places: in CORE the failure, then earlier events; and in its SCRIPT.

    RECORD is None if it cannot be read. PROGRAM has the script's program lines, without its frame.
    """

    folder: Path
    record: Finding | None
    title: str
    program: tuple[str, ...]
    report: str
    core: tuple[Place, ...]
    script: Place | None

    @property
    def is_old(self) -> bool:
        """Whether a gate has reproduced it on the base."""
        return self.folder.parent.name == OLD_FOLDER

    @property
    def aside(self) -> str:
        """The reason why a gate does not count it, or an empty string."""
        return ASIDE.get(self.folder.parent.name, "")

    @property
    def first(self) -> Place | None:
        """The most important place, for output that shows a single one."""
        return next(iter(self.core), self.script)


def read(folder: Path) -> Found:
    """The finding in FOLDER."""
    record = finding.read(folder)
    report = _text(folder / "report.txt")
    title = (record.title or record.signature) if record else \
        "a finding whose finding.json cannot be read"
    source = next((path for path in (folder / "repro.py", folder / "program.py") if path.exists()),
                  None)
    script = _text(source) if source else ""
    program = script.rstrip().rpartition("\n\n")[2].splitlines()
    core = dict.fromkeys([*_failing(report, record), *_led_to(record)])
    line = _line_of(script, record, program)
    place = Place(str(source), line, "the program line that fails") if line else None
    return Found(folder, record, title, tuple(program), report, tuple(core), place)


def _failing(report: str, record: Finding | None) -> list[Place]:
    """The innermost line of the core in each stack that fails.

    These are both stacks of a race, that of each thread that hangs, or else the first.
    """
    parsed = Report(report)
    sides = parsed.stacks if record and record.kind in HANGING else parsed.sides
    found = []
    for stack in sides or parsed.stacks[:1]:
        inner = next(((name, match) for name, place in stack.frames
                      if (match := IN_CORE.match(place))), None)
        if inner:
            name, match = inner
            found.append(Place(match[1], int(match[2]), f"{name} fails here"))
    return found


def passed(events: list[Event]) -> tuple[Passed, ...]:
    """The last of EVENTS as a record has them."""
    found = [(event, match) for event in events if (match := IN_CORE.match(event.place))]
    return tuple(Passed(match[1], int(match[2]), event.name, event.line + 1)
                 for event, match in found[-PASSED_MAX:])


def _led_to(record: Finding | None) -> list[Place]:
    """The trace points in RECORD, last one first, because it is nearest to the failure."""
    return [Place(one.file, one.line, f"{one.event}, in line {one.program_line}")
            for one in reversed(record.passed if record else ())]


def _line_of(script: str, record: Finding | None, program: list[str]) -> int:
    """The number in SCRIPT of the line that fails, or of its last one if that fails at its end."""
    count = len(script.splitlines())
    if not record or record.failing_line is None:
        return count
    return min(count - len(program) + record.failing_line, count)


def from_workspace(file: str) -> str:
    """FILE relative to the root of the repository that CI has checked out, or unchanged."""
    path = Path(file) if Path(file).is_absolute() else ROOT / file
    root = Path(os.environ.get("GITHUB_WORKSPACE") or ROOT)
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
