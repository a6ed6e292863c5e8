"""What of a minimal program tells a bug from others: its lines without values, and its effects."""

import ast
from dataclasses import replace

from slotfuzz.language import prelude
from slotfuzz.language.program import Line, Table

# In a shape, what makes an object in the plainest way of its kind.
PLAIN = "make"
# The effects that are a mechanism by which a promise breaks, or something is left dangling. Some
# are two sides of one.
MECHANISMS = frozenset(["collects", "in_hermetic", "finalizes", "calls_back", "swaps", "locks",
                        "enters_interpreter", "starts_thread"])
SAME = {"enters_hermetic": "in_hermetic", "takes_resurrected": "finalizes"}
ON_ANOTHER_LANE = "starts_thread"


def effects(lines: list[Line], table: Table) -> frozenset[str]:
    """The effects of all LINES."""
    found = {ON_ANOTHER_LANE for line in lines if line.lane}
    return frozenset(found.union(*(table.line_effects(line) for line in lines)))


def mechanisms(lines: list[Line], table: Table) -> frozenset[str]:
    """The MECHANISMS among the effects of LINES."""
    return frozenset(SAME.get(one, one) for one in effects(lines, table)) & MECHANISMS


def shape(lines: list[Line], table: Table) -> tuple[tuple[str, ...], ...]:
    """LINES as op names and variables numbered as they come; values do not matter."""
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    shapes = []
    for line in lines:
        for index, word in enumerate(line.operands):
            kind = table.kind(line, index)
            if kind.prefix and word not in names:
                names[word] = f"{kind.prefix}{counts.get(kind.prefix, 0)}"
                counts[kind.prefix] = counts.get(kind.prefix, 0) + 1
            elif kind.has_names:
                names[word] = "".join(word.split())
        op = PLAIN if table.ops[line.op]["plain"] else line.op
        operands = [names.get(word, "_") for word in line.operands]
        shapes.append((op, *operands, *[f"lane{line.lane}"] * bool(line.lane)))
    return tuple(shapes)


def text_of(shapes: tuple[tuple[str, ...], ...]) -> str:
    """SHAPES as one line of text."""
    return "; ".join(" ".join(words) for words in shapes)


def shape_anywhere(line: Line, table: Table) -> tuple[tuple[str, ...], ...]:
    """The shape of one LINE, whichever lane it runs on."""
    return shape([replace(line, lane=0)], table)


def with_plain_objects(lines: list[Line], table: Table) -> list[Line]:
    """LINES, each of which that makes one of the subject's own objects from values made plainest.

    The minimizer has tried those, but for a crash in another function. A subclass of the prelude is
    another thing, and so is what a value names.
    """
    return [_plainest(line, table) for line in lines]


def _plainest(line: Line, table: Table) -> Line:
    text = table.text(replace(line, lane=0))
    if named(line, table, "") or prelude.has_call(table.snippets, text, table.module):
        return line
    return next((one for one in table.simpler(line) if table.ops[one.op]["plain"]), line)


def named(line: Line, table: Table, prefix: str = "T.") -> list[str]:
    """The operands of LINE that are names of what it uses, of those that begin with PREFIX.

    By default the functions of the subject's module, whichever op calls them.
    """
    return [word for index, word in enumerate(line.operands)
            if table.kind(line, index).has_names and word.startswith(prefix)]


def kinds(lines: list[Line], table: Table) -> frozenset[str]:
    """The kinds of the objects that LINES make or ask for, by the letters of their names."""
    return frozenset(word[0] for line in lines if table.gives_object(line)
                     for word in table.bound(line))


def called(line: Line, table: Table) -> str:
    """The function that LINE calls, on any lane; the shape of a line without a call, as text."""
    return last_call(table.text(replace(line, lane=0))) or text_of(shape_anywhere(line, table))


def last_call(text: str) -> str:
    """The last function that is called in the line TEXT, but for those that give an argument.

    Nor is it what gives a context that TEXT runs in. An empty string if there is none, or it has no
    name.
    """
    (statement,) = ast.parse(text).body
    calls = [call for part in (statement.body if isinstance(statement, ast.With) else [statement])
             for call in _outer_calls(part)]
    if not calls:
        return ""
    last = max(calls, key=lambda call: (call.func.end_lineno, call.func.end_col_offset)).func
    return last.attr if isinstance(last, ast.Attribute) else getattr(last, "id", "")


def _outer_calls(node: ast.AST) -> list[ast.Call]:
    """The calls in NODE, without those in arguments."""
    if isinstance(node, ast.Call):
        return [node, *_outer_calls(node.func)]
    return [call for child in ast.iter_child_nodes(node) for call in _outer_calls(child)]
