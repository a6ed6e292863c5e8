"""OUT/campaign.jsonl: the progress of a hunt over time, and the seconds it spent in each phase.

A hunt appends a record when it starts, samples, a record for each new finding, and a record when it
ends. One write appends each record as a line of JSON, so that after a kill -9 every line but the
last is complete. A record names its hunt, since two hunts may share OUT.
"""

import secrets
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from slotfuzz.paths import shown
from slotfuzz.schema.campaign import (
    START_WORDS, End, NewFinding, Record, Sample, Start, line_of, read_line,
)

NAME = "campaign.jsonl"
# The time between two samples: SAMPLE_SECONDS, or SAMPLE_SHARE of the time since the start if that
# is longer. A hunt of a minute has 130 samples, one of a day 900.
SAMPLE_SECONDS, SAMPLE_SHARE = 0.25, 0.01
# The phases of a job: its process runs programs or loads the corpus; triage judges its finding; its
# process ends or starts; it has run all its programs.
FUZZING, JUDGING, RESTARTING, ENDED = "fuzzing", "judging", "restarting", "ended"
PHASES = (FUZZING, JUDGING, RESTARTING)


class Clock:
    """Measures the seconds of each of JOBS in each of PHASES, from its construction on."""

    def __init__(self, jobs: list[str], now=time.monotonic):
        self._now = now
        self._since = {job: (RESTARTING, now()) for job in jobs}
        self._spent = {job: dict.fromkeys(PHASES, 0.0) for job in jobs}

    def enter(self, job: str, phase: str) -> None:
        """JOB is in PHASE from now on."""
        now, (old, since) = self._now(), self._since[job]
        if old != ENDED:
            self._spent[job][old] += now - since
        self._since[job] = (phase, now)

    def total(self) -> dict[str, float]:
        """Seconds for each phase, summed over all jobs."""
        return total(self.by_job())

    def by_job(self) -> dict[str, dict[str, float]]:
        """Seconds for each job and phase, up to now."""
        for job, (phase, _) in list(self._since.items()):
            self.enter(job, phase)
        return {job: {phase: round(seconds, 3) for phase, seconds in spent.items()}
                for job, spent in self._spent.items()}


def total(spent: dict[str, dict[str, float]]) -> dict[str, float]:
    """Seconds for each phase, summed over all jobs of SPENT."""
    return {phase: round(sum(one.get(phase, 0.0) for one in spent.values()), 3) for phase in PHASES}


class Series:
    """Writes the records of a hunt by PLAN. A full disk ends the series, not the hunt."""

    def __init__(self, plan, versions: dict, now=time.monotonic):
        self.path, self.trouble = plan.out / NAME, ""
        self._now, self._hunt, self._due = now, secrets.token_hex(8), 0.0
        self._start, self._set_up = now(), 0.0
        self._append(Start(started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
                           subject=plan.subject.name, sanitizer=plan.subject.sanitizer,
                           targets=tuple(plan.targets), seed=plan.seed, jobs=plan.jobs,
                           versions=versions))

    def begin(self) -> None:
        """Starts the clock: the first program is about to run."""
        self._start, self._set_up = self._now(), self._now() - self._start

    def is_due(self) -> bool:
        """Whether it is time for a sample."""
        return self._now() - self._start >= self._due

    def sample(self, **numbers) -> None:
        """Appends a sample with NUMBERS, which are the fields of `Sample` without the time."""
        passed = self._now() - self._start
        self._due = passed + max(SAMPLE_SECONDS, SAMPLE_SHARE * passed)
        self._append(Sample(seconds=round(passed, 3), **numbers))

    def found(self, identifier: str) -> None:
        """Appends a record that triage has just called the finding IDENTIFIER new."""
        self._append(NewFinding(seconds=round(self._now() - self._start, 3), id=identifier))

    def end(self, result) -> None:
        """Appends the last record, with the hunt's RESULT."""
        self._append(End(
            programs=result.programs, seconds=result.seconds, fuzz_seconds=result.fuzz_seconds,
            coverage=result.coverage, corpus=result.corpus,
            new=tuple(judged.id for judged in result.new), known=len(result.known),
            old=len(result.old), unreproduced=len(result.unreproduced), skipped=result.skipped,
            killed=result.killed, interrupted=bool(result.interrupted), trouble=result.trouble,
            spent=result.spent, set_up=round(self._set_up, 3)))

    def _append(self, record: Record) -> None:
        line = line_of(self._hunt, record)
        if self.trouble:
            return
        try:
            with open(self.path, "ab", buffering=0) as file:
                whole = file.write(line.encode())
            if whole < len(line.encode()):
                self.trouble = f"{shown(self.path)} is incomplete: the disk is full"
        except OSError as error:
            self.trouble = f"cannot write {shown(self.path)}: {error.strerror}"


@dataclass
class Campaign:
    """The records of one hunt. END is missing if the hunt was killed or still runs."""

    start: Start
    samples: list[Sample] = field(default_factory=list)
    found: list[NewFinding] = field(default_factory=list)
    end: End | None = None


def read(out: Path) -> tuple[list[Campaign], list[str]]:
    """The hunts that wrote to OUT, oldest first, and a message for each line that is unreadable.

    A killed hunt may leave an incomplete line. It is the last line, or a later hunt has appended
    its start to it. The incomplete part is ignored without a message.
    """
    path = out / NAME
    if not path.exists():
        return [], []
    hunts: dict[str, Campaign] = {}
    troubles = []
    *lines, torn = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        glued = line.rfind(START_WORDS.encode())
        read = read_line(line[max(glued, 0):])
        if read is None:
            troubles.append(f"line {number}: not a record of a hunt")
            continue
        hunt, record = read
        if isinstance(record, Start):
            hunts[hunt] = Campaign(record)
        elif hunt not in hunts:
            troubles.append(f"line {number}: the start of its hunt is missing")
        else:
            _add(hunts[hunt], record)
    return list(hunts.values()), troubles


def _add(hunt: Campaign, record: Sample | NewFinding | End) -> None:
    if isinstance(record, End):
        hunt.end = record
    else:
        (hunt.samples if isinstance(record, Sample) else hunt.found).append(record)
