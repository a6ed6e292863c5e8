"""The snippets of the prelude: definitions of the names that program lines may call.

The engine sends them with the effects of each name. A script contains the statements of them that
its lines need, directly or through other statements.
"""

import ast
import re
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

WORD = re.compile(r"[A-Za-z_]\w*")
# A text that is one word names a row of a table; a longer one may be a line for another thread.
ONE_WORD = re.compile(r"(['\"])\w+\1")
PRIVATE = re.compile(r"_(?!_)")


@dataclass(frozen=True)
class Statement:
    """TEXT is a statement of a snippet, with the comment before it."""

    text: str

    @cached_property
    def is_private(self) -> bool:
        """Whether the code uses an attribute whose name begins with one underscore."""
        return any(isinstance(node, ast.Attribute) and PRIVATE.match(node.attr)
                   for node in ast.walk(ast.parse(self.text)))

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that it binds."""
        table = symtable.symtable(self.text, "snippet", "exec")
        return frozenset(one.get_name() for one in table.get_symbols()
                         if one.is_assigned() or one.is_imported())

    @cached_property
    def acts(self) -> bool:
        """Whether it does more than bind names: it binds none, or a decorator gets what it makes.
        """
        body = ast.parse(self.text).body
        return not self.bound or any(getattr(node, "decorator_list", ()) for node in body)

    @cached_property
    def read(self) -> frozenset[str]:
        """The names that it, and a function in it, takes from no scope of its own.

        A call's argument that is a text of several lines is code, so its words are names, too.
        """
        texts = (one.value for node in ast.walk(ast.parse(self.text)) if isinstance(node, ast.Call)
                 for one in node.args if isinstance(one, ast.Constant))
        code = (text for text in texts if isinstance(text, str) and "\n" in text)
        return frozenset(_read(symtable.symtable(self.text, "snippet", "exec"))).union(
            *map(WORD.findall, code))


@dataclass(frozen=True)
class Snippet:
    """TEXT defines NAMES for lines and other snippets. It is for MODULE only, unless that is empty.
    """

    names: tuple[str, ...]
    module: str
    text: str

    @cached_property
    def statements(self) -> list[Statement]:
        """TEXT in parts."""
        lines = self.text.splitlines()
        ends = [node.end_lineno for node in ast.parse(self.text).body]
        return [Statement("\n".join(lines[begin:end])) for begin, end in zip([0, *ends], ends)]

    def binding(self, name: str) -> list[Statement]:
        """The statements that bind NAME, and those that act on what others bind."""
        if not any(name in one.bound for one in self.statements):
            return []
        return [one for one in self.statements if name in one.bound or one.acts]


def snippets_of(description: dict) -> list[Snippet]:
    """The snippets that the engine describes, in order."""
    return [Snippet(tuple(one["names"]), one["module"], one["text"])
            for one in description["prelude"]]


def has_call(snippets: list[Snippet], code: str, module: str) -> bool:
    """Whether CODE itself uses a snippet on MODULE."""
    words = set(WORD.findall(code))
    return any(words & set(snippet.names) for snippet in snippets
               if snippet.module in ("", module))


def needed(snippets: list[Snippet], code: str, module: str) -> list[Statement]:
    """The statements that CODE needs on MODULE, also through others, in the prelude's order."""
    usable = [snippet for snippet in snippets if snippet.module in ("", module)]
    owners: dict[str, list[Snippet]] = {}
    for snippet in usable:
        for name in snippet.names:
            owners.setdefault(name, []).append(snippet)
    chosen: set[Statement] = set()
    words = set(WORD.findall(ONE_WORD.sub("", code)))
    left = [found for word in words for found in _binding(owners, word)]
    while left:
        owner, statement = left.pop()
        if statement in chosen:
            continue
        chosen.add(statement)
        for name in statement.read:
            own = [(owner, one) for one in owner.binding(name)]
            left += own or _binding(owners, name)
    statements = (one for snippet in usable for one in snippet.statements if one in chosen)
    return list(dict.fromkeys(statements))


def _binding(owners: dict[str, list[Snippet]], name: str) -> list[tuple[Snippet, Statement]]:
    """The statements that bind NAME, with their snippets, if lines may use it."""
    return [(owner, statement) for owner in owners.get(name, ())
            for statement in owner.binding(name)]


def _read(table: symtable.SymbolTable) -> Iterator[str]:
    is_top = table.get_type() == "module"
    for symbol in table.get_symbols():
        is_used = symbol.is_referenced() or symbol.is_declared_global()
        if is_used and (is_top or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _read(child)
