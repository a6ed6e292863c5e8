"""The snippets of the prelude: definitions of the names that program lines may call.

The engine sends them with the effects of each name. A script contains the snippets that its lines
need, directly or through other snippets.
"""

import ast
import re
from dataclasses import dataclass
from functools import cached_property

WORD = re.compile(r"[A-Za-z_]\w*")
PRIVATE = re.compile(r"_(?!_)")


@dataclass(frozen=True)
class Snippet:
    """TEXT defines NAMES. It is for MODULE only, unless that is empty."""

    names: tuple[str, ...]
    module: str
    sentence: str
    text: str

    @cached_property
    def is_private(self) -> bool:
        """Whether the code uses an attribute whose name begins with one underscore."""
        return any(isinstance(node, ast.Attribute) and PRIVATE.match(node.attr)
                   for node in ast.walk(ast.parse(self.text)))

    def words(self) -> set[str]:
        """Every name that the code may call, also in an f-string: not attributes."""
        return {node.id for node in ast.walk(ast.parse(self.text)) if isinstance(node, ast.Name)}


def snippets_of(description: dict) -> list[Snippet]:
    """The snippets that the engine describes, in order."""
    return [Snippet(tuple(one["names"]), one["module"], one["sentence"], one["text"])
            for one in description["prelude"]]


def has_call(snippets: list[Snippet], code: str, module: str) -> bool:
    """Whether CODE itself uses a snippet on MODULE."""
    words = set(WORD.findall(code))
    return any(words & set(snippet.names) for snippet in snippets
               if snippet.module in ("", module))


def needed(snippets: list[Snippet], code: str, module: str) -> list[Snippet]:
    """The snippets that CODE needs on MODULE, also through others, in the prelude's order."""
    usable = [snippet for snippet in snippets if snippet.module in ("", module)]
    words = set(WORD.findall(code))
    chosen: set[Snippet] = set()
    grown = True
    while grown:
        grown = False
        for snippet in usable:
            if snippet not in chosen and words & set(snippet.names):
                chosen.add(snippet)
                words |= snippet.words()
                grown = True
    return [snippet for snippet in usable if snippet in chosen]
