"""A C++ file as libclang sees it: cursors, tokens and offsets, which are bytes of the file.

The text is Latin-1, so that an offset of libclang is an index.
"""

import subprocess
from functools import cache, cached_property
from pathlib import Path

from slotfuzz.errors import MachineError
from slotfuzz.subject import build

try:
    from clang import cindex
except ImportError:
    cindex = None

PACKAGE = "python3-clang-19, or python3-clang-14,"
ENCODING = "latin-1"


class Source:
    """The file NAME under ROOT, parsed with the compiler's FLAGS."""

    def __init__(self, root: Path, name: str, flags: list[str]):
        if cindex is None:
            raise MachineError(f"{PACKAGE} is missing: apt-get install it")
        self.name = name
        path = root / name
        self.text = path.read_text(ENCODING)
        options = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
        self.unit = cindex.Index.create().parse(
            str(path), ["-x", "c++", *flags, "-resource-dir", _resources()], options=options)
        wrong = [str(one) for one in self.unit.diagnostics
                 if one.severity >= cindex.Diagnostic.Error]
        if wrong:
            raise MachineError(f"libclang cannot parse {name}: {wrong[0]}")

    def is_here(self, cursor) -> bool:
        """Whether CURSOR is in this file and not in one that it includes."""
        return bool(cindex.conf.lib.clang_Location_isFromMainFile(cursor.location))

    @cached_property
    def top(self) -> list:
        """The declarations of this file itself, and the macros that it expands."""
        return [one for one in self.unit.cursor.get_children() if self.is_here(one)]

    @cached_property
    def macros(self) -> dict[tuple[int, int], str]:
        """The ranges that are expanded macros, with their names."""
        kind = cindex.CursorKind.MACRO_INSTANTIATION
        return {span(one): one.spelling for one in self.top if one.kind == kind}

    @cached_property
    def tokens(self) -> list[tuple[int, int, str]]:
        """All tokens but comments: start, end, and spelling."""
        comment = cindex.TokenKind.COMMENT
        return [(*span(one), one.spelling)
                for one in self.unit.get_tokens(extent=self.unit.cursor.extent)
                if one.kind != comment]

    @cached_property
    def _starts(self) -> dict[int, int]:
        return {start: index for index, (start, _, _) in enumerate(self.tokens)}

    def index_at(self, offset: int) -> int:
        """The index of the first token that starts at OFFSET or later."""
        while offset not in self._starts and offset < len(self.text):
            offset += 1
        return self._starts.get(offset, len(self.tokens))

    def token_at(self, offset: int) -> tuple[int, int, str]:
        """The first token that starts at OFFSET or later; an empty one at the end."""
        index = self.index_at(offset)
        return self.tokens[index] if index < len(self.tokens) else (offset, offset, "")

    def code(self, start: int, end: int) -> str:
        """The tokens from START to END in one line, without comments."""
        words, last = [], start
        for index in range(self.index_at(start), len(self.tokens)):
            first, after, spelling = self.tokens[index]
            if first >= end:
                break
            words += [" "] * (first > last) + [spelling]
            last = after
        return "".join(words).strip()

    def line_code(self, offset: int) -> str:
        """The line of OFFSET without its comment."""
        return self.text.splitlines()[self.line(offset) - 1].partition("//")[0].strip()

    def closing(self, offset: int) -> int:
        """The offset of the bracket that closes the one at OFFSET."""
        depth = 0
        for index in range(self.index_at(offset), len(self.tokens)):
            start, _, spelling = self.tokens[index]
            depth += (spelling in ("(", "{", "[")) - (spelling in (")", "}", "]"))
            if depth == 0:
                return start
        raise MachineError(f"{self.name}: no bracket closes the one at {offset}")

    def line(self, offset: int) -> int:
        """The number of the line of OFFSET."""
        return self.text.count("\n", 0, offset) + 1


def span(cursor) -> tuple[int, int]:
    """The offsets of a cursor or token; of a part of an expanded macro, those of the macro."""
    extent = cursor.extent
    return extent.start.offset, extent.end.offset



@cache
def _resources() -> str:
    """The folder of the compiler's own headers, which libclang would look for beside itself."""
    answer = subprocess.run([build.compiler(), "-print-resource-dir"], capture_output=True,
                            text=True, check=True)
    return answer.stdout.strip()
