"""Lines that can follow a program, and whether a program contains another. Nothing runs here."""

import itertools
from collections.abc import Iterator

from slotfuzz.language.program import BINDING_MARKS, Line, MARKS, Table


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
