"""Runs every program of up to N lines over some ops, shortest first, each state visited once.

Two reductions keep that feasible. Symmetry: a name that no program line has bound is as good as any
other, so only the lowest one is bound. State: two programs that led to the same state (the engine
tells it as a number, see harness/engine/state.h) go on alike, so only the first is extended. Lines
run on the main lane, and literals are the simplest of their kind, or such as the caller names. A
program that crashes and contains a shorter one that does is counted, and taken to crash for the
same reason.
"""

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from slotfuzz import signature
from slotfuzz.engine import Server
from slotfuzz.errors import BrokenError
from slotfuzz.program import BINDING_MARKS, MARKS, Line, Table

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
    """What the programs of so many LINES came to.

    STATES are those that no earlier program led to; where the engine cannot tell, each counts.
    """

    lines: int
    programs: int = 0
    states: int = 0
    failing: int = 0


@dataclass
class Result:
    """What was done. UNREPEATED programs failed once and were clean the next time."""

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
        """Distinct states that they led to."""
        return sum(length.states for length in self.lengths)


@dataclass(frozen=True)
class _Program:
    lines: tuple[Line, ...]
    bound: frozenset[str]


def next_lines(
    table: Table, ops: list[str], bound: frozenset[str], wanted: frozenset[str] = frozenset(),
) -> Iterator[Line]:
    """Every line of OPS that can follow when the variables BOUND have a value.

    Of names that have none, a line binds the lowest, or one that is WANTED; of literals it has the
    simplest, or one that is WANTED.
    """
    for op in ops:
        roles = table.ops[op]["operands"]
        for words in itertools.product(*(_words(table, role, bound, wanted) for role in roles)):
            yield Line(op, words)


def _words(
    table: Table, role: str, bound: frozenset[str], wanted: frozenset[str],
) -> list[str]:
    """What an operand can be: what is bound, or for a binding one a free name as well."""
    kind = table.kinds.get(role.lstrip(MARKS))
    if kind is None:
        return sorted(bound)
    if not kind.prefix:
        return [word for word in kind.values if word == kind.values[0] or word in wanted]
    names = [f"{kind.prefix}{number}" for number in range(kind.count)]
    there = [name for name in names if name in bound]
    if role[0] not in BINDING_MARKS:
        return there
    free = [name for name in names if name not in bound]
    return there + free[:1] + [name for name in free[1:] if name in wanted]


def bound_after(table: Table, line: Line, bound: frozenset[str]) -> frozenset[str]:
    """The variables that have a value after the line, if it does not raise."""
    roles = table.ops[line.op]["operands"]
    unbound = {word for role, word in zip(roles, line.operands) if role[0] == "-"}
    return bound - unbound | table.bound(line)


def contains(table: Table, lines: tuple[Line, ...], known: tuple[Line, ...]) -> bool:
    """Whether LINES without some of them, and with other names, are KNOWN."""
    return _contains(table, lines, known, {})


def _contains(table, lines, known, names: dict[str, str]) -> bool:
    if not known:
        return True
    for index, line in enumerate(lines):
        more = _names(table, known[0], line, names)
        if more is not None and _contains(table, lines[index + 1:], known[1:], more):
            return True
    return False


def _names(table: Table, known: Line, line: Line, names: dict[str, str]) -> dict[str, str] | None:
    """NAMES of known variables and those that make KNOWN this LINE; None if nothing does."""
    if (known.op, known.lane) != (line.op, line.lane):
        return None
    names = dict(names)
    for index, (word, other) in enumerate(zip(known.operands, line.operands)):
        is_variable = table.kind(known, index).prefix and table.kind(known, index) == table.kind(
            line, index)
        if names.setdefault(word, other if is_variable else word) != other:
            return None
    return names if len(set(names.values())) == len(names) else None


def run(server: Server, ops: list[str], lines_max: int, reduce_states: bool = True,
        told=lambda length: None, literals: frozenset[str] = frozenset()) -> Result:
    """Runs them all; TOLD is called with each Length that is done. Ctrl-C ends it early.

    Lines have the simplest literal of each kind, and those of LITERALS that are of the kind.
    SERVER says what a failing program's signature is; the others run on one that needs no names.
    """
    result, start = Result(), time.monotonic()
    with Server(server.subject, server.target, symbols=False) as quick:
        try:
            _Enumeration(server, quick, ops, literals, reduce_states, result).run(lines_max, told)
        except KeyboardInterrupt:
            result.interrupted = True
    result.seconds = round(time.monotonic() - start, 3)
    return result


class _Enumeration:
    """The breadth-first search, with the states that it has seen."""

    def __init__(self, server, quick, ops, literals, reduce_states: bool, result: Result):
        self.server, self.quick, self.table = server, quick, server.table
        self.ops, self.literals = ops, literals
        self.reduce_states, self.result = reduce_states, result
        self.visited = set()
        self.crashes: list[tuple[Line, ...]] = []

    def run(self, lines_max: int, told) -> None:
        """Lengths 1 to LINES_MAX, or until no program can be extended."""
        (start,) = self.quick.states([""])
        if start["outcome"] != "clean":
            raise BrokenError(f"the empty program fails on {self.server.subject.name}")
        self.visited.add(start["state"])
        programs = [_Program((), frozenset())]
        for lines in range(1, lines_max + 1):
            self.result.lengths.append(Length(lines))
            programs = self._extended(programs)
            told(self.result.lengths[-1])

    def _extended(self, programs: list[_Program]) -> list[_Program]:
        """Runs all that are one line longer; returns those that led to a state not seen yet."""
        candidates = (_Program((*program.lines, line), bound_after(self.table, line, program.bound))
                      for program in programs
                      for line in next_lines(self.table, self.ops, program.bound,
                                             self.literals))
        return [program for program, reply in self._replies(candidates)
                if self._is_new(program, reply)]

    def _replies(self, programs: Iterator[_Program]) -> Iterator[tuple[_Program, dict]]:
        """Each program with its reply. One that fails is run again, first in a child of its own."""
        waiting = []
        while True:
            waiting += itertools.islice(programs, BATCH - len(waiting))
            if not waiting:
                return
            replies = self.quick.states([self._text(program) for program in waiting])
            if not replies:
                raise BrokenError("the fork server ran none of the programs")
            done = len(replies)
            if done > 1 and replies[-1]["outcome"] == "finding":
                done -= 1
            yield from zip(waiting[:done], replies[:done])
            waiting = waiting[done:]

    def _is_new(self, program: _Program, reply: dict) -> bool:
        """Counts the program. Whether its extensions are to be run."""
        length, state = self.result.lengths[-1], reply["state"]
        length.programs += 1
        if reply["outcome"] == "finding":
            self._note_finding(program, reply["crashed"])
        is_new = state is None or state not in self.visited
        if not reply["ran"] or (self.reduce_states and not is_new):
            return False
        length.states += is_new
        self.visited.add(state)
        return True

    def _note_finding(self, program: _Program, crashed: bool) -> None:
        length = self.result.lengths[-1]
        # Most longer programs that crash are a shorter one with lines that do not matter.
        if crashed and any(contains(self.table, program.lines, known) for known in self.crashes):
            length.failing += 1
            return
        reply = self.server.run(self._text(program))
        if reply["outcome"] != "finding":
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
