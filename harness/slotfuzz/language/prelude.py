"""The snippets of harness/engine/prelude/storage.py: what program lines may call.

A snippet begins with `#: names: sentence`, or `#: names [module]: sentence` when it is for one
module only. A script prints the snippets that its lines use, and those that these use.
"""

import io
import re
import tokenize
from dataclasses import dataclass

MARKER = re.compile(r"^#: ([\w, ]+?)(?: \[(\w+)\])?: (.*)$")
WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Snippet:
    """Defines NAMES by TEXT; for MODULE only, if that is not empty."""

    names: tuple[str, ...]
    module: str
    sentence: str
    text: str

    def words(self) -> set[str]:
        """Every name in the code: what comments, texts and attributes say calls nothing."""
        tokens = list(tokenize.generate_tokens(io.StringIO(self.text + "\n").readline))
        return {token.string for before, token in zip([tokens[-1], *tokens], tokens)
                if token.type == tokenize.NAME and before.string != "."}


def parse(prelude: str) -> list[Snippet]:
    """The snippets of a prelude, in order. What comes before the first marker is not a snippet."""
    snippets, head, body = [], None, []
    for line in [*prelude.splitlines(), "#: end: of the last snippet"]:
        match = MARKER.match(line)
        if not match:
            body.append(line)
            continue
        if head:
            names = tuple(name.strip() for name in head[1].split(","))
            text = "\n".join(body).strip("\n")
            snippets.append(Snippet(names, head[2] or "", head[3], text))
        head, body = match, []
    return snippets


def needed(snippets: list[Snippet], code: str, module: str) -> list[Snippet]:
    """The snippets that CODE uses on MODULE, with all that those use, in the prelude's order."""
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
