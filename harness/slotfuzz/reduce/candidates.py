"""Lines that can follow a program, and whether a program contains another. Nothing runs here."""

import itertools
from collections.abc import Iterator

from slotfuzz.language.program import BINDING_MARKS, Line, MARKS, Table


def next_lines(
    table: Table, ops: list[str], bound: frozenset[str], wanted: frozenset[str] = frozenset(),
) -> Iterator[Line]:
    """Every line of OPS that can follow when the variables BOUND have a value.

    If a line binds a free name, it takes the lowest one or one that is WANTED. If it has a literal,
    it takes the simplest one or one that is WANTED.
    """
    for op in ops:
        roles = table.ops[op]["operands"]
        for words in itertools.product(*(_words(table, role, bound, wanted) for role in roles)):
            yield Line(op, words)


def _words(
    table: Table, role: str, bound: frozenset[str], wanted: frozenset[str],
) -> list[str]:
    """The words for an operand: bound names, and free names too if the line binds it."""
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


def contains(table: Table, lines: tuple[Line, ...], part: tuple[Line, ...]) -> bool:
    """Whether PART is a subsequence of LINES, up to the names of variables."""
    return _contains(table, lines, part, {})


def _contains(table, lines, part, names: dict[str, str]) -> bool:
    if not part:
        return True
    for index, line in enumerate(lines):
        more = _names(table, part[0], line, names)
        if more is not None and _contains(table, lines[index + 1:], part[1:], more):
            return True
    return False


def _names(table: Table, part: Line, line: Line, names: dict[str, str]) -> dict[str, str] | None:
    """NAMES, with the renamings that turn PART into LINE; None if no renaming does."""
    if (part.op, part.lane) != (line.op, line.lane):
        return None
    names = dict(names)
    for index, (word, other) in enumerate(zip(part.operands, line.operands)):
        is_variable = table.kind(part, index).prefix and table.kind(part, index) == table.kind(
            line, index)
        if names.setdefault(word, other if is_variable else word) != other:
            return None
    return names if len(set(names.values())) == len(names) else None
