"""What a target binary answers to each request of its fork server (`--serve`), as values.

These classes are the schema of the protocol: `shape.py` reads their fields. The tests hold every
answer of the real engine and of the drivers' fake one to them; a hunt does not pay for that.
"""

from dataclasses import dataclass
from functools import cached_property

from slotfuzz.schema import trace

# The kinds of findings of which the judge speaks, or an exception; all others end the process.
JUDGE_KINDS = ("assert", "exception")


@dataclass(frozen=True)
class ProgramLine:
    """A line of a program: its TEXT, the OP with its OPERANDS as words, and its LANE.

    BARE is the text without the lane, BINDS are the variables that it gives a value.
    """

    text: str
    bare: str
    op: str
    operands: tuple[str, ...]
    lane: int
    binds: tuple[str, ...]


@dataclass(frozen=True)
class RanLine(ProgramLine):
    """A line that a run has taken, with the exception type that it RAISED, or an empty string."""

    raised: str


@dataclass(frozen=True)
class DroppedLine:
    """A line of the text that no run takes: its number from 1, and WHY.

    "no op" matches it, it is one "too many", or the subject or target lacks its op: "masked".
    """

    line: int
    text: str
    why: str


@dataclass(frozen=True)
class Parsed:
    """The answer to `parse`: the LINES that are instances of an op.

    DROPPED counts all others, and DROPPED_COUNT those that DROPPED_LINES begins to list: blank
    lines, comments, and what a script has around its program are not among them.
    """

    lines: tuple[ProgramLine, ...]
    dropped: int
    dropped_lines: tuple[DroppedLine, ...]
    dropped_count: int


@dataclass(frozen=True)
class Reply:
    """The answer to `run`: what came of one program.

    OUTCOME is "clean" or "finding". KIND says of a finding how it ended: "assert" or "exception" by
    the judge, with the CONTRACT number, the CHECK, the kind of impl that it is about in OBJECT, its
    MESSAGE, and the ASSERTS that show it; "signal", "exit", "deadlock", "hang" or "timeout" for a
    process that ended. LINE is the first line that did not end well, or the number of lines. RESET
    has the lines that show what the reset was about to do when it crashed. STDERR is the log.
    """

    outcome: str
    kind: str
    contract: str
    check: str
    object: str
    message: str
    asserts: tuple[str, ...]
    line: int
    signal: int
    exit: int
    lines: tuple[RanLine, ...]
    dropped: int
    dropped_lines: tuple[DroppedLine, ...]
    dropped_count: int
    stderr: str
    reset: tuple[str, ...] = ()

    @property
    def is_finding(self) -> bool:
        """Whether something broke."""
        return self.outcome == "finding"

    @property
    def is_of_judge(self) -> bool:
        """Whether the judge speaks; else the process ended."""
        return self.kind in JUDGE_KINDS

    @property
    def is_at_end(self) -> bool:
        """Whether LINE is behind the last line."""
        return self.line >= len(self.lines)

    @cached_property
    def log(self) -> trace.Log:
        """STDERR as a value; parsed once."""
        return trace.parse(self.stderr)

    @cached_property
    def texts(self) -> list[str]:
        """The lines up to the finding, as they ran; one more for the reset, if that is it."""
        texts = self.log.lines or [line.text for line in self.lines]
        if len(texts) <= len(self.lines) <= self.line:
            texts = [*texts, trace.RESET]
        return texts[:self.line + 1]


@dataclass(frozen=True)
class State:
    """Of one program of `states`: the hash of the STATE that it led to, where there is one.

    CRASHED says that it ended the process, RAN that its last line was over.
    """

    outcome: str
    crashed: bool
    ran: bool
    state: str | None

    @property
    def is_finding(self) -> bool:
        """Whether something broke."""
        return self.outcome == "finding"


@dataclass(frozen=True)
class States:
    """The answer to `states`, up to the first finding."""

    programs: tuple[State, ...]


@dataclass(frozen=True)
class Observed:
    """Of one program of `facts`: the HASH of its TRACE, and that itself where it was asked for.

    LINE is the line that runs last.
    """

    crashed: bool
    line: int
    hash: str | None
    trace: tuple[str, ...] = ()


@dataclass(frozen=True)
class Observations:
    """The answer to `facts`."""

    programs: tuple[Observed, ...]


@dataclass(frozen=True)
class Programs:
    """The answer to `extend` and `generate`: texts."""

    programs: tuple[str, ...]


@dataclass(frozen=True)
class Profiled:
    """The answer to `profile`: how many programs ended their process."""

    died: int


# What answers a request that has the word.
OF_REQUEST = {"run": Reply, "states": States, "facts": Observations, "parse": Parsed,
              "extend": Programs, "generate": Programs, "profile": Profiled}
