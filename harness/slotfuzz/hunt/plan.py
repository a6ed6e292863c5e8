"""The plan of a hunt, and its result."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from slotfuzz.errors import MachineError, UserError
from slotfuzz.finding import finding
from slotfuzz.hunt.baseline import Baseline
from slotfuzz.hunt.workplace import default_corpus
from slotfuzz.paths import ROOT, shown
from slotfuzz.subject.subject import Subject
from slotfuzz.triage.judged import Judged


@dataclass(frozen=True)
class Plan:
    """The subject, targets, folders and limits of a hunt. RUNS is per target and job."""

    subject: Subject
    targets: list[str]
    out: Path
    seconds: float = 60.0
    runs: int | None = None
    seed: int = 1
    jobs: int = 1
    corpus: Path | None = None
    stop_when: Callable[[Judged], bool] | None = None
    # Whether the hunt first judges crashes that a killed hunt, with this subject and OUT, has left.
    resumes: bool = False
    suppressions: tuple[Path, ...] = (ROOT / "repro", *sorted(
        folder for pattern in ("repro/*-*", "repro/by-hand/*") for folder in ROOT.glob(pattern)
        if not (folder / "finding.json").exists()))
    baseline: Baseline | None = None

    def corpora(self, target: str) -> list[Path]:
        """The corpus to which the hunt adds, then the seeds, unless --corpus was given."""
        if self.corpus is not None:
            return [self.corpus]
        seeds = ROOT / "corpus" / target
        return [default_corpus(self.subject, target), *([seeds] if seeds.is_dir() else [])]

    @property
    def judges_beside(self) -> bool:
        """Whether jobs go on while triage judges their findings.

        Where one finding follows the other, jobs would wait most of the time. A hunt of RUNS
        programs waits: what it finds must not depend on the time that triage takes.
        """
        return self.subject.capabilities.has_many_bugs and self.runs is None

    def suppressing_folders(self) -> list[Path]:
        """The folders of findings that the hunt suppresses from the start.

        A hunt on a mutant suppresses nothing, since it has to find the mutant's bug. With a
        baseline, a finding in repro/ is new unless the baseline has it, and is written to OUT.
        """
        if self.subject.seeded:
            return []
        return [self.out] if self.baseline else list(dict.fromkeys([*self.suppressions, self.out]))

    def check(self) -> None:
        """MachineError if the hunt cannot write to one of its folders."""
        for folder in [self.out, *(self.corpora(target)[0] for target in self.targets)]:
            finding.check_writable(folder)

    def corpus_trouble(self) -> str:
        """Why the corpus may lack entries, or an empty string. libFuzzer does not report this."""
        try:
            for target in self.targets:
                finding.check_writable(self.corpora(target)[0])
        except MachineError as error:
            return f"the corpus is incomplete: {error}"
        return ""


def check_folders(out: Path, corpus: Path | None) -> None:
    """UserError or MachineError for unusable folders, before the subject is built."""
    finding.check_writable(out)
    if corpus is not None:
        if corpus.exists() and not corpus.is_dir():
            raise UserError(f"--corpus {shown(corpus)} is not a folder")
        finding.check_writable(corpus)


@dataclass
class Result:
    """The result of a hunt. NEW, KNOWN, OLD and UNREPRODUCED are judged crashes.

    KNOWN findings existed before and were seen again; OLD ones belong to the baseline. SKIPPED
    counts suppressed programs, REPEATS crashes that were not judged. SECONDS is the time of the
    whole hunt, FUZZ_SECONDS the time in which programs ran, per job. SPENT has the seconds of each
    job in each phase of series.PHASES. KILLED counts, by name, processes that something outside
    killed. INTERRUPTED is the number of the signal that ended the hunt early, or 0.
    """

    programs: int = 0
    seconds: float = 0.0
    fuzz_seconds: float = 0.0
    coverage: int = 0
    corpus: int = 0
    new: list[Judged] = field(default_factory=list)
    known: list[Judged] = field(default_factory=list)
    old: list[Judged] = field(default_factory=list)
    unreproduced: list[Judged] = field(default_factory=list)
    skipped: int = 0
    repeats: int = 0
    killed: dict[str, int] = field(default_factory=dict)
    interrupted: int = 0
    trouble: str = ""
    spent: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """1 if there is a finding that is not old, else 2 if the machine caused trouble, else 0.

        If a signal ended the hunt, the code is 128 plus its number instead of 0.
        """
        if self.new or self.known or self.unreproduced:
            return 1
        if self.trouble:
            return 2
        return 128 + self.interrupted if self.interrupted else 0

    @property
    def findings(self) -> int:
        """How many crashes were judged: the sum of all lists."""
        return len(self.new) + len(self.known) + len(self.old) + len(self.unreproduced)

    def take(self, verdict: str, judged: Judged) -> None:
        """Adds JUDGED to a list by the VERDICT of triage.

        VERDICT is new, shorter, known, old or unreproduced.
        """
        if verdict == "shorter":
            self.new = [judged if one.id == judged.id else one for one in self.new]
        if verdict == "new":
            self._take_reproduced(judged)
        getattr(self, "known" if verdict == "shorter" else verdict).append(judged)
        self._take_merged(judged)

    def _take_reproduced(self, judged: Judged) -> None:
        """JUDGED reproduces alone, so the unreproduced crashes of its bucket become known."""
        again = [one for one in self.unreproduced if one.folder == judged.folder]
        self.unreproduced = [one for one in self.unreproduced if one not in again]
        self.known += again

    def _take_merged(self, judged: Judged) -> None:
        """Moves findings that JUDGED shows to be the same bug from NEW to KNOWN."""
        gone = [one for one in self.new if one.id in judged.merged]
        self.new = [one for one in self.new if one.id not in judged.merged]
        self.known = [replace(one, id=judged.folder.name, folder=judged.folder)
                      if one.id in judged.merged else one for one in [*self.known, *gone]]
