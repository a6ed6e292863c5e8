"""The log of one run: `> line` echoes, the core's trace lines, and a sanitizer's report.

A trace line is `    file:line  event  name value  name value`, the event padded to a fixed width.
After a program line the engine prints the judge's observations, one line for each impl. It also
prints a line when the judge begins to check what the reset has left.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from slotfuzz.schema import events

TRACE_LINE = re.compile(r"^    (\S+:\d+)\s+(\S.*?)(?:\s{2,}(.*))?$")
# A name may contain a blank, as `slot of` does.
ADDRESS_FIELD = re.compile(r"(?:^|  )([a-z][a-z ]*) (0x[0-9a-f]+)")
BYTES_FIELD = re.compile(r"\bbytes (\d+)")
TYPE_FIELD = re.compile(r"\btype (?:\w+\.)*(\w+)")
LINK_FIELD = re.compile(r"(?:^|  )link (.+)$")
OBSERVED_LINE = re.compile(r"^    observed  impl (0x[0-9a-f]+)  wrapper (0x[0-9a-f]+)"
                        r"  references (\d+)(?:  owners (\d+))?  held by((?: \w+)*)"
                        r"  names((?: \w+)*)  weak((?: \w+)*)(?:  serial (\d+))?$")
JUDGED_LINE = "    the end is judged"
RESET = "# every name is dropped, then gc.collect()"
WHATS = {event.value: event for event in events.Event}
# What faulthandler prints of the thread that crashed. A file may be the text of a call.
PYTHON_STACK = re.compile(
    r"^Current thread .*\(most recent call first\):\n((?:  File .*(?:\n|$))+)", re.MULTILINE)
PYTHON_FRAME = re.compile(r'^  File "(.*)", line \d+ in (.+)$', re.MULTILINE)
RAISED_LINE = re.compile(r"^    raised \w+$")
REPORT_START = re.compile(r"^(={10,}|==\d+==|.*runtime error: |WARNING: |Fatal Python error|"
                          r"slotfuzz: (?:crash|deadlock|hang): )")


@dataclass(frozen=True)
class Event:
    """One pass of a trace point, during program line LINE (0-based, -1 before the first).

    WHAT is `None` for an event that this release of the core does not have.
    """

    line: int
    place: str
    what: events.Event | None
    name: str
    fields: str
    text: str

    @property
    def addresses(self) -> list[int]:
        """The addresses in the fields, in order."""
        return list(self.at.values())

    @cached_property
    def at(self) -> dict[str, int]:
        """The addresses in the fields by name."""
        return {name: int(word, 16) for name, word in ADDRESS_FIELD.findall(self.fields)}

    @property
    def bytes(self) -> int | None:
        """The size in the fields."""
        match = BYTES_FIELD.search(self.fields)
        return int(match[1]) if match else None

    @property
    def type(self) -> str:
        """The type in the fields, or an empty string."""
        match = TYPE_FIELD.search(self.fields)
        return match[1] if match else ""

    @property
    def link(self) -> str:
        """The name of a reference in the fields, or an empty string."""
        match = LINK_FIELD.search(self.fields)
        return match[1] if match else ""

    @property
    def is_hermetic(self) -> bool:
        """Whether the fields say that the thread was in hermetic mode."""
        return events.HERMETIC_REMARK in self.fields


@dataclass(frozen=True)
class ObservedImpl:
    """The judge's observation of one impl after program line LINE.

    REFERENCES are Python's to its wrapper, OWNERS its use count or None. HOLDERS are the variables
    that hold it in C++, NAMES those that are its wrapper, WEAK those that refer weakly to the
    wrapper. SERIAL is its number in the list of finalized objects, or None.
    """

    line: int
    impl: int
    wrapper: int
    references: int
    owners: int | None
    holders: tuple[str, ...]
    names: tuple[str, ...]
    weak: tuple[str, ...]
    serial: int | None


@dataclass(frozen=True)
class Log:
    """Program LINES as they ran (one more for the reset), EVENTS of the core, a REPORT,
    and the impls that the judge OBSERVED.

    JUDGED is the number of events before the judge's check at the end, or None. PYTHON is the stack
    of the thread that crashed, innermost first: (file, function).
    """

    lines: list[str]
    events: list[Event]
    report: str
    observed: list[ObservedImpl]
    judged: int | None
    python: tuple[tuple[str, str], ...]


def parse(stderr: str) -> Log:
    """Splits the output of a traced child."""
    lines, passed, rest, observed, judged = [], [], [], [], None
    for text in stderr.splitlines():
        if rest or REPORT_START.match(text):
            rest.append(text)
        elif text.startswith("> "):
            lines.append(text[2:])
        elif RAISED_LINE.match(text):
            continue  # the reply has the same information
        elif text == JUDGED_LINE:
            judged = len(passed)
        elif (match := OBSERVED_LINE.match(text)):
            observed.append(_observed(len(lines) - 1, match))
        elif (match := TRACE_LINE.match(text)):
            passed.append(Event(len(lines) - 1, match[1], WHATS.get(match[2]), match[2],
                                match[3] or "", text))
    stack = PYTHON_STACK.search(stderr)
    python = tuple(PYTHON_FRAME.findall(stack[1])) if stack else ()
    return Log(lines, passed, "\n".join(rest), observed, judged, python)


def _observed(line: int, match: re.Match) -> ObservedImpl:
    impl, wrapper, references, owners, *words, serial = match.groups()
    holders, names, weak = (tuple(one.split()) for one in words)
    return ObservedImpl(line, int(impl, 16), int(wrapper, 16), int(references),
                 int(owners) if owners else None, holders, names, weak,
                 int(serial) if serial else None)
