"""Programs in the driver: each line is an instance of an op, and the op table prints it.

The engine sends the table (`BIN --describe`); this file names no op.
"""

import re
from dataclasses import dataclass, replace
from functools import cached_property

from slotfuzz.language import prelude
from slotfuzz.schema.answers import Parsed, Reply
from slotfuzz.schema.record import TIERS

# The marks before a kind's key in the op table, and the marks of operands that the line binds.
MARKS = "=*+-"
ASKING_MARK, MAKING_MARK = "*", "+"
BINDING_MARKS = ("=", ASKING_MARK, MAKING_MARK)
ANY_VARIABLE = "?"
# A word that may be an operand, such as s0.
VARIABLE = re.compile(r"\b[a-z]\d\b")
NEAREST_CUTOFF = 0.6


@dataclass(frozen=True)
class Line:
    """One instance of op OP with its OPERANDS as words: `del s0` is Line("del", ("s0",)).

    LANE is the thread that the line runs on; 0 is the main thread.
    """

    op: str
    operands: tuple[str, ...]
    lane: int = 0


@dataclass(frozen=True)
class Kind:
    """A kind of operand: variables PREFIX0..PREFIX(count-1), or literal VALUES, simplest first.

    The values of most kinds are interchangeable. If the kind HAS_NAMES, each value is a different
    use.
    """

    key: str
    prefix: str | None
    values: tuple[str, ...]
    count: int
    has_names: bool
    value_effects: dict[str, list[str]]
    value_tiers: dict[str, str]


