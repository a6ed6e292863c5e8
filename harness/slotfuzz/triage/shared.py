"""Finds lines for a hunt to steer around: those that all programs with one bug share.

Many lines can show a bug that one line causes. A hunt would stop for each of them.
"""

from dataclasses import replace

from slotfuzz.language.program import Line, Table
from slotfuzz.schema.record import CRASH, OUTSIDE
from slotfuzz.triage.dedup import Keys, Outside, keys_outside
from slotfuzz.triage.program_shape import mechanisms

# The minimum number of programs for a comparison.
VARIANTS_MIN = 3


def shared(
    variants: list[list[Line]], met: list[list[Line]], keys: Keys, table: Table,
) -> list[list[Line]]:
    """The lines that all variants of a finding with KEYS share, by their ops; or none.

    Empty for few variants, or if they share only a mechanism: a hunt that steers around every
    collection finds nothing more. MET are the programs before their ops became simpler ones. Some
    of MET, and variants that are alike, may share other lines.
    """
    by_place = any(key.kind == CRASH and key.calls for key in keys)
    by_mechanism = any(key.effects for key in keys if key.kind != OUTSIDE)
    found = []
    for programs in (variants, met, *_parts_alike(variants, table), *_parts_alike(met, table)):
        rest = [lines for lines in programs
                if not any(_has_all(lines, one) for one in found)]
        if (len(rest) >= VARIANTS_MIN and (common := _common(rest, table))
                and not ((by_place or programs not in (variants, met))
                         and _only_shows(common, rest, table))
                and not (by_mechanism and len(common) == 1)):
            found.append(common)
    return [[_of_any(one[0], table)] if len(one) == 1 else one for one in found]


def _parts_alike(programs: list[list[Line]], table: Table) -> list[list[list[Line]]]:
    """Parts of PROGRAMS that end in the same op and have the same names."""
    parts: dict[tuple, list[list[Line]]] = {}
    for lines in programs:
        names = frozenset(word for line in lines for index, word in enumerate(line.operands)
                          if table.kind(line, index).has_names)
        parts.setdefault((names, *(line.op for line in lines[-1:])), []).append(lines)
    return list(parts.values())


def _has_all(lines: list[Line], ops_of: list[Line]) -> bool:
    return {line.op for line in ops_of} <= {line.op for line in lines}


def _common(programs: list[list[Line]], table: Table) -> list[Line]:
    """The lines of the shortest of PROGRAMS whose ops all have, without plain constructors."""
    ops = set.intersection(*({line.op for line in lines} for lines in programs))
    return [line for line in min(programs, key=len)
            if line.op in ops and not table.ops[line.op]["plain"]]


def _only_shows(common: list[Line], programs: list[list[Line]], table: Table) -> bool:
    """Whether COMMON is one line that ends each of PROGRAMS, and that may end others, too.

    A line that calls a function by name is wrong by itself.
    """
    return (len(common) == 1 and all(lines[-1].op == common[0].op for lines in programs)
            and not any(table.kind(common[0], index).has_names
                        for index in range(len(common[0].operands))))


def _of_any(line: Line, table: Table) -> Line:
    """LINE with a different variable for each operand, to match equal and unequal operands."""
    kinds = [table.kind(line, index) for index in range(len(line.operands))]
    return replace(line, operands=tuple(
        f"{kind.prefix}{index % kind.count}" if kind.prefix else word
        for index, (kind, word) in enumerate(zip(kinds, line.operands))))


def leading_outside(
    lines: list[Line], met: list[Line], keys: Keys, table: Table,
) -> list[list[Line]]:
    """LINES up to the one that moves elements outside of memory, by their KEYS; or none.

    Also MET, the program before its ops and names became simpler ones, up to the same op.
    """
    for count in range(len(lines), 0, -1):
        leading = lines[count - 1]
        if any(keys_outside(Outside(leading, raised), table) == keys for raised in (False, True)):
            last = max((i for i, line in enumerate(met) if line.op == leading.op), default=-1)
            return [lines[:count], *([met[:last + 1]] if last >= 0 else [])]
    return []


def related_ops(lines: list[Line], table: Table) -> frozenset[str]:
    """The ops related to those of LINES, except ops with a mechanism that LINES lack."""
    met = mechanisms(lines, table)
    return frozenset(name for name in table.related(frozenset(line.op for line in lines))
                     if mechanisms([Line(name, ())], table) <= met)
