"""The function that `hunt --function FILE.py:NAME` tests: a user's file, and a name in it."""

import sys
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.errors import UserError

# The key under which a finding's versions have the function.
KEY = "function"
OWN_NAMES = ("repro",)


@dataclass(frozen=True)
class TestedFunction:
    """The custom Function, or the callable that takes tensors, called NAME in FILE."""

    file: Path
    name: str

    def __str__(self):
        return f"{self.file.name}:{self.name}"

    def flags(self) -> list[str]:
        """The flags of a target's binary that define it as `tested`."""
        return [f"--path={self.file.parent}",
                f"--snippets=#: tested: the function under test, of {self.file.name}\n"
                f"from {self.file.stem} import {self.name} as tested\n"
                "tested = getattr(tested, 'apply', tested)"]

    def files(self) -> dict[str, str]:
        """The text of its file by name: a script imports the copy beside it."""
        return {self.file.name: self.file.read_text()}


def read(text: str, folder: Path | None = None) -> TestedFunction:
    """The function that TEXT, FILE.py:NAME, names; FILE is relative to FOLDER, if that is given."""
    path, _, name = text.rpartition(":")
    file = (Path(folder or "") / path).absolute()
    if not path.endswith(".py") or not name.isidentifier():
        raise UserError(f"--function takes FILE.py:NAME, such as mine.py:MyFunction, not {text!r}")
    if not file.is_file():
        raise UserError(f"--function {text}: no such file: {file}")
    if not file.stem.isidentifier():
        raise UserError(f"--function {text}: Python cannot import a file called {file.name}")
    if file.stem in sys.stdlib_module_names or file.stem in OWN_NAMES:
        raise UserError(f"--function {text}: rename {file.name}; another file or module that a"
                        " script needs has this name")
    return TestedFunction(file, name)
