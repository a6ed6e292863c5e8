"""The programs of a comparison of two subjects, what it has counted, and how it is continued."""

import pickle
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slotfuzz.errors import MachineError
from slotfuzz.measure.differences import Difference, Reason


@dataclass
class Drawn:
    """A random program TEXT, its lines that are LEFT, and the REASONS to drop the others."""

    text: str
    left: str
    reasons: set[str] = field(default_factory=set)


@dataclass
class Unexplained:
    """A difference without a reason: the smallest program found, and the PROGRAMS that have it."""

    difference: Difference
    text: str
    programs: list[Drawn]

    def sentence(self) -> str:
        """What differs, and the program."""
        found = self.difference
        return (f"no reason: {found.signature}: line {found.line + 1}, {found.observation}:"
                f" {found.core} on slotcore, {found.torch} on torch\n"
                + "".join(f"    {line}\n" for line in self.text.splitlines()))


@dataclass
class Result:
    """Counts: PROGRAMS that both subjects ran, and of these ALIKE, which show no difference.

    REASONS counts the programs that have a difference with that reason, CRASHED the programs that
    ended torch's process or took it too long, and LINES the lines compared.
    """

    programs: int = 0
    alike: int = 0
    crashed: int = 0
    lines: int = 0
    reasons: Counter = field(default_factory=Counter)
    unexplained: dict[str, Unexplained] = field(default_factory=dict)
    interrupted: bool = False

    def count(self, drawn: Drawn, sign: int = 1) -> None:
        """Adds a program that is compared to its end; takes it back if SIGN is -1."""
        self.programs += sign
        self.lines += sign * len(drawn.left.splitlines())
        self.reasons.update({name: sign for name in drawn.reasons})


@dataclass
class Progress:
    """How far a comparison is: its RESULT, how many BATCHES are drawn, and what is LEFT of them.

    LEFT_OUT and LOOKED_AT are those of the vocabulary, REASONS those that it was counted with.
    """

    result: Result = field(default_factory=Result)
    batches: int = 0
    left: list[Drawn] = field(default_factory=list)
    left_out: dict[str, Difference] = field(default_factory=dict)
    looked_at: list[tuple[Difference | None, Sequence[str]]] = field(default_factory=list)
    reasons: list[Reason] = field(default_factory=list)

    def holds_with(self, reasons: list[Reason]) -> bool:
        """Whether REASONS explain all that they did then: none is gone or narrower."""
        now = {one.name: one for one in reasons}
        return all(one.name in now and now[one.name].covers(one) for one in self.reasons)


class KeptProgress:
    """Keeps the progress of a comparison in FILE, for one of the same MARK that continues it."""

    def __init__(self, file: Path, mark: str):
        self.file, self._mark = file, mark

    def read(self) -> Progress | None:
        """What was kept with this mark; None if nothing was."""
        try:
            mark, progress = pickle.loads(self.file.read_bytes())
        except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError,
                ValueError, TypeError):  # no file, or that of another version
            return None
        return progress if mark == self._mark else None

    def write(self, progress: Progress) -> None:
        """Replaces what was kept. MachineError if that cannot be written."""
        part = self.file.with_suffix(".part")
        try:
            part.write_bytes(pickle.dumps((self._mark, progress)))
            part.replace(self.file)
        except OSError as error:
            raise MachineError(f"cannot write to {part}: {error.strerror}") from error

    def remove(self) -> None:
        """Removes what was kept, when the comparison has ended."""
        self.file.unlink(missing_ok=True)
