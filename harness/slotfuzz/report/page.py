"""The page of a campaign: one HTML file without references to other files."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import jinja2
from markupsafe import Markup

from slotfuzz.finding import explain
from slotfuzz.finding.contract import contract_text
from slotfuzz.paths import shown
from slotfuzz.report import Entry, Found, TIERS_IN_WORDS, hunts
from slotfuzz.report.causes import Cause, merged
from slotfuzz.report.markdown import version_key
from slotfuzz.report.notes import inline, notes, timeline

TEMPLATES = Path(__file__).parent / "templates"
# The value in a filter for findings without a contract number.
NO_CONTRACT = "none"
TIER_WORDS = {"public": "public", "underscore": "underscore", "odd": "odd values"}


@dataclass(frozen=True)
class Filter:
    """One choice above the list: NAME is the row's data, CHOICES are (value, words, count)."""

    name: str
    label: str
    every: str
    choices: list[tuple[str, str, int]]


@dataclass
class Part:
    """A finding within the row of its root cause."""

    entry: Entry
    place: str
    picture: Markup | None
    notes: Markup


@dataclass
class Row:
    """A root cause as a row of the page; NAME is the anchor."""

    cause: Cause
    name: str
    parts: list[Part]

    @property
    def first(self) -> Entry:
        """The finding that represents it."""
        return self.cause.first

    @cached_property
    def contract(self) -> str:
        """The number of the contract's sentence, or NO_CONTRACT."""
        return self.first.record.contract or NO_CONTRACT

    @property
    def tier_sentence(self) -> str:
        """The API tier that its script needs, as the beginning of a sentence."""
        words = TIERS_IN_WORDS[self.first.tier]
        return words[0].upper() + words[1:]

    @property
    def fails_in(self) -> list[str]:
        """The places where it fails."""
        return [where for where, fails in self.cause.fails_in.items() if fails]


class _Page:
    """Collects the template's values, and the unreadable files."""

    def __init__(self, found: Found):
        self.found = found
        self.unreadable = list(found.unreadable)
        self._names: set[str] = set()
        self.rows = [self._row(cause) for cause in merged(found.entries)]
        self.unreproduced = [self._part(entry) for entry in found.unreproduced]

    def _row(self, cause: Cause) -> Row:
        name = "cause-" + re.sub(r"[^\w.-]+", "-", cause.first.record.id)
        while name in self._names:
            name += "-more"
        self._names.add(name)
        return Row(cause, name, [self._part(entry) for entry in cause.entries])

    def _part(self, entry: Entry) -> Part:
        picture, path = None, entry.folder / explain.PICTURE
        if path.exists():
            try:
                picture = timeline(path.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                place = str(entry.folder.relative_to(self.found.root))
                self.unreadable.append((place, str(error)))
        where = entry.release or entry.record.subject
        return Part(entry, where, picture, notes(entry.notes))

    @cached_property
    def releases(self) -> set[str]:
        """The releases of PyTorch in which a run tried any finding."""
        return {where for row in self.rows if row.first.release for where in row.cause.fails_in}

    @cached_property
    def places(self) -> list[str]:
        """The places of all runs: subjects first, then releases, oldest first."""
        tried = {where for row in self.rows for where in row.cause.fails_in}
        return sorted(tried, key=lambda where: (
            (1, version_key(where), where) if where in self.releases else (0, [], where)))

    def filters(self) -> list[Filter]:
        """The filters above the list."""
        places = Counter(where for row in self.rows for where in row.fails_in)
        contracts = Counter(row.contract for row in self.rows)
        oracles = Counter(row.first.record.oracle for row in self.rows)
        tiers = Counter(row.first.tier for row in self.rows)
        return [
            Filter("release", "Fails in", "anywhere",
                   [(where, where, places[where]) for where in self.places if places[where]]),
            Filter("contract", "Contract", "any",
                   [(one, "no sentence" if one == NO_CONTRACT else one, count)
                    for one, count in sorted(contracts.items())]),
            Filter("oracle", "Oracle", "any",
                   [(one, one, count) for one, count in sorted(oracles.items())]),
            Filter("tier", "API tier", "any",
                   [(one, TIER_WORDS[one], tiers[one]) for one in TIERS_IN_WORDS if tiers[one]]),
        ]

    def by_place(self) -> list[tuple[str, dict[str, int]]]:
        """(place, number of root causes that fail there, by tier) for the summary."""
        return [(where, {tier: sum(where in row.fails_in and row.first.tier == tier
                                   for row in self.rows) for tier in TIERS_IN_WORDS})
                for where in self.places]

    def tiers(self) -> list[tuple[str, str, int]]:
        """(tier, words, number of root causes) for the summary."""
        counts = Counter(row.first.tier for row in self.rows)
        return [(one, words, counts[one]) for one, words in TIERS_IN_WORDS.items()]


def page(found: Found) -> tuple[str, list[tuple[str, str]]]:
    """The page, and a list of what was unreadable: (path below the root, reason)."""
    made = _Page(found)
    reader = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), trim_blocks=True, lstrip_blocks=True,
        autoescape=lambda name: name.endswith(".html"), undefined=jinja2.StrictUndefined)
    reader.filters |= {"inline": inline, "duration": hunts.duration, "count": "{:,}".format}
    drawn = hunts.shown(found.hunts)
    anchors = {part.entry.record.id: row.name for row in made.rows for part in row.parts}
    text = reader.get_template("page.html").render(
        name=found.root.name, root=shown(found.root), found_root=found.root, entries=found.entries,
        rows=made.rows, places=made.places, releases=made.releases, filters=made.filters(),
        tiers=made.tiers(), tier_words=TIER_WORDS, by_place=made.by_place(), hunts=drawn,
        totals=hunts.totals(drawn), shares=hunts.shares, charts_max=hunts.CHARTS_MAX,
        anchors=anchors, unreproduced=made.unreproduced, unreadable=made.unreadable,
        contract_text=_contract_text)
    # The name of a folder may be invalid UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8"), made.unreadable


def _contract_text(number: str) -> str:
    """The contract sentence without its Markdown."""
    return re.sub(r"\*", "", contract_text(number))
