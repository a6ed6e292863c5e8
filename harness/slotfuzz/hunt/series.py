"""OUT/campaign.jsonl: the progress of a hunt over time, and the seconds it spent in each phase.

A hunt appends a record when it starts, samples, a record for each new finding, and a record when it
ends. One write appends each record as a line of JSON, so that after a kill -9 every line but the
last is complete. A record names its hunt, since two hunts may share OUT.
"""

import json
import secrets
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from slotfuzz.paths import shown
from slotfuzz.schema.shape import NUMBER, parsed, wrong_in

NAME = "campaign.jsonl"
# The time between two samples: SAMPLE_SECONDS, or SAMPLE_SHARE of the time since the start if that
# is longer. A hunt of a minute has 130 samples, one of a day 900.
SAMPLE_SECONDS, SAMPLE_SHARE = 0.25, 0.01
# The phases of a job: its process runs programs or loads the corpus; triage judges its finding; its
# process ends or starts; it has run all its programs.
FUZZING, JUDGING, RESTARTING, ENDED = "fuzzing", "judging", "restarting", "ended"
PHASES = (FUZZING, JUDGING, RESTARTING)
START, SAMPLE, FOUND, END = "start", "sample", "found", "end"
SPENT = {str: NUMBER}
# The shape of each record, without the fields `record` and `hunt`.
FIELDS = {
    START: {"started": str, "subject": str, "sanitizer": str, "targets": [str], "seed": int,
            "jobs": int, "versions": {str: str}},
    SAMPLE: {"seconds": NUMBER, "programs": int, "rate": int, "coverage": int, "corpus": int,
             "new": int, "known": int, "unreproduced": int, "spent": SPENT},
    FOUND: {"seconds": NUMBER, "id": str},
    END: {"set_up": NUMBER, "seconds": NUMBER, "programs": int, "fuzz_seconds": NUMBER,
          "coverage": int, "corpus": int, "new": [str], "known": int, "old": int,
          "unreproduced": int, "interrupted": bool, "trouble": str, "spent": {str: SPENT}},
}
# An optional field of END: counts of processes that something outside killed.
MORE_FIELDS = {"killed": {str: int}}


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
        self._append(START, started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
                     subject=plan.subject.name, sanitizer=plan.subject.sanitizer,
                     targets=plan.targets, seed=plan.seed, jobs=plan.jobs, versions=versions)

    def begin(self) -> None:
        """Starts the clock: the first program is about to run."""
        self._start, self._set_up = self._now(), self._now() - self._start

    def is_due(self) -> bool:
        """Whether it is time for a sample."""
        return self._now() - self._start >= self._due

    def sample(self, numbers: dict) -> None:
        """Appends a sample with NUMBERS, which are its fields without the time."""
        passed = self._now() - self._start
        self._due = passed + max(SAMPLE_SECONDS, SAMPLE_SHARE * passed)
        self._append(SAMPLE, seconds=round(passed, 3), **numbers)

    def found(self, identifier: str) -> None:
        """Appends a record that triage has just called the finding IDENTIFIER new."""
        self._append(FOUND, seconds=round(self._now() - self._start, 3), id=identifier)

    def end(self, result) -> None:
        """Appends the last record, with the hunt's RESULT."""
        self._append(END, **{
            **vars(result), "set_up": round(self._set_up, 3),
            "new": [record["id"] for record in result.new], "known": len(result.known),
            "old": len(result.old), "unreproduced": len(result.unreproduced),
            "interrupted": bool(result.interrupted)})

    def _append(self, kind: str, **fields) -> None:
        line = json.dumps({"record": kind, "hunt": self._hunt, **fields}, default=str) + "\n"
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

    start: dict
    samples: list[dict] = field(default_factory=list)
    found: list[dict] = field(default_factory=list)
    end: dict | None = None


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
        glued = line.rfind(b'{"record": "start"')
        record = _record(line[max(glued, 0):])
        if record is None:
            troubles.append(f"line {number}: not a record of a hunt")
        elif record["record"] == START:
            hunts[record["hunt"]] = Campaign(record)
        elif record["hunt"] not in hunts:
            troubles.append(f"line {number}: the start of its hunt is missing")
        else:
            _add(hunts[record["hunt"]], record)
    return list(hunts.values()), troubles


def _record(line: bytes) -> dict | None:
    """The record in LINE, or None if LINE has another shape."""
    try:
        record = parsed(line)
    except ValueError:
        return None
    if wrong_in(record, {"record": str, "hunt": str}) or record["record"] not in FIELDS:
        return None
    return None if wrong_in(record, FIELDS[record["record"]], MORE_FIELDS) else record


def _add(hunt: Campaign, record: dict) -> None:
    if record["record"] == END:
        hunt.end = record
    else:
        (hunt.samples if record["record"] == SAMPLE else hunt.found).append(record)
