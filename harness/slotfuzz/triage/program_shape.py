"""The parts of a minimal program that identify its bug: lines without values, and effects."""

import ast
import functools
from collections import Counter
from dataclasses import replace

from slotfuzz.language import prelude
from slotfuzz.language.program import Line, Table

Shape = tuple[tuple[str, ...], ...]

# The word in a shape for a line that makes an object of its kind in the plainest manner.
PLAIN = "make"
# Effects that are mechanisms: they can break a promise or leave a dangling reference. Some pairs
# are two sides of one mechanism.
MECHANISMS = frozenset(["collects", "in_hermetic", "finalizes", "calls_back", "swaps", "locks",
                        "enters_interpreter", "starts_thread"])
SAME = {"enters_hermetic": "in_hermetic", "takes_resurrected": "finalizes"}
ON_ANOTHER_LANE = "starts_thread"
LANE = "lane"
# The word in a shape for a value, which does not matter.
VALUE = "_"


def effects(lines: list[Line], table: Table) -> frozenset[str]:
    """The effects of all LINES."""
    found = {ON_ANOTHER_LANE for line in lines if line.lane}
    return frozenset(found.union(*(table.line_effects(line) for line in lines)))


def mechanisms(lines: list[Line], table: Table) -> frozenset[str]:
    """The MECHANISMS among the effects of LINES."""
    return frozenset(SAME.get(one, one) for one in effects(lines, table)) & MECHANISMS


def shape(lines: list[Line], table: Table) -> Shape:
    """LINES as op names and objects, numbered in order of appearance; values do not matter.

    A variable that gets another value is another object. So after a line that makes `t0`,
    `t0 = f(t0)` has the shape of `t1 = f(t0)`.
    """
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    shapes = []
    for line in lines:
        given, words = {}, []
        for index, word in enumerate(line.operands):
            kind = table.kind(line, index)
            has_value = word in names
            if kind.prefix and (table.binds(line, index) or not has_value):
                own = given if has_value else names
                own[word] = f"{kind.prefix}{counts[kind.prefix]}"
                counts[kind.prefix] += 1
                words.append(own[word])
            elif kind.has_names:
                words.append("".join(word.split()))
            else:
                words.append(names.get(word, VALUE))
        names |= given
        op = PLAIN if table.ops[line.op]["plain"] else line.op
        shapes.append((op, *words, *[f"{LANE}{line.lane}"] * bool(line.lane)))
    return tuple(shapes)


@functools.cache
def in_one_order(shapes: Shape) -> Shape:
    """SHAPES in an order that is the same for programs whose lines differ in their order alone.

    Two lines may change places if they have objects, none of them in common, and no lane.
    """
    lines = list(shapes)
    for end in range(1, len(lines)):
        for at in range(end, 0, -1):
            before, after = lines[at - 1], lines[at]
            if after[0] >= before[0] or not _may_change_places(before, after):
                break
            lines[at - 1:at + 1] = after, before
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for word in (word for _, *words in lines for word in words if _is_object(word)):
        if word not in names:
            names[word] = f"{word[0]}{counts[word[0]]}"
            counts[word[0]] += 1
    return tuple((op, *(names.get(word, word) for word in words)) for op, *words in lines)


def named_in(words: list[str]) -> list[str]:
    """The names among the WORDS of a line in a shape, without objects and values."""
    return [word for word in words if word != VALUE and not _is_object(word)]


def _is_object(word: str) -> bool:
    return word[:1].isalpha() and word[1:].isdigit()


def _may_change_places(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    mine, others = ({word for word in line[1:] if _is_object(word)}
                    for line in (one, other))
    return bool(mine and others) and not mine & others and not any(
        line[-1][:len(LANE)] == LANE for line in (one, other))


def text_of(shapes: Shape) -> str:
    """SHAPES as one line of text."""
    return "; ".join(" ".join(words) for words in shapes)


def shape_anywhere(line: Line, table: Table) -> Shape:
    """The shape of one LINE on any lane."""
    return shape([replace(line, lane=0)], table)


def with_plain_objects(lines: list[Line], table: Table) -> list[Line]:
    """LINES, with the plainest constructor for each object that a line makes from values.

    The minimizer tried these constructors, but the crash moved to another function. Subclasses
    of the prelude, and objects that a value names, stay.
    """
    return [_plainest(line, table) for line in lines]


def _plainest(line: Line, table: Table) -> Line:
    text = table.text(replace(line, lane=0))
    if named(line, table, "") or prelude.has_call(table.snippets, text, table.module):
        return line
    return next((one for one in table.simpler(line) if table.ops[one.op]["plain"]), line)


def named(line: Line, table: Table, prefix: str = "T.") -> list[str]:
    """The operands of LINE that are names and begin with PREFIX.

    By default these are functions of the subject's module, for any op that calls them.
    """
    return [word for index, word in enumerate(line.operands)
            if table.kind(line, index).has_names and word.startswith(prefix)]


def kinds(lines: list[Line], table: Table) -> frozenset[str]:
    """The kinds of the objects that LINES make or fetch, by the letters of their names."""
    return frozenset(word[0] for line in lines if table.gives_object(line)
                     for word in table.bound(line))


def called(line: Line, table: Table) -> str:
    """The function that LINE calls, on any lane; for a line without a call its shape as text."""
    return last_call(table.text(replace(line, lane=0))) or text_of(shape_anywhere(line, table))


def last_call(text: str) -> str:
    """The last function that the line TEXT calls, except calls in arguments.

    A call that makes the context of a `with` is left out, too. Empty if no call has a name.
    """
    (statement,) = ast.parse(text).body
    calls = [call for part in (statement.body if isinstance(statement, ast.With) else [statement])
             for call in _outer_calls(part)]
    if not calls:
        return ""
    last = max(calls, key=lambda call: (call.func.end_lineno, call.func.end_col_offset)).func
    return last.attr if isinstance(last, ast.Attribute) else getattr(last, "id", "")


def _outer_calls(node: ast.AST) -> list[ast.Call]:
    """The calls in NODE, except calls in arguments."""
    if isinstance(node, ast.Call):
        return [node, *_outer_calls(node.func)]
    return [call for child in ast.iter_child_nodes(node) for call in _outer_calls(child)]
