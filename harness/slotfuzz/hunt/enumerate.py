"""Runs every program of up to N lines over some ops, shortest first, and visits each state once.

Two reductions make this feasible. Symmetry: free names are interchangeable, so a line binds only
the lowest one. State: programs that lead to the same state continue alike, so only the first of
them is extended. The engine sends the state as a number (harness/engine/session/state.h). Lines run
on the main lane. Literals are the simplest of their kind, or those that the caller names. If a
program crashes and contains a shorter one that crashes, it is counted, and the cause is assumed to
be the same.
"""

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from slotfuzz.engine.server import Server
from slotfuzz.errors import BrokenError
from slotfuzz.evidence import signature
from slotfuzz.language.program import Line
from slotfuzz.reduce.candidates import bound_after, contains, next_lines
from slotfuzz.schema.answers import State

# Programs per child of the server.
BATCH = 256


@dataclass(frozen=True)
class Failing:
    """The shortest program found with SIGNATURE; no shorter program of the ops has it."""

    signature: str
    lines: tuple[Line, ...]
    text: str


@dataclass
class Length:
    """Counts for the programs of LINES lines.

    STATES counts states that no earlier program led to. If the engine cannot compute states, each
    program counts as a new state.
    """

    lines: int
    programs: int = 0
    states: int = 0
    failing: int = 0


@dataclass
class Result:
    """The result. UNREPEATED counts programs that failed once and were clean the next time."""

    lengths: list[Length] = field(default_factory=list)
    findings: dict[str, Failing] = field(default_factory=dict)
    unrepeated: int = 0
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def programs(self) -> int:
        """Programs of all lengths."""
        return sum(length.programs for length in self.lengths)

    @property
    def states(self) -> int:
        """Distinct states of all lengths."""
        return sum(length.states for length in self.lengths)


@dataclass(frozen=True)
class _Program:
    lines: tuple[Line, ...]
    bound: frozenset[str]


def run(server: Server, ops: list[str], lines_max: int, reduce_states: bool = True,
        report=lambda length: None, literals: frozenset[str] = frozenset()) -> Result:
    """Runs all programs; calls REPORT with each Length when it is done. Ctrl-C ends it early.

    Operands are the simplest literal of each kind, and those of LITERALS that belong to the kind.
    A server without symbols runs all programs, and SERVER the failing ones again for a signature.
    """
    result, start = Result(), time.monotonic()
    with Server(server.subject, server.target, symbols=False) as quick:
        try:
            _Enumeration(server, quick, ops, literals, reduce_states, result).run(
                lines_max, report)
        except KeyboardInterrupt:
            result.interrupted = True
    result.seconds = round(time.monotonic() - start, 3)
    return result


class _Enumeration:
    """The breadth-first search and the states that it has visited."""

    def __init__(self, server, quick, ops, literals, reduce_states: bool, result: Result):
        self.server, self.quick, self.table = server, quick, server.table
        self.ops, self.literals = ops, literals
        self.reduce_states, self.result = reduce_states, result
        self.visited = set()
        self.crashes: list[tuple[Line, ...]] = []

    def run(self, lines_max: int, report) -> None:
        """Lengths 1 to LINES_MAX, or until no program can be extended."""
        (start,) = self.quick.states([""])
        if start.is_finding:
            raise BrokenError(f"the empty program fails on {self.server.subject.name}")
        self.visited.add(start.state)
        programs = [_Program((), frozenset())]
        for lines in range(1, lines_max + 1):
            self.result.lengths.append(Length(lines))
            programs = self._extended(programs)
            report(self.result.lengths[-1])

    def _extended(self, programs: list[_Program]) -> list[_Program]:
        """Runs all programs one line longer; returns those that led to a new state."""
        candidates = (_Program((*program.lines, line), bound_after(self.table, line, program.bound))
                      for program in programs
                      for line in next_lines(self.table, self.ops, program.bound,
                                             self.literals))
        return [program for program, reply in self._replies(candidates)
                if self._is_new(program, reply)]

    def _replies(self, programs: Iterator[_Program]) -> Iterator[tuple[_Program, State]]:
        """Each program with its reply.

        A program that fails after others in one child runs again, first in the next child.
        """
        waiting = []
        while True:
            waiting += itertools.islice(programs, BATCH - len(waiting))
            if not waiting:
                return
            replies = self.quick.states([self._text(program) for program in waiting])
            if not replies:
                raise BrokenError("the fork server ran none of the programs")
            done = len(replies)
            if done > 1 and replies[-1].is_finding:
                done -= 1
            yield from zip(waiting[:done], replies[:done])
            waiting = waiting[done:]

    def _is_new(self, program: _Program, reply: State) -> bool:
        """Counts the program; returns whether to extend it."""
        length, state = self.result.lengths[-1], reply.state
        length.programs += 1
        if reply.is_finding:
            self._note_finding(program, reply.crashed)
        is_new = state is None or state not in self.visited
        if not reply.ran or (self.reduce_states and not is_new):
            return False
        length.states += is_new
        self.visited.add(state)
        return True

    def _note_finding(self, program: _Program, crashed: bool) -> None:
        length = self.result.lengths[-1]
        # Most longer programs that crash contain a shorter one that crashes.
        if crashed and any(contains(self.table, program.lines, one) for one in self.crashes):
            length.failing += 1
            return
        reply = self.server.run(self._text(program))
        if not reply.is_finding:
            self.result.unrepeated += 1
            return
        length.failing += 1
        if crashed:
            self.crashes.append(program.lines)
        words = signature.of_reply(reply).text
        self.result.findings.setdefault(
            words, Failing(words, program.lines, self._text(program)))

    def _text(self, program: _Program) -> str:
        return self.table.program_text(list(program.lines))
