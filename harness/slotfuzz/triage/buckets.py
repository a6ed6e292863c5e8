"""The buckets of a hunt: the finding for each dedup key, and the variants of each finding.

dedup.py makes the keys, and shared.py finds the lines that variants share.
"""

from pathlib import Path

from slotfuzz.finding import finding
from slotfuzz.language.program import Line, Table
from slotfuzz.schema.record import OUTSIDE, DedupKey
from slotfuzz.triage import dedup, shared
from slotfuzz.triage.dedup import Keys


class Buckets:
    """One finding's folder per bucket. Not safe for threads: threads that share it hold a lock."""

    def __init__(self):
        # For each key, the folder of its finding.
        self.folders: dict[DedupKey, Path] = {}
        # The folders of findings that are new since this object was made.
        self._new: set[Path] = set()
        # For each folder, the programs that show its finding, as minimized and as first seen.
        # If several lines of a bucket lead outside of memory, each line has separate variants.
        self.variants: dict[tuple[Path, Keys],
                        tuple[list[list[Line]], list[list[Line]]]] = {}

    def folder(self, keys: Keys) -> Path | None:
        """The folder of the finding whose bucket has one of the KEYS, if a bucket has."""
        same = (folder for key, folder in self.folders.items() if key in keys)
        alike = (folder for known, folder in self.folders.items()
                 if any(dedup.is_same(key, known) for key in keys))
        return next(same, None) or next(alike, None)

    def add(self, folder: Path, keys: Keys, is_new: bool) -> None:
        """Adds KEYS to the bucket of the finding in FOLDER, unless they have a bucket already."""
        self._new |= {folder} if is_new else set()
        for key in keys:
            self.folders.setdefault(key, folder)

    def merge(self, keys: Keys) -> list[str]:
        """Merges findings that were reported separately, but that KEYS shows to be one bug.

        Returns the ids of the findings that were merged into another; their folders are deleted.
        """
        same = list(dict.fromkeys(folder for key, folder in self.folders.items()
                                  if key in keys and folder in self._new))
        if len(same) < 2:
            return []
        kept = finding.merge(same)
        same.remove(kept)
        self._new -= set(same)
        self.folders |= {key: kept for key, folder in self.folders.items() if folder in same}
        for folder, outside in [place for place in self.variants if place[0] in same]:
            mine = self.variants.setdefault((kept, outside), ([], []))
            for known, more in zip(mine, self.variants.pop((folder, outside))):
                known += [lines for lines in more if lines not in known]
        return [folder.name for folder in same]

    def add_variant(
        self, folder: Path, lines: list[Line], met: list[Line], keys: Keys, table: Table,
    ) -> list[str]:
        """Adds the variant LINES, which the hunt first saw as MET, to the finding in FOLDER.

        Returns the programs to steer around: lines that all variants share, and lines that lead
        outside of memory, because any later failure belongs to this finding.
        """
        outside = frozenset(key for key in keys if key.kind == OUTSIDE)
        variants = self.variants.setdefault((folder, outside), ([], []))
        for known, new in zip(variants, (lines, met)):
            known += [new] * (new not in known)
        return [table.program_text(one) for one in [
            *shared.shared(*variants, keys, table),
            *shared.leading_outside(lines, met, outside, table)]]
