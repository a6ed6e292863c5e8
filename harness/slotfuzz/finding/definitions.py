"""The definitions of the prelude that a script contains: no more than its program can reach.

A statement is left out if no name leads to it from the program. So is the method of a class whose
name nothing says, and the row of a table whose key nothing says.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from slotfuzz.language import prelude

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Member:
    """NODES of a class or a table, at BEGIN to END of the text in bytes; what says NAME needs it.

    The name of a row is its key in quotes, and that of a method a word.
    """

    name: str
    begin: int
    end: int
    nodes: tuple[ast.AST, ...]


def reached(snippets: list[prelude.Snippet], code: str, module: str) -> str:
    """The statements of SNIPPETS that CODE can reach on MODULE, in their order."""
    names = tuple({name for snippet in snippets for name in snippet.names})
    text, before = _joined(prelude.needed(snippets, code, module)), None
    while text != before:
        before = text
        shorter = prelude.Snippet(names, "", _without_members(text, code))
        text = _joined(prelude.needed([shorter], code, ""))
    return text


def _joined(statements: list[prelude.Statement]) -> str:
    return "\n".join(statement.text for statement in statements)


def _without_members(text: str, code: str) -> str:
    """TEXT without members that neither CODE nor the rest of TEXT names."""
    tree, data = ast.parse(text), text.encode()
    members = [*_methods(tree, data), *_rows(tree, ast.parse(code), data)]
    words = _said_in_text(code) | _said(tree, {
        id(node) for member in members for node in member.nodes})
    left, grown = members, True
    while grown:
        kept = [one for one in left if one.name in words or _is_within(one.name.strip('"'), code)]
        left = [one for one in left if one not in kept]
        words = words.union(*(_said(node, set()) for one in kept for node in one.nodes))
        grown = bool(kept)
    for one in sorted(left, key=lambda one: one.begin, reverse=True):
        data = data[:one.begin] + data[one.end:]
    return data.decode()


def _is_within(key: str, code: str) -> bool:
    """Whether CODE has KEY, which is no word, perhaps within the text of a line for a thread."""
    return not key.isidentifier() and key in code


def _said(tree: ast.AST, passed: set[int]) -> set[str]:
    """What TREE says by names and by texts, but not by those in the nodes PASSED."""
    words: set[str] = set()
    if id(tree) in passed:
        return words
    if isinstance(tree, ast.Name):
        words.add(tree.id)
    elif isinstance(tree, ast.Attribute):
        words.add(tree.attr)
    elif isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        words = {f'"{tree.value}"'} | _said_in_text(tree.value)
    return words.union(*(_said(child, passed) for child in ast.iter_child_nodes(tree)))


def _said_in_text(text: str) -> set[str]:
    words = prelude.WORD.findall(text)
    return {*words, *(f'"{word}"' for word in words)}


def _place(data: bytes, line: int, column: int) -> int:
    return sum(len(one) for one in data.splitlines(keepends=True)[:line - 1]) + column


def _methods(tree: ast.Module, data: bytes) -> Iterator[Member]:
    """Methods that only our code calls: those of classes that have no base of others."""
    own: set[str] = set()
    lines = data.splitlines()
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.keywords or not all(
                isinstance(base, ast.Name) and base.id in own for base in node.bases):
            continue
        own.add(node.name)
        for part in node.body[1:]:  # the first part stays, so that the class is not empty
            if isinstance(part, FUNCTIONS) and not part.name.startswith("__"):
                first = min(one.lineno for one in (part, *part.decorator_list))
                while lines[first - 2].lstrip().startswith(b"#"):
                    first -= 1
                yield Member(part.name, _place(data, first, 0),
                             _place(data, part.end_lineno + 1, 0), (part,))


def _rows(tree: ast.Module, code: ast.Module, data: bytes) -> Iterator[Member]:
    """Rows of dicts that are only asked for single rows."""
    for node in tree.body:
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
                and isinstance(node.targets[0], ast.Name)
                and all(isinstance(key, ast.Constant) and isinstance(key.value, str)
                        for key in node.value.keys)
                and _is_only_asked(node.targets[0].id, tree, code)):
            continue
        keys, values = node.value.keys, node.value.values
        brace = _place(data, node.value.end_lineno, node.value.end_col_offset - 1)
        # Each row with the space behind it, so that no row moves into the comment before it.
        ends = [*(_place(data, key.lineno, key.col_offset) for key in keys), brace]
        for number, (key, value) in enumerate(zip(keys, values)):
            yield Member(f'"{key.value}"', ends[number], ends[number + 1], (key, value))


def _is_only_asked(name: str, *trees: ast.Module) -> bool:
    """Whether TREES bind NAME once, and take nothing but single rows by their keys."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    asked = {id(node.value) for node in nodes
             if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
             or isinstance(node, ast.Attribute) and node.attr == "get"}
    used = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    return sum(id(node) not in asked for node in used) == 1
