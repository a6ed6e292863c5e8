"""OUT/campaign.jsonl: what a hunt reached over time, and where its time went.

A hunt appends one record when it starts, samples, one record for each new finding, and one record
when it ends. Each is a line of JSON that one write appends, and names its hunt: two hunts may share
OUT, and after a kill -9 every line but the last is whole.
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
# The time between two samples: at first this, later this share of the time that has passed. A
# minute has 130 samples, and a day 900.
SAMPLE_SECONDS, SAMPLE_SHARE = 0.25, 0.01
# What a job does: its process runs programs (or loads the corpus); its finding is judged; its
# process ends or starts; it has run all the programs that it was given.
FUZZING, JUDGING, RESTARTING, ENDED = "fuzzing", "judging", "restarting", "ended"
PHASES = (FUZZING, JUDGING, RESTARTING)
START, SAMPLE, FOUND, END = "start", "sample", "found", "end"
SPENT = {str: NUMBER}
# The shape of each record, but for the kind and the hunt.
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
# What the end has besides, where there is something to tell: processes killed from outside.
MORE_FIELDS = {"killed": {str: int}}


class Clock:
    """How long each of JOBS has been in each of PHASES; each starts when this is made."""

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
        """Seconds for each phase, of all jobs together."""
        return total(self.by_job())

    def by_job(self) -> dict[str, dict[str, float]]:
        """Seconds for each job and phase, up to now."""
        for job, (phase, _) in list(self._since.items()):
            self.enter(job, phase)
        return {job: {phase: round(seconds, 3) for phase, seconds in spent.items()}
                for job, spent in self._spent.items()}


def total(spent: dict[str, dict[str, float]]) -> dict[str, float]:
    """Seconds for each phase, of all jobs of SPENT together."""
    return {phase: round(sum(one.get(phase, 0.0) for one in spent.values()), 3) for phase in PHASES}


class Series:
    """Writes the records of a hunt by PLAN. A disk that is full ends the series, not the hunt."""

    def __init__(self, plan, versions: dict, now=time.monotonic):
        self.path, self.trouble = plan.out / NAME, ""
        self._now, self._hunt, self._due = now, secrets.token_hex(8), 0.0
        self._start, self._set_up = now(), 0.0
        self._append(START, started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
                     subject=plan.subject.name, sanitizer=plan.subject.sanitizer,
                     targets=plan.targets, seed=plan.seed, jobs=plan.jobs, versions=versions)

    def begin(self) -> None:
        """The first program is about to run: seconds count from here."""
        self._start, self._set_up = self._now(), self._now() - self._start

    def is_due(self) -> bool:
        """Whether it is time for a sample."""
        return self._now() - self._start >= self._due

    def sample(self, numbers: dict) -> None:
        """Adds NUMBERS, the fields of a sample but for the time."""
        passed = self._now() - self._start
        self._due = passed + max(SAMPLE_SECONDS, SAMPLE_SHARE * passed)
        self._append(SAMPLE, seconds=round(passed, 3), **numbers)

    def found(self, identifier: str) -> None:
        """Adds that the finding IDENTIFIER turned out to be new just now."""
        self._append(FOUND, seconds=round(self._now() - self._start, 3), id=identifier)

    def end(self, result) -> None:
        """Adds the last record, of the hunt's RESULT."""
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
                self.trouble = f"{shown(self.path)} is not whole: the disk is full"
        except OSError as error:
            self.trouble = f"cannot write {shown(self.path)}: {error.strerror}"


@dataclass
class Campaign:
    """One hunt as it was written. END is None if it was killed, or still runs."""

    start: dict
    samples: list[dict] = field(default_factory=list)
    found: list[dict] = field(default_factory=list)
    end: dict | None = None


def read(out: Path) -> tuple[list[Campaign], list[str]]:
    """The hunts that wrote to OUT, oldest first, and what could not be read of them, in words.

    A line that a hunt was writing when it was killed is the last one, or has the start of a later
    hunt behind it: it is not whole, and left out.
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
            troubles.append(f"line {number}: no record of a hunt")
        elif record["record"] == START:
            hunts[record["hunt"]] = Campaign(record)
        elif record["hunt"] not in hunts:
            troubles.append(f"line {number}: of a hunt whose start is missing")
        else:
            _add(hunts[record["hunt"]], record)
    return list(hunts.values()), troubles


def _record(line: bytes) -> dict | None:
    """The record in LINE, or None if it is none."""
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
