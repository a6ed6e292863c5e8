"""Root causes: merges findings of several releases or hunts that are one bug.

A hunt has already separated the findings within a folder. Two findings of different folders have
one root cause if a person gave both the same sentence, and two if a person gave them two. Without a
person's word they are one if they share a dedup key and no run contradicts this: at least one of
the two scripts fails in the other's release, as far as a run tried it there.
"""

import itertools
from dataclasses import dataclass
from functools import cached_property

from slotfuzz.report import Entry
from slotfuzz.schema.record import DedupKey


@dataclass(frozen=True)
class Cause:
    """One bug with its findings in ENTRIES, most severe first."""

    entries: tuple[Entry, ...]

    @property
    def first(self) -> Entry:
        """The finding that represents all."""
        return self.entries[0]

    @cached_property
    def fails_in(self) -> dict[str, bool]:
        """Releases or subjects that runs tried, and whether any of its scripts fails there."""
        fails_in: dict[str, bool] = {}
        for entry in self.entries:
            for release, fails in {**entry.record.fails_in, place(entry): True}.items():
                fails_in[release] = fails_in.get(release, False) or fails
        return fails_in


def place(entry: Entry) -> str:
    """The place of a finding: the release of PyTorch, or the subject."""
    return entry.release or entry.record.subject


def merged(entries: list[Entry]) -> list[Cause]:
    """Merges ENTRIES into root causes; both are sorted, most severe first."""
    cause_of = {id(entry): [entry] for entry in entries}
    by_key: dict[tuple[str, DedupKey | str], list[Entry]] = {}
    for entry in entries:
        said = entry.record.sentence
        for key in [*entry.record.dedup_keys, *([said] if said else [])]:
            by_key.setdefault((entry.record.subject, key), []).append(entry)
    for alike in by_key.values():
        for one, other in itertools.combinations(alike, 2):
            mine, others = cause_of[id(one)], cause_of[id(other)]
            if mine is not others and _are_one(one, other):
                mine += others
                cause_of |= {id(entry): mine for entry in others}
    causes = {id(cause): cause for cause in cause_of.values()}
    ranked = [Cause(tuple(sorted(cause, key=lambda entry: entry.rank)))
              for cause in causes.values()]
    return sorted(ranked, key=lambda cause: cause.first.rank)


def _are_one(one: Entry, other: Entry) -> bool:
    if one.folder.parent == other.folder.parent:
        return False
    if one.record.sentence and other.record.sentence:
        return one.record.sentence == other.record.sentence
    return _may_fail(one, place(other)) or _may_fail(other, place(one))


def _may_fail(entry: Entry, where: str) -> bool:
    return entry.record.fails_in.get(where, True)
