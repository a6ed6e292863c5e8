"""What keeps the objects that live on when a program is over: cycles of owners (P5, A4a)."""

from dataclasses import dataclass

# Each word of owners/kept.cc, with what it says of the PART and its OWNERS, and the sentence of the
# contract that excuses it or that it breaks.
WHY = {
    "shared": ("A4a", "{owners} own {part} together, so none of them reports it to the collector"),
    "owns itself": ("A4a", "{part} owns itself in C++"),
    "hidden": ("P2", "C++ owns {part}, to which Python refers, so it hides its references"),
    "collectable": ("P5", "one wrapper alone owns each part, so the collector must free {part}"),
    "C++ alone": ("P5", "{part} owns itself in C++ by no link that a program makes"),
    "unlisted": ("P5", "{part} has an owner that the subject does not list; it lists {owners}"),
}
NOBODY = "nobody"


@dataclass(frozen=True)
class Owner:
    """An owner called NAME, which refers to the next one by LINK."""

    name: str
    link: str


@dataclass(frozen=True)
class Kept:
    """A cycle that keeps objects: WHY is a word of the list above, about PART and its OWNERS.

    EXCUSED: the contract lets it stay. The last owner of the CYCLE refers to the first.
    """

    why: str
    excused: bool
    part: str
    owners: tuple[str, ...]
    cycle: tuple[Owner, ...]

    @property
    def path(self) -> str:
        """The cycle as `t0 -> .grad -> t1 -> .grad -> t0`, or an empty string."""
        if not self.cycle:
            return ""
        words = [word for one in self.cycle for word in (one.name, one.link) if word]
        return " -> ".join([*words, self.cycle[0].name])

    @property
    def reason(self) -> str:
        """Why the collector leaves it, or why that is a leak."""
        owners = " and ".join(self.owners) or NOBODY
        return WHY[self.why][1].format(part=self.part, owners=owners)

    @property
    def text(self) -> str:
        """The cycle, who excuses it, and why."""
        number = WHY[self.why][0]
        judged = f"{number} excuses it" if self.excused else f"{number} does not excuse it"
        return f"{self.path}; {judged}: {self.reason}".removeprefix("; ")
