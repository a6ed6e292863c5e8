"""Writes all edits of a file into its text, each with the number of its mutant."""

from dataclasses import dataclass

from slotfuzz.mutation.site import CHOSEN, Edit


@dataclass(frozen=True)
class Written:
    """The mutated text, and where each mutant stands in it.

    OWN has the ranges that a mutant's edit has added, WHOLE the range with what it wraps.
    """

    text: str
    own: list[tuple[int, int, int]]
    whole: list[tuple[int, int, int]]

    def at(self, offset: int) -> set[int]:
        """The mutants to blame for an error at OFFSET: those that wrote there, else the innermost
        one around it, else those that wrote into its line."""
        found = {number for start, end, number in self.own if start <= offset < end}
        around = sorted((end - start, number) for start, end, number in self.whole
                        if start <= offset <= end)
        first, last = self.text.rfind("\n", 0, offset), self.text.find("\n", offset)
        return (found or {number for _, number in around[:1]}
                or {number for start, _, number in self.own if first < start < last})


def write(text: str, edits: dict[int, Edit]) -> Written:
    """TEXT with EDITS, which are keyed by the numbers of their mutants.

    Two edits nest or are apart. Of two with the same range the first one is the outer one.
    """
    opens: dict[int, list] = {}
    closes: dict[int, list] = {}
    gone: list[tuple[int, int]] = []
    order = sorted(edits.items(), key=lambda one: (one[1].start, -one[1].end))
    for number, edit in order:
        opens.setdefault(edit.start, []).append((number, edit.before))
        closes.setdefault(edit.end, []).insert(0, (number, edit.after))
        first, last = edit.kept
        gone += [(edit.start, first), (last, edit.end)]
    parts, length = [], 0
    own, begun, whole = [], {}, []

    def add(words: str, number: int | None = None) -> None:
        nonlocal length
        if number is not None:
            words = words.replace("{chosen}", f"{CHOSEN}({number})")
            own.append((length, length + len(words), number))
        parts.append(words)
        length += len(words)

    def close(number: int, after: str) -> None:
        add(after, number)
        whole.append((begun[number], length, number))

    at = 0
    for offset in sorted({*opens, *closes, *(start for start, _ in gone),
                          *(end for _, end in gone), len(text)}):
        if not any(start <= at and offset <= end for start, end in gone if start < end):
            add(text[at:offset])
        at = offset
        empty = [number for number, _ in opens.get(offset, ())
                 if edits[number].start == edits[number].end]
        for number, after in closes.get(offset, ()):
            if number not in empty:
                close(number, after)
        for number, before in opens.get(offset, ()):
            begun[number] = length
            add(before, number)
            if number in empty:
                close(number, edits[number].after)
    return Written("".join(parts), own, whole)
