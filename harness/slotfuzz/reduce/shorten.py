"""Generates shorter programs that differ from a given one in one place.

The minimizer tries them when no single line can be dropped. To leave such a local minimum, it must
remove several lines at once, or replace several lines by one or two. One op may do what took three
lines (`with hermetic(): del s0` for enter, del and exit). This file names no op and runs nothing.
Most of these programs are not interesting, so the caller runs hundreds in one child of the server.
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace

from slotfuzz.language.program import Line, Table
from slotfuzz.reduce.candidates import bound_after, next_lines

NOTHING: frozenset[str] = frozenset()
DIGITS = "0123456789"


def shorter(
    lines: list[Line], table: Table, allowed: frozenset[str] | None = None,
) -> Iterator[list[Line]]:
    """Shorter programs near LINES in which each line reads only variables that have a value.

    In this order:
    - one line that makes a variable is removed, and another variable of its kind takes its place;
    - any two lines are removed;
    - one line of any op replaces a stretch of lines, the longest stretch first;
    - one line replaces all lines that mention a variable, at the first or the last of them;
    - one line replaces two lines that are apart, at the later one;
    - two lines of the program's ops or related ops replace a stretch.
    If ALLOWED is given, new lines are instances of these ops.
    """
    yield from _variables_unified(lines, table)
    pairs = list(itertools.combinations(range(len(lines)), 2))
    for first, second in pairs:
        rest = [line for index, line in enumerate(lines) if index not in (first, second)]
        if rest and _is_bound(rest, NOTHING, table):
            yield rest
    every = [name for name, op in table.ops.items()
             if not op["masked"] and (allowed is None or name in allowed)]
    yield from _stretches_replaced(lines, 1, every, table)
    for variable in dict.fromkeys(word for line in lines for word in table.variables(line)):
        yield from _variable_replaced(lines, variable, every, table)
    for first, second in pairs:
        if second > first + 1:
            before = lines[:first] + lines[first + 1:second]
            yield from _put(before, lines[second + 1:], lines[second].lane, 1, every, table)
    own = table.related(frozenset(line.op for line in lines))
    yield from _stretches_replaced(lines, 2, [name for name in every if name in own], table)


def _variables_unified(lines: list[Line], table: Table) -> Iterator[list[Line]]:
    """LINES without one that makes a variable; an older one of its kind takes its place."""
    bound = NOTHING
    for index, line in enumerate(lines):
        for made, other in itertools.product(sorted(table.bound(line)), sorted(bound)):
            if other == made or other.rstrip(DIGITS) != made.rstrip(DIGITS):
                continue
            names = {made: other}
            rest = [*lines[:index], *(
                replace(later, operands=tuple(names.get(word, word) for word in later.operands))
                for later in lines[index + 1:])]
            if _is_bound(rest, NOTHING, table):
                yield rest
        bound = bound_after(table, line, bound)


def _stretches_replaced(
    lines: list[Line], count: int, ops: list[str], table: Table,
) -> Iterator[list[Line]]:
    """LINES with COUNT lines of OPS in place of a longer stretch, the longest stretch first."""
    for length in range(len(lines), count, -1):
        for begin in range(len(lines) - length + 1):
            yield from _put(lines[:begin], lines[begin + length:], lines[begin].lane, count, ops,
                            table)


def _variable_replaced(
    lines: list[Line], variable: str, ops: list[str], table: Table,
) -> Iterator[list[Line]]:
    """LINES with one line of OPS in place of all that mention VARIABLE, if these are several."""
    places = [i for i, line in enumerate(lines) if variable in table.variables(line)]
    for place in (places[0], places[-1]) if len(places) > 1 else ():
        before, after = ([lines[i] for i in indices if i not in places]
                         for indices in (range(place), range(place + 1, len(lines))))
        yield from _put(before, after, lines[place].lane, 1, ops, table)


def _put(
    before: list[Line], after: list[Line], lane: int, count: int, ops: list[str], table: Table,
) -> Iterator[list[Line]]:
    """BEFORE, COUNT lines of OPS on LANE, and AFTER, where each line reads bound variables."""
    bound = NOTHING
    for line in before:
        if not table.read(line) <= bound:
            return
        bound = bound_after(table, line, bound)
    wanted = frozenset().union(*(table.variables(line) for line in after))
    for new in _lines(count, ops, bound, wanted, table):
        if _is_bound([*new, *after], bound, table):
            yield [*before, *(replace(line, lane=lane) for line in new), *after]


def _lines(count, ops, bound, wanted, table) -> Iterator[list[Line]]:
    """All sequences of COUNT lines of OPS that can follow when BOUND have a value."""
    if count == 0:
        yield []
        return
    for line in next_lines(table, ops, bound, wanted):
        for more in _lines(count - 1, ops, bound_after(table, line, bound), wanted, table):
            yield [line, *more]


def _is_bound(lines: list[Line], bound: frozenset[str], table: Table) -> bool:
    """Whether each of LINES reads only variables with a value, if BOUND have one at the start."""
    for line in lines:
        if not table.read(line) <= bound:
            return False
        bound = bound_after(table, line, bound)
    return True
