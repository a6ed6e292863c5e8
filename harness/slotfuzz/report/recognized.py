"""Which root causes of a baseline the findings of a hunt are, so that a hunt can be counted.

A finding is a root cause of the baseline if a hunt with this baseline would say that it is old: it
shares a dedup key with a finding of the baseline, or has a longer program for the same failure.
"""

import itertools
from dataclasses import dataclass

from slotfuzz.report import TIERS_IN_WORDS, Entry
from slotfuzz.report.causes import Cause, merged
from slotfuzz.schema.record import DedupKey
from slotfuzz.triage import dedup


@dataclass(frozen=True)
class Recognized:
    """CAUSES of the baseline, each with the findings that are one of it, and the OTHERS."""

    causes: list[tuple[Cause, list[Entry]]]
    others: list[Entry]

    def cause_of(self, entry: Entry) -> str:
        """The folder of the root cause that ENTRY is, or an empty string."""
        return next((cause.first.folder.name for cause, entries in self.causes
                     if entry in entries), "")

    @property
    def text(self) -> str:
        """A line for each root cause and each other finding, below their numbers."""
        count = sum(len(entries) for _, entries in self.causes) + len(self.others)
        tiers = ", ".join(
            f"{number} {words}" for tier, words in TIERS_IN_WORDS.items()
            if (number := sum(cause.first.tier == tier for cause, _ in self.causes)))
        lines = [f"{count} findings: {len(self.causes)} root causes of the baseline"
                 f"{f' ({tiers})' if tiers else ''}, and {len(self.others)} findings that it lacks"]
        lines += [f"  {cause.first.folder.name}: {', '.join(one.record.id for one in entries)}:"
                  f" {cause.first.sentence}" for cause, entries in self.causes]
        return "\n".join([*lines, *(f"  not in it: {one.record.id}: {one.sentence}"
                                    for one in self.others)])


def recognized(entries: list[Entry], baseline: list[Entry]) -> Recognized:
    """Sorts ENTRIES by the root causes of BASELINE; both have findings of one subject."""
    causes = merged(baseline)
    at = {key: number for number, cause in enumerate(causes)
          for entry in cause.entries for key in entry.record.dedup_keys}
    found: dict[int, list[Entry]] = {}
    others = []
    for entry in entries:
        number = _number(entry, at)
        (others if number is None else found.setdefault(number, [])).append(entry)
    return Recognized([(causes[number], found[number]) for number in sorted(found)], others)


def _number(entry: Entry, at: dict[DedupKey, int]) -> int | None:
    """The root cause of ENTRY; AT has the number of the cause for each key of the baseline."""
    keys = entry.record.dedup_keys
    equal = (at[key] for key in keys if key in at)
    alike = (number for known, number in at.items()
             if any(dedup.is_same(key, known) for key in keys))
    return next(itertools.chain(equal, alike), None)
