"""Names of variables: those that Python takes, and those that a restoring script uses itself."""

import ast
import keyword
import unicodedata
from collections.abc import Set

# What the lines that make tensors mention, beside variables and helper functions.
MENTIONED = frozenset(("torch", "base64", "os", "zlib", "bytes", "bytearray", "open", "hasattr",
                       "staticmethod"))


def wrong(name: str) -> str:
    """Why no variable has this NAME; an empty string if one can."""
    if not name.isidentifier() or keyword.iskeyword(name) or name == "__debug__":
        return "is no name of a variable"
    known = unicodedata.normalize("NFKC", name)
    return "" if known == name else f"is read as `{known}` by Python"


def free(name: str, taken: Set[str]) -> str:
    """NAME, or a longer one that is not TAKEN."""
    while name in taken:
        name += "_"
    return name


def read_by(expression: str) -> set[str]:
    """The names that an EXPRESSION mentions."""
    return {one.id for one in ast.walk(ast.parse(expression)) if isinstance(one, ast.Name)}
