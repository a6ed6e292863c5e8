"""The log of one run: `> line` echoes, the core's trace lines, and what a sanitizer wrote.

A trace line is `    file:line  event  name value  name value`, the event padded to a fixed width.
After a line the engine tells what its judge has in sight, one line for each impl; and it tells
when the judge begins to look at what the reset has left.
"""

import re
from dataclasses import dataclass

from slotfuzz.evidence import signature

TRACE_LINE = re.compile(r"^    (\S+:\d+)\s+(\S.*?)(?:\s{2,}(.*))?$")
ADDRESS = re.compile(r"0x[0-9a-f]+")
SIGHT_LINE = re.compile(r"^    in sight  impl (0x[0-9a-f]+)  wrapper (0x[0-9a-f]+)"
                        r"  references (\d+)(?:  owners (\d+))?  held by((?: \w+)*)"
                        r"  names((?: \w+)*)  weak((?: \w+)*)(?:  serial (\d+))?$")
JUDGED_LINE = "    the end is judged"
RESET = "# every name is dropped, then gc.collect()"
RAISED_LINE = re.compile(r"^    raised \w+$")
REGION = re.compile(r"is located (.*?) of (\d+)-byte region \[(0x[0-9a-f]+),(0x[0-9a-f]+)\)")
REPORT_START = re.compile(r"^(={10,}|==\d+==|.*runtime error: |WARNING: |Fatal Python error|"
                          r"slotfuzz: (?:crash|deadlock|hang): )")


@dataclass(frozen=True)
class Event:
    """One trace point that was passed, during program line LINE (0-based, -1 before the first)."""

    line: int
    place: str
    event: str
    fields: str
    text: str

    @property
    def addresses(self) -> list[int]:
        """The addresses in the fields, in order."""
        return [int(word, 16) for word in ADDRESS.findall(self.fields)]


@dataclass(frozen=True)
class Sight:
    """What the judge saw of one impl after program line LINE.

    REFERENCES are Python's to its wrapper, OWNERS its use count or None. HOLDERS are the variables
    that hold it in C++, NAMES those that are its wrapper, WEAK those that refer to that weakly.
    SERIAL is its number in the list of finalized objects, or None.
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
    """Program LINES as they ran (one more for the reset), EVENTS of the core, a REPORT, SIGHTS.

    JUDGED is how many of the events were before the judge looked at the end, or None.
    """

    lines: list[str]
    events: list[Event]
    report: str
    sights: list[Sight]
    judged: int | None

    def texts(self, reply: dict) -> list[str]:
        """The lines of REPLY's program up to its finding; one more for the reset, if that is it."""
        texts = self.lines or [line["text"] for line in reply["lines"]]
        if len(texts) <= len(reply["lines"]) <= reply["line"]:
            texts = [*texts, RESET]
        return texts[:reply["line"] + 1]


@dataclass(frozen=True)
class Stack:
    """One stack of a report: the frames that are not plumbing, as (function, place)."""

    title: str
    frames: list[tuple[str, str]]


def parse(stderr: str) -> Log:
    """Splits what a traced child wrote."""
    lines, events, rest, sights, judged = [], [], [], [], None
    for text in stderr.splitlines():
        if rest or REPORT_START.match(text):
            rest.append(text)
        elif text.startswith("> "):
            lines.append(text[2:])
        elif RAISED_LINE.match(text):
            continue  # the reply says so as well
        elif text == JUDGED_LINE:
            judged = len(events)
        elif (match := SIGHT_LINE.match(text)):
            sights.append(_sight(len(lines) - 1, match))
        elif (match := TRACE_LINE.match(text)):
            events.append(Event(len(lines) - 1, match[1], match[2], match[3] or "", text))
    return Log(lines, events, "\n".join(rest), sights, judged)


def _sight(line: int, match: re.Match) -> Sight:
    impl, wrapper, references, owners, *words, serial = match.groups()
    holders, names, weak = (tuple(one.split()) for one in words)
    return Sight(line, int(impl, 16), int(wrapper, 16), int(references),
                 int(owners) if owners else None, holders, names, weak,
                 int(serial) if serial else None)


def region(report: str) -> tuple[int, int] | None:
    """Begin and end of the heap block that AddressSanitizer names."""
    match = REGION.search(report)
    return (int(match[3], 16), int(match[4], 16)) if match else None


def object_in(log: Log) -> int | None:
    """The traced object inside the block of the report: CPython puts a head before an object."""
    block = region(log.report)
    if block is None:
        return None
    for event in log.events:
        for address in event.addresses:
            if block[0] <= address < block[1]:
                return address
    return None


def stacks(report: str) -> list[Stack]:
    """The stacks of a sanitizer report: the access, `freed by`, `previously allocated by`."""
    found, title, frames, open_stack = [], "", [], False
    for line in [*report.splitlines(), ""]:
        match = signature.FRAME.match(line)
        if match:
            open_stack = True
            name = signature.function_name(match[2])
            if not signature.is_plumbing(name, match[3]):
                frames.append((name, match[3]))
        elif open_stack:
            found.append(Stack(title, frames))
            frames, open_stack = [], False
        if not match and line.strip():
            title = line.strip()
    return found


def stack_called(report: str, words: str) -> Stack | None:
    """The first stack whose title contains WORDS."""
    return next((stack for stack in stacks(report) if words in stack.title), None)
