"""The answers of a target binary to each request of its fork server (`--serve`), as values.

These classes are the schema of the protocol: `shape.py` reads their fields. The tests check each
answer of the real engine and of the drivers' fake engine against them; a hunt skips that cost.
"""

from dataclasses import dataclass
from functools import cached_property

from slotfuzz.schema import trace
from slotfuzz.schema.kept import Kept

# Kinds of findings by the judge or an exception; any other kind ends the process.
JUDGE_KINDS = ("assert", "exception")


@dataclass(frozen=True)
class ProgramLine:
    """A line of a program: its TEXT, the OP with its OPERANDS as words, and its LANE.

    BARE is the text without the lane. BINDS are the variables that the line assigns.
    """

    text: str
    bare: str
    op: str
    operands: tuple[str, ...]
    lane: int
    binds: tuple[str, ...]


@dataclass(frozen=True)
class RanLine(ProgramLine):
    """A line that a run executed. RAISED is the type of its exception, or an empty string."""

    raised: str


@dataclass(frozen=True)
class DroppedLine:
    """A line of the text that no run executes: its number from 1, and WHY.

    WHY is "no op" if no op matches, "too many" if the program is too long, and "masked" if the
    subject or target lacks the op.
    """

    line: int
    text: str
    why: str


@dataclass(frozen=True)
class Parsed:
    """The answer to `parse`: the LINES that match an op.

    DROPPED counts all other lines. DROPPED_COUNT leaves out blank lines, comments and the frame of
    a script; DROPPED_LINES has the first of the lines that it counts.
    """

    lines: tuple[ProgramLine, ...]
    dropped: int
    dropped_lines: tuple[DroppedLine, ...]
    dropped_count: int


@dataclass(frozen=True)
class HungThread:
    """A thread of a process that hung: its NAME, what it WAITS_FOR, and its innermost FRAMES.

    WAITS_FOR is a word of stacks.h, such as "gil"; it is empty if the thread runs. ACTIVITY says
    that to people.
    """

    name: str
    waits_for: str
    activity: str
    frames: tuple[str, ...]

    @property
    def stack(self) -> str:
        """The frames as a report prints them."""
        return "".join(f"    #{number} {frame}\n" for number, frame in enumerate(self.frames))


@dataclass(frozen=True)
class Reply:
    """The answer to `run`: the result of one program.

    OUTCOME is "clean" or "finding". KIND is "assert" or "exception" for a finding by the judge,
    with the CONTRACT number, the CHECK, the kind of impl in OBJECT, its MESSAGE, and the ASSERTS
    that show it. SERIAL is the number of the object whose finalizer it is about, or None. IMPLIES
    has the effects that every program which breaks the check has, so they tell no bugs apart.
    KEEPS says that the contract sentence promises that something is kept.
    KIND is "signal", "exit", "deadlock", "hang" or "timeout" if the process ended. LINE is the
    first line that failed, or the number of lines. RESET has the lines that show the step of the
    reset that crashed, and THREADS those of a process that hung. KEPT are the cycles that keep what
    the program has left, each excused or a leak. STDERR is the log.
    """

    outcome: str
    kind: str
    contract: str
    check: str
    object: str
    message: str
    asserts: tuple[str, ...]
    implies: frozenset[str]
    keeps: bool
    serial: int | None
    line: int
    signal: int
    exit: int
    lines: tuple[RanLine, ...]
    dropped: int
    dropped_lines: tuple[DroppedLine, ...]
    dropped_count: int
    stderr: str
    reset: tuple[str, ...] = ()
    threads: tuple[HungThread, ...] = ()
    kept: tuple[Kept, ...] = ()

    @property
    def is_finding(self) -> bool:
        """Whether the run is a finding."""
        return self.outcome == "finding"

    @property
    def is_of_judge(self) -> bool:
        """Whether the judge made the finding; else the process ended."""
        return self.kind in JUDGE_KINDS

    @property
    def is_at_end(self) -> bool:
        """Whether LINE is past the last line."""
        return self.line >= len(self.lines)

    @cached_property
    def log(self) -> trace.Log:
        """STDERR as a value, parsed once."""
        return trace.parse(self.stderr)

    @cached_property
    def texts(self) -> list[str]:
        """The lines that ran, up to the finding; one more for the reset if the reset failed."""
        texts = self.log.lines or [line.text for line in self.lines]
        if len(texts) <= len(self.lines) <= self.line:
            texts = [*texts, trace.RESET]
        return texts[:self.line + 1]


@dataclass(frozen=True)
class State:
    """The result of one program of `states`: the hash of its last STATE, if it has one.

    CRASHED: the program ended the process. RAN: its last line ended.
    """

    outcome: str
    crashed: bool
    ran: bool
    state: str | None

    @property
    def is_finding(self) -> bool:
        """Whether the run is a finding."""
        return self.outcome == "finding"


@dataclass(frozen=True)
class States:
    """The answer to `states`, up to the first finding."""

    programs: tuple[State, ...]


@dataclass(frozen=True)
class Observation:
    """What was SEEN after a line or the reset: the answer to the question.

    RAISED is the type of the line's exception, or an empty string.
    """

    raised: str
    seen: str


@dataclass(frozen=True)
class Observed:
    """The result of one program of `observations`: the HASH of its trace.

    LINE is the last line that ran.
    """

    crashed: bool
    line: int
    hash: str | None


@dataclass(frozen=True)
class Observations:
    """The answer to `observations`."""

    programs: tuple[Observed, ...]


@dataclass(frozen=True)
class Trace:
    """What was observed AFTER each line of a program, and after the reset."""

    after: tuple[Observation, ...]


@dataclass(frozen=True)
class Traces:
    """The answer to `traces`."""

    traces: tuple[Trace, ...]


@dataclass(frozen=True)
class Programs:
    """The answer to `extend` and `generate`: program texts."""

    programs: tuple[str, ...]


@dataclass(frozen=True)
class Profiled:
    """The answer to `profile`: the number of programs that ended their process."""

    died: int


# The class of the answer to each request.
OF_REQUEST = {"run": Reply, "states": States, "observations": Observations, "traces": Traces,
              "parse": Parsed, "extend": Programs, "generate": Programs, "profile": Profiled}
