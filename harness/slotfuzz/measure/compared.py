"""The programs of a comparison of two subjects, and what it has counted."""

from collections import Counter
from dataclasses import dataclass, field

from slotfuzz.measure.differences import Difference


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
