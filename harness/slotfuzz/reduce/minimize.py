"""Makes a program small while it stays interesting. A predicate decides; no engine is needed.

Every pass proposes smaller programs and keeps those that are still interesting. Passes, in order:
one lane for all lines, suffix, closures of a variable, chunks, single lines to a fixpoint, shorter
programs near by, lanes, simpler ops, simpler operands, names. Smaller means: fewer lines, then
fewer lanes, fewer switches between lanes and fewer lines that are not on the main lane, then ops
that stand earlier in the table, then simpler literal values, the simplest of a line last, then
lower variable numbers.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from typing import Protocol

from slotfuzz.language.program import Line, Table
from slotfuzz.reduce.search import BudgetSpent, Search, Several
from slotfuzz.reduce.shorten import shorter

RUNS_MAX = 2000
# The search for shorter programs gives up after so many runs, or so much time, without success.
# The time limit matters if programs near by hang, since each of them takes seconds.
SHORTEN_RUNS_MAX = 80
SHORTEN_SECONDS_MAX = 30


class Names(Protocol):
    """What is known of a line: the variables that it mentions, and those that it binds."""

    def variables(self, line) -> Iterable[str]:
        """The variables that LINE mentions."""

    def bound(self, line) -> Set[str]:
        """The variables that LINE gives a value."""


@dataclass(frozen=True)
class Minimized:
    """The result: the lines, the cost, and whether no single line can be removed.

    A run is a child of the server and may try several programs; TRIED counts programs. AS_MET is
    the program after lines were removed and before ops and values were changed: the fuzzer will
    find programs like it again.
    """

    lines: list[Line]
    lines_before: int
    runs: int
    seconds: float
    one_minimal: bool
    tried: int = 0
    as_met: tuple[Line, ...] = ()


def minimize(
    lines: list[Line],
    interesting: Callable[[list[Line]], bool],
    table: Table,
    runs_max: int = RUNS_MAX,
    last_line: int | None = None,
    several: Several | None = None,
    allowed: frozenset[str] | None = None,
    seconds_max: float = math.inf,
) -> Minimized:
    """The smallest program found for which `interesting` holds; it must hold for LINES.

    LAST_LINE, if known, is the index of the failing line; the lines after it are removed first. At
    most RUNS_MAX calls of `interesting` and SEVERAL, in at most SECONDS_MAX. Without SEVERAL the
    pass that looks for programs near by that are shorter by several lines does not run. If ALLOWED
    is given, that pass adds lines of these ops only.
    """
    start = time.monotonic()
    search = Search(list(lines), interesting, several, runs_max, tuple, seconds_max)
    one_minimal, as_met = False, ()
    try:
        search.keep(_on_lane(search.best, 0))
        drop_lines(search, table, last_line)
        as_met = tuple(search.best)
        if several:
            _shorten(search, table, allowed)
        _merge_lanes(search)
        _simplify_ops(search, table)
        _simplify_operands(search, table)
        _drop_single_lines(search)
        _name_in_order(search, table)
        one_minimal = _is_one_minimal(search)
    except BudgetSpent:
        pass
    return Minimized(search.best, len(lines), search.runs, time.monotonic() - start, one_minimal,
                     search.tried, as_met)


def drop_lines(search: Search, names: Names, last_line: int | None = None) -> None:
    """Drops lines until each is needed; NAMES knows what a line mentions."""
    _drop_suffix(search, last_line)
    _drop_closures(search, names)
    _drop_chunks(search)
    _drop_single_lines(search)


def _drop_suffix(search: Search, last_line: int | None) -> None:
    """Drops the lines after the failing line, then ever smaller suffixes: most are not needed."""
    if last_line is not None and last_line + 1 < len(search.best):
        search.keep(search.best[:last_line + 1])
    step = len(search.best) // 2
    while step and search.best:
        if not search.keep(search.best[:-step]):
            step //= 2


def _drop_closures(search: Search, names: Names) -> None:
    """Drops all lines that mention a variable or values derived from it; else the variable only."""
    mentioned = {}
    for line in search.best:
        for variable in names.variables(line):
            mentioned[variable] = mentioned.get(variable, 0) + 1
    for variable in sorted(mentioned, key=mentioned.get, reverse=True):
        for closure in (_closure(search.best, variable, names), {variable}):
            rest = [line for line in search.best if not closure & set(names.variables(line))]
            if rest and len(rest) < len(search.best) and search.keep(rest):
                break


def _closure(lines: list[Line], variable: str, names: Names) -> set[str]:
    """VARIABLE and, transitively, each variable bound by a line that mentions one of these."""
    closure = {variable}
    for line in lines:
        if closure & set(names.variables(line)):
            closure |= names.bound(line)
    return closure


def _drop_chunks(search: Search) -> None:
    """Delta debugging: drops chunks of half the program, then of a quarter, and so on."""
    size = len(search.best) // 2
    while size > 1:
        end = len(search.best)
        while end > 0:
            begin = max(0, end - size)
            rest = search.best[:begin] + search.best[end:]
            if rest:
                search.keep(rest)
            end = begin
        size //= 2


def _drop_single_lines(search: Search) -> None:
    """Drops single lines until each is needed. Last first: later lines depend on earlier ones."""
    dropped = True
    while dropped:
        dropped = False
        for index in reversed(range(len(search.best))):
            rest = search.best[:index] + search.best[index + 1:]
            dropped |= search.keep(rest)


def _shorten(search: Search, table: Table, allowed: frozenset[str] | None) -> None:
    """Leaves a local minimum, where each line is needed, while a shorter program is near by."""
    while search.keep_first(shorter(search.best, table, allowed), SHORTEN_RUNS_MAX,
                            SHORTEN_SECONDS_MAX):
        _drop_single_lines(search)


def _on_lane(lines: list[Line], lane: int) -> list[Line]:
    return [replace(line, lane=lane) for line in lines]


def _runs(lines: list[Line]) -> list[tuple[int, int]]:
    """(begin, end) of each stretch of lines on one lane."""
    begins = [i for i in range(len(lines)) if i == 0 or lines[i].lane != lines[i - 1].lane]
    return list(zip(begins, [*begins[1:], len(lines)]))


def _lane_cost(lines: list[Line]) -> tuple[int, int, int]:
    """How hard a program is to read: lanes, switches, lines that are not on the main lane."""
    lanes = {line.lane for line in lines}
    return len(lanes), len(_runs(lines)), sum(line.lane != 0 for line in lines)


def _merge_lanes(search: Search) -> None:
    """Merges two lanes, then moves stretches of lines, or their ends, to other lanes."""
    merged = True
    while merged:
        merged = False
        for lines in _merged(search.best):
            if _lane_cost(lines) < _lane_cost(search.best) and search.keep(lines):
                merged = True
                break


def _merged(lines: list[Line]):
    """The program with lines moved to other lanes; the largest change comes first."""
    lanes = sorted({line.lane for line in lines})
    for lane in lanes:
        for other in sorted({0, *lanes} - {lane}):
            yield [replace(line, lane=other) if line.lane == lane else line for line in lines]
    for begin, end in _runs(lines):
        for first, last in ((begin, end), (begin, begin + 1), (end - 1, end)):
            for lane in lanes:
                yield lines[:first] + _on_lane(lines[first:last], lane) + lines[last:]


def _simplify_ops(search: Search, table: Table) -> None:
    """Tries, for each line, ops with the same operands that stand earlier in the table."""
    for index in range(len(search.best)):
        search.keep_first([*search.best[:index], line, *search.best[index + 1:]]
                          for line in table.simpler(search.best[index]))


def _simplify_operands(search: Search, table: Table) -> None:
    """Tries simpler literals, in the kind's order, and lower variables, one operand at a time.

    And moves the simplest literals of a line behind others of their kind: a step that fails in any
    place of a line then stands in the first.
    """
    search.settle(lambda lines: _with_simpler_operand(lines, table))


def _with_simpler_operand(lines: list[Line], table: Table) -> Iterator[list[Line]]:
    for index, line in enumerate(lines):
        for position in range(len(line.operands)):
            for word in _simpler_words(line, position, table):
                operands = (*line.operands[:position], word, *line.operands[position + 1:])
                yield [*lines[:index], replace(line, operands=operands), *lines[index + 1:]]
        for operands in _with_simplest_later(line, table):
            yield [*lines[:index], replace(line, operands=operands), *lines[index + 1:]]


def _with_simplest_later(line: Line, table: Table) -> Iterator[tuple[str, ...]]:
    """The operands of LINE, where the simplest literal and the next one of its kind swap places."""
    places: dict[str, int] = {}
    for later, word in enumerate(line.operands):
        kind = table.kind(line, later)
        place = places.get(kind.key)
        if place is not None and word != line.operands[place] == kind.values[0]:
            operands = list(line.operands)
            operands[place], operands[later] = word, operands[place]
            yield tuple(operands)
        if not kind.prefix:
            places[kind.key] = later


def _simpler_words(line: Line, position: int, table: Table) -> list[str]:
    word, kind = line.operands[position], table.kind(line, position)
    if kind.prefix:
        return [f"{kind.prefix}{i}" for i in range(int(word.removeprefix(kind.prefix)))]
    return list(kind.values[:kind.values.index(word)]) if word in kind.values else []


def _name_in_order(search: Search, table: Table) -> None:
    """Names variables and lanes in the order in which they appear: t0 before t1, 1 before 2."""
    names, counts, lanes = {}, {}, {0: 0}
    for line in search.best:
        lanes.setdefault(line.lane, len(lanes))
        for position, word in enumerate(line.operands):
            kind = table.kind(line, position)
            if kind.prefix and word not in names:
                names[word] = f"{kind.prefix}{counts.get(kind.key, 0)}"
                counts[kind.key] = counts.get(kind.key, 0) + 1
    renamed = [Line(line.op, tuple(names.get(word, word) for word in line.operands),
                    lanes[line.lane]) for line in search.best]
    if renamed != search.best:
        search.keep(renamed)


def _is_one_minimal(search: Search) -> bool:
    """Whether no single line can be removed. Checked, not assumed."""
    lines = search.best
    return not any(search.ask(lines[:i] + lines[i + 1:]) for i in range(len(lines)))
