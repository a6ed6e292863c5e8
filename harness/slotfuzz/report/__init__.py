"""Collects a campaign: the findings in a folder at any depth, and the unreadable ones.

The folders of findings and campaign.jsonl are the only sources. A person adds to finding.json:
`sentence`, `why` it is a bug, `known_as` (its number in a list of known bugs), and `reach`, a tier
to report instead of the record's; for issue.md `user_script`, `expected`, `cause` and `reports`
(what exists on it). `ci/torch_releases.sh` adds `fails_in` (release to whether it failed there) and
`user_ends` (release to how the user's script ended).
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from slotfuzz.errors import UserError
from slotfuzz.finding import finding
from slotfuzz.hunt import series
from slotfuzz.schema.answers import JUDGE_KINDS
from slotfuzz.schema.record import Finding
from slotfuzz.subject import registry

# The tiers of the API that a script needs, most severe first.
TIERS_IN_WORDS = {
    "public": "through public API alone",
    "underscore": "through API whose name begins with an underscore, or a flag of its C++",
    "odd": "through odd values that should raise",
}


@dataclass(frozen=True)
class Entry:
    """One finding: its FOLDER, RECORD, the lines of its PROGRAM, its SCRIPT, and its NOTES."""

    folder: Path
    record: Finding
    program: tuple[str, ...]
    script: str
    notes: str

    @cached_property
    def release(self) -> str:
        """The release of its subject, by its folder; empty for a subject in the source tree."""
        said = registry.release_in(self.record.subject, self.record.versions)
        named = self.folder.parent.name.removeprefix(f"{self.record.subject}-")
        return named if said and named != self.folder.parent.name else said

    @cached_property
    def tier(self) -> str:
        """The key of TIERS_IN_WORDS: a person's choice, or else the record's."""
        said = (self.record.reach, self.record.tier, *TIERS_IN_WORDS)
        return next(tier for tier in said if tier in TIERS_IN_WORDS)

    @cached_property
    def rank(self) -> tuple:
        """Sort key, most severe first: tier, crashes before wrong results, shortest program."""
        wrong = self.record.oracle in (*JUDGE_KINDS, "contract")
        return (list(TIERS_IN_WORDS).index(self.tier), wrong, self.record.lines, self.record.id)

    @cached_property
    def sentence(self) -> str:
        """One sentence about the bug: a person's, or else the title."""
        return self.record.sentence or self.record.title or self.record.signature

    @cached_property
    def severity(self) -> str:
        """What a user sees."""
        record = self.record
        if record.oracle == "signal":
            return "crash"
        if record.contract == "P5":
            return "leak"
        if "INTERNAL ASSERT FAILED" in record.signature:
            return "internal assertion"
        return "wrong error" if record.kind == "SystemError" else "wrong result"

    @property
    def rate(self) -> str:
        """The failure rate in fresh processes, in words."""
        record = self.record
        runs = "?" if record.verified_runs is None else record.verified_runs
        return f"{record.rate:.0%} of {runs} fresh processes"

    @property
    def met(self) -> str:
        """The number of programs that have shown it, in words."""
        variants = len(self.record.variants)
        return f"a bucket of {variants} variants" if variants > 1 else "one program"


@dataclass(frozen=True)
class Found:
    """The findings below ROOT, most severe first; crashes that no fresh process repeats; hunts.

    UNREADABLE has folders and files below ROOT, each with the reason why it is unreadable.
    """

    root: Path
    entries: list[Entry]
    unreproduced: list[Entry]
    hunts: list[series.Campaign]
    unreadable: list[tuple[str, str]]


def collect(root: Path) -> Found:
    """All findings in ROOT, at any depth; UserError if ROOT has none, not even unreadable ones.

    It skips folders that begin with a dot, because a killed hunt was still writing them.
    """
    entries, unreadable = [], []
    for path in _below(root, "finding.json"):
        try:
            entries.append(_entry(path.parent))
        except (OSError, ValueError) as error:
            unreadable.append((_shown(root, path.parent), _words(error)))
    hunts = []
    for path in _below(root, series.NAME):
        try:
            read, troubles = series.read(path.parent)
        except OSError as error:
            read, troubles = [], [_words(error)]
        hunts += read
        unreadable += [(_shown(root, path), trouble) for trouble in troubles]
    if not (entries or hunts or unreadable):
        raise UserError(f"{root} holds no finding")
    entries.sort(key=lambda entry: entry.rank)
    hunts.sort(key=lambda hunt: hunt.start.started)
    return Found(root, [entry for entry in entries if entry.record.rate],
                 [entry for entry in entries if not entry.record.rate], hunts, unreadable)


def _below(root: Path, name: str) -> list[Path]:
    return [path for path in sorted(root.rglob(name))
            if not any(part.startswith(".") for part in path.relative_to(root).parts)]


def _entry(folder: Path) -> Entry:
    record = finding.load(folder)
    # A crash that no single program repeats has its last program, and no script.
    path = folder / ("repro.py" if (folder / "repro.py").exists() or record.rate
                     else "program.py")
    script = path.read_text(errors="replace")
    notes = folder / "NOTES.md"
    return Entry(folder, record, tuple(_program(script)), script,
                 notes.read_text(errors="replace") if notes.exists() else "")


def _program(script: str) -> list[str]:
    """The lines of a script after its last blank one: the program and its assert lines."""
    return script.rstrip().rpartition("\n\n")[2].splitlines()


def _words(error: Exception) -> str:
    return f"{Path(error.filename).name}: {error.strerror}" if isinstance(error, OSError) else \
        str(error)


def _shown(root: Path, path: Path) -> str:
    return str(path.relative_to(root)) if path != root else root.name
