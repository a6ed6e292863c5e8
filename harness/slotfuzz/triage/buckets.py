"""The groups that a hunt knows: which finding a key belongs to, and the ways that were met to each.

dedup.py says what the keys are, and shared.py what ways share.
"""

from pathlib import Path

from slotfuzz.finding import finding
from slotfuzz.language.program import Line, Table
from slotfuzz.schema.record import OUTSIDE, DedupKey
from slotfuzz.triage import dedup, shared
from slotfuzz.triage.dedup import Keys


class Groups:
    """One finding's folder per group. Not safe for threads: whoever shares it holds a lock."""

    def __init__(self):
        # The folder of the finding that a key belongs to.
        self.folders: dict[DedupKey, Path] = {}
        # Those of findings that are new since this was made.
        self._new: set[Path] = set()
        # Minimal programs that show the finding in a folder, and those as they were met.
        # Of a group of several lines that lead outside of memory, the ways with each line.
        self.ways: dict[tuple[Path, Keys],
                        tuple[list[list[Line]], list[list[Line]]]] = {}

    def folder(self, keys: Keys) -> Path | None:
        """The finding whose group one of the KEYS is of, if it is known."""
        same = (folder for key, folder in self.folders.items() if key in keys)
        alike = (folder for known, folder in self.folders.items()
                 if any(dedup.is_same(key, known) for key in keys))
        return next(same, None) or next(alike, None)

    def add(self, folder: Path, keys: Keys, is_new: bool) -> None:
        """Makes KEYS known as those of the finding in FOLDER, but for what is known already."""
        self._new |= {folder} if is_new else set()
        for key in keys:
            self.folders.setdefault(key, folder)

    def merge(self, keys: Keys) -> list[str]:
        """The ids of findings that were told as bugs of their own, and that KEYS shows to be one.

        They are of the group of another one that was told; their folders are gone.
        """
        same = list(dict.fromkeys(folder for key, folder in self.folders.items()
                                  if key in keys and folder in self._new))
        if len(same) < 2:
            return []
        kept = finding.merge(same)
        same.remove(kept)
        self._new -= set(same)
        self.folders |= {key: kept for key, folder in self.folders.items() if folder in same}
        for folder, outside in [place for place in self.ways if place[0] in same]:
            mine = self.ways.setdefault((kept, outside), ([], []))
            for known, more in zip(mine, self.ways.pop((folder, outside))):
                known += [lines for lines in more if lines not in known]
        return [folder.name for folder in same]

    def add_way(
        self, folder: Path, lines: list[Line], met: list[Line], keys: Keys, table: Table,
    ) -> list[str]:
        """Notes LINES, which were MET in another form, as one more way to show what is in FOLDER.

        The programs to steer around because all ways share them, and since whatever goes on from
        outside of memory is this finding.
        """
        outside = frozenset(key for key in keys if key.kind == OUTSIDE)
        ways = self.ways.setdefault((folder, outside), ([], []))
        for known, new in zip(ways, (lines, met)):
            known += [new] * (new not in known)
        return [table.program_text(one) for one in [
            *shared.shared(*ways, keys, table),
            *shared.leading_outside(lines, met, outside, table)]]
