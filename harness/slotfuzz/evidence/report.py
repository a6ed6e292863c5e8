"""A report by a sanitizer, the crash handler or the watchdog: its stacks and its heap block."""

import re
from dataclasses import dataclass
from functools import cached_property

from slotfuzz.evidence import signature
from slotfuzz.schema import trace

REGION = re.compile(r"is located (.*?) of (\d+)-byte region \[(0x[0-9a-f]+),(0x[0-9a-f]+)\)")
# The first words of the two stacks that AddressSanitizer prints for a block.
FREED, ALLOCATED = "freed by", "allocated by"


@dataclass(frozen=True)
class Stack:
    """One stack of a report: its frames as (function, place), without plumbing."""

    title: str
    frames: list[tuple[str, str]]


@dataclass(frozen=True)
class Report:
    """The TEXT of a report; each property parses it once."""

    text: str

    @cached_property
    def block(self) -> tuple[int, int] | None:
        """Begin and end of the heap block that AddressSanitizer names."""
        match = REGION.search(self.text)
        return (int(match[3], 16), int(match[4], 16)) if match else None

    @cached_property
    def stacks(self) -> list[Stack]:
        """All stacks: the access, `freed by`, `previously allocated by`, or one for each thread."""
        found, title, frames, open_stack = [], "", [], False
        for line in [*self.text.splitlines(), ""]:
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

    @property
    def access(self) -> Stack | None:
        """The stack of the failing access."""
        return next(iter(self.stacks), None)

    @property
    def freed(self) -> Stack | None:
        """The stack that freed the block."""
        return self._titled(FREED)

    @property
    def allocated(self) -> Stack | None:
        """The stack that allocated the block."""
        return self._titled(ALLOCATED)

    @property
    def sides(self) -> list[Stack]:
        """The two stacks of a data race or a lock inversion."""
        return [one for one in self.stacks if signature.THREAD_SIDE.search(one.title)]

    def object_of(self, events: list[trace.Event]) -> int | None:
        """The traced object inside the block: CPython puts a header before an object."""
        if self.block is None:
            return None
        begin, end = self.block
        return next((address for event in events for address in event.addresses
                     if begin <= address < end), None)

    def _titled(self, words: str) -> Stack | None:
        return next((stack for stack in self.stacks if words in stack.title), None)