class Table:
    """The op table of one target: templates, operand roles and kinds."""

    def __init__(self, description: dict):
        self.description = description
        self.ops = {op["name"]: op for op in description["ops"]}
        self.kinds = {}
        for kind in description["kinds"]:
            self.kinds[kind["key"]] = Kind(
                kind["key"], kind["prefix"], tuple(kind["values"] or ()), kind["count"] or 0,
                kind["has_names"], kind["value_effects"], kind["value_tiers"])

    @property
    def module(self) -> str:
        """The name of the module that is T."""
        return self.description["module"]

    @cached_property
    def snippets(self) -> list[prelude.Snippet]:
        """What lines may call of the prelude."""
        return prelude.snippets_of(self.description)

    def effects(self, op: str) -> frozenset[str]:
        """What a line of OP can do besides what its operands say; ops/storage.ops lists effects."""
        return frozenset(self.ops[op]["effects"])

    def line_effects(self, line: Line) -> frozenset[str]:
        """The same of LINE, with what it can do by its values."""
        of_values = (self.kind(line, index).value_effects.get(word, ())
                     for index, word in enumerate(line.operands))
        return self.effects(line.op).union(*of_values)

    def tier(self, lines: list[Line], module: str) -> str:
        """The API tier of LINES on MODULE: the highest of their ops, values, and what these call.
        """
        called = prelude.needed(self.snippets, self.program_text(lines), module)
        tiers = [TIERS[0], *(self.ops[line.op]["tier"] for line in lines)]
        tiers += ["underscore" for statement in called if statement.is_private]
        for line in lines:
            tiers += [self.kind(line, index).value_tiers.get(word, TIERS[0])
                      for index, word in enumerate(line.operands)]
        return max(tiers, key=TIERS.index)

    def text(self, line: Line) -> str:
        """The line as Python."""
        template = self.ops[line.op]["template"]
        text = re.sub(r"\{(\d)\}", lambda match: line.operands[int(match[1])], template)
        if line.lane == 0:
            return text
        return self.description["lane_template"].format(line.lane, text)

    def program_text(self, lines: list[Line]) -> str:
        """The program as Python, one line each."""
        return "".join(self.text(line) + "\n" for line in lines)

    def kind(self, line: Line, index: int) -> Kind:
        """The kind of operand INDEX of the line; `?` in the table takes any kind of variable."""
        key = self.ops[line.op]["operands"][index].lstrip(MARKS)
        if key != ANY_VARIABLE:
            return self.kinds[key]
        prefix = line.operands[index].rstrip("0123456789")
        return next(kind for kind in self.kinds.values() if kind.prefix == prefix)

    def variables(self, line: Line) -> list[str]:
        """The variables that the line mentions, in order."""
        return [word for i, word in enumerate(line.operands) if self.kind(line, i).prefix]

    def read(self, line: Line) -> set[str]:
        """The variables that the line reads or unbinds: they must have a value before."""
        roles = self.ops[line.op]["operands"]
        return {word for i, word in enumerate(line.operands)
                if roles[i][:1] not in BINDING_MARKS and self.kind(line, i).prefix}

    def nearest(self, text: str) -> str:
        """The op most similar to TEXT, a line that matches no op; empty if no op is similar."""
        import difflib

        names = {re.sub(r"\{\d\}", "_", op["template"]): name for name, op in self.ops.items()}
        plain = VARIABLE.sub("_", text)
        close = difflib.get_close_matches(plain, names, n=1, cutoff=NEAREST_CUTOFF)
        return names[close[0]] if close else ""

    def simpler(self, line: Line) -> list[Line]:
        """The line with simpler ops, which stand earlier in the table; the simplest comes first.

        The operands stay the same, but an op that makes an object from values may get other values.
        """
        roles = self.ops[line.op]["operands"]
        names = list(self.ops)
        found = []
        for name in names[:names.index(line.op)]:
            op = self.ops[name]
            if op["masked"]:
                continue
            if op["operands"] == roles:
                found.append(replace(line, op=name))
            elif op["plain"] and op["operands"][:1] == roles[:1] and self.makes_from_values(line):
                values = (self.kinds[role].values[0] for role in op["operands"][1:])
                found.append(Line(name, (line.operands[0], *values), line.lane))
        return found

    def related(self, ops: frozenset[str]) -> frozenset[str]:
        """OPS, the plain ops that make an object, and ops that differ in circumstances only.

        Examples of the last are `del s0` and `with hermetic(): del s0`: one text ends in the other,
        and the operands have the same kinds. Resizing a storage and resizing a tensor are not
        related.
        """
        own = [self.ops[name] for name in ops]
        return frozenset(name for name, op in self.ops.items() if op["plain"] or any(
            _ends_in(op, one) or _ends_in(one, op) for one in own))

    def makes_from_values(self, line: Line) -> bool:
        """Whether the line makes an object and has no operands but values."""
        roles = self.ops[line.op]["operands"]
        return (bool(roles) and roles[0][:1] == MAKING_MARK
                and len(self.variables(line)) == 1)

    def gives_object(self, line: Line) -> bool:
        """Whether the line makes an object of the subject, or asks the subject for a wrapper."""
        return any(role[:1] in (ASKING_MARK, MAKING_MARK) for role in self.ops[line.op]["operands"])

    def binds(self, line: Line, index: int) -> bool:
        """Whether operand INDEX is a variable that the line gives a value."""
        role = self.ops[line.op]["operands"][index]
        return role[:1] in BINDING_MARKS and bool(self.kind(line, index).prefix)

    def bound(self, line: Line) -> set[str]:
        """The variables that the line gives a value."""
        return {word for i, word in enumerate(line.operands) if self.binds(line, i)}


def _ends_in(longer: dict, shorter: dict) -> bool:
    kinds = [[role.lstrip(MARKS) for role in op["operands"]] for op in (longer, shorter)]
    return (longer["template"].endswith(shorter["template"]) and len(kinds[0]) >= len(kinds[1])
            and all(one in (ANY_VARIABLE, other) for other, one in zip(*kinds)))


def lines_of(answer: Reply | Parsed) -> list[Line]:
    """The lines in an engine's answer to `parse` or `run`."""
    return [Line(line.op, line.operands, line.lane) for line in answer.lines]
