"""A site: one place of the core where a rule makes one mutant, and the edit that does it.

An edit wraps a range of the text, so that edits nest: a mutant of a whole statement and mutants of
its parts are in one build, and at most one of them is chosen when a process starts.
"""

import hashlib
import re
from dataclasses import dataclass

# The function that says whether mutant N was chosen (harness/slotfuzz/mutation/chosen.h).
CHOSEN = "::slotfuzz_mutation::chosen"


@dataclass(frozen=True)
class Edit:
    """Replaces text[start:end] by BEFORE text[keep[0]:keep[1]] AFTER; N stands for the number.

    Without KEEP the whole range stays.
    """

    start: int
    end: int
    before: str
    after: str = ""
    keep: tuple[int, int] | None = None

    @property
    def kept(self) -> tuple[int, int]:
        """The part of the text that stays."""
        return self.keep or (self.start, self.end)


@dataclass(frozen=True)
class Site:
    """FILE from the checkout's root, the FUNCTION, the rule, and the CODE that it changes."""

    file: str
    line: int
    function: str
    rule: str
    code: str
    edit: Edit
    again: int = 1

    @property
    def name(self) -> str:
        """A name that stays while the code of the site does, wherever it moves in its function."""
        again = f".{self.again}" if self.again > 1 else ""
        return f"{self.file}:{self.function}:{self.rule}:{code_mark(self.code)}{again}"


def code_mark(code: str) -> str:
    """Six digits that stand for CODE, whatever its line breaks."""
    return hashlib.sha256(one_line(code).encode()).hexdigest()[:6]


def one_line(code: str) -> str:
    """CODE with each run of blanks as one."""
    return re.sub(r"\s+", " ", code).strip()
