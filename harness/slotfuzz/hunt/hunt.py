"""The main job: fuzz, recognize findings that exist, minimize and verify new ones.

One libFuzzer process per target and job on a shared corpus. A finding ends its process, and threads
judge it; then all processes skip its minimal program. The job waits for the verdict, or goes on at
once: see `Plan.judges_beside`.
"""

import functools
import math
import os
import selectors
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from slotfuzz.engine.kills import KILLS_IN_A_ROW_MAX, Kills, too_many
from slotfuzz.errors import BrokenError, KilledError, MachineError
from slotfuzz.finding import finding
from slotfuzz.hunt import corpus, series
from slotfuzz.hunt.job import Job, Shared
from slotfuzz.hunt.plan import Plan, Result
from slotfuzz.hunt.repeats import Repeats, words_of
from slotfuzz.hunt.verdicts import Verdicts, Waiting
from slotfuzz.hunt.workplace import Workplace
from slotfuzz.paths import shown
from slotfuzz.progress import ProgressLine, Rate
from slotfuzz.triage import versions
from slotfuzz.triage.crash import Crash
from slotfuzz.triage.judged import Judged
from slotfuzz.triage.triage import Triage

POLL_SECONDS = 0.05
# After so many crashes in a row that do not repeat, the fault is not in the subject.
UNREPRODUCED_MAX = 10
VERIFY_RUNS = 20
# A process that meets a crash like one that waits, in less time, would do so again and again: the
# job waits for the verdict, but not for one that takes long.
SOON_SECONDS, PATIENCE_SECONDS = 2.0, 10.0


def run(plan: Plan) -> Result:
    """Hunts by PLAN and writes to its folders."""
    plan.check()
    folders = plan.suppressing_folders()
    place = Workplace(plan.subject, plan.out)
    line = ProgressLine()
    kills = Kills(lambda text: line.note(f"slotfuzz: {text}"))
    try:
        judges = min(plan.jobs * len(plan.targets), len(os.sched_getaffinity(0)))
        with (ThreadPoolExecutor(judges) as pool,
              Triage(plan.subject, plan.out, VERIFY_RUNS, kills, place.flags()) as triage):
            written = series.Series(plan, versions.versions(plan.subject))
            known = pool.map(functools.partial(triage.rerun, plan.targets[0]),
                             finding.known(folders, plan.subject))
            programs = [text for rerun in known for text in triage.learn(rerun)]
            if plan.baseline:
                programs += plan.baseline.recall(triage, plan.targets, pool)
            for number, text in enumerate(programs):
                place.suppress(f"known-{number}", text)
            place.suppress_errors(triage.errors)
            verdicts = Verdicts(pool, triage, place)
            result = _Hunt(plan, place, triage, verdicts, line, written).run()
            result.skipped = len(programs)
            result.killed = dict(kills.counts)
            result.trouble = result.trouble or plan.corpus_trouble() or written.trouble
            written.end(result)
            return result
    finally:
        line.close()
        place.close()


class _Hunt:
    """The loop of a hunt and its result so far."""

    def __init__(self, plan: Plan, place: Workplace, triage: Triage, verdicts: Verdicts,
                 line: ProgressLine, written: series.Series):
        self.plan, self.place, self.triage, self.line = plan, place, triage, line
        self.verdicts, self.series = verdicts, written
        self.result = Result()
        growing = {target: corpus.Growing(plan.corpora(target)[0]) for target in plan.targets}
        self.shared = Shared(plan, place, series.Clock([]), selectors.DefaultSelector(), growing)
        self.jobs = [Job(self.shared, target, number)
                     for target in plan.targets for number in range(plan.jobs)]
        self.start = self.deadline = 0.0
        self._stopped = False
        self._in_vain = 0
        self._repeats, self._rate = Repeats(), Rate()

    def run(self) -> Result:
        """Runs until the time is over, all programs ran, or the hunt gives up."""
        previous = {number: signal.signal(number, self._interrupt)
                    for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            for target in self.plan.targets:
                self.verdicts.pool.submit(self.triage.control, target).result()
            self.series.begin()
            self.shared.clock = series.Clock([job.name for job in self.jobs])
            self.start, self._rate = time.monotonic(), Rate()
            self.deadline = self.start + self.plan.seconds
            self._take_leftovers()
            for job in self.jobs:
                self._start(job)
            while not self._over() and any(job.fuzzer or job.waits_for for job in self.jobs):
                self._step()
            for job in self.jobs:
                job.stop()
                self.shared.clock.enter(job.name, series.JUDGING)
            if self.result.interrupted or self._stopped:
                self.verdicts.give_up()
            while self.verdicts.waiting:
                self._take_verdict(self.verdicts.waiting[0])
        finally:
            self._stop_all()
            for number, handler in previous.items():
                signal.signal(number, handler)
        return self.result

    def _interrupt(self, number, frame) -> None:
        if self.result.interrupted:
            raise KeyboardInterrupt
        self.result.interrupted = number

    def _over(self) -> bool:
        return self._stopped or self.result.interrupted or time.monotonic() >= self.deadline

    def _step(self) -> None:
        for key, _ in self.shared.selector.select(POLL_SECONDS):
            if not key.data.fuzzer.read():
                self._ended(key.data)
        for one in [one for one in self.verdicts.waiting if one.verdict.done()]:
            self._take_verdict(one)
            for job in self.jobs:
                if job.waits_for is one:
                    self._start(job)
        for job in self.jobs:
            if job.waits_for and time.monotonic() >= job.waits_until:
                self._start(job)
        now = self._now()
        if self.series.is_due():
            self.series.sample(**now, spent=self.shared.clock.total())
        self.line.show(self._status(now))

    def _start(self, job: Job) -> None:
        job.waits_for = None
        try:
            job.start(0 if self._over() else self.deadline - time.monotonic())
        except KilledError as error:
            self._killed(job, error.process)

    def _killed(self, job: Job, process: str) -> None:
        """Starts JOB again after something outside killed PROCESS, but not without limit."""
        self.triage.kills.note(process)
        job.kills_in_a_row += 1
        if job.kills_in_a_row >= KILLS_IN_A_ROW_MAX:
            self._give_up(too_many(process, job.kills_in_a_row))
        else:
            self._start(job)

    def _give_up(self, error: MachineError) -> None:
        """Ends the hunt because of the machine; the findings so far are reported."""
        self.result.trouble = str(error)
        self._stopped = True

    def _ended(self, job: Job) -> None:
        """A process of JOB ended: judges its crash, or starts the job again."""
        end = job.end(self._programs())
        if end.found:
            if end.killed:
                self.triage.kills.note(end.killed)
            self._judge(job, end.artifact, end.found)
        elif end.killed:
            self._killed(job, end.killed)
        else:
            self._start(job)

    def _judge(self, job: Job, artifact: Path, found: Crash) -> None:
        """Has FOUND, a crash of JOB, judged, unless its stack is known or waits for a verdict.

        Then JOB starts again, or waits.
        """
        words, beside = words_of(found.report), self.plan.judges_beside
        same = self.verdicts.of_words(words) if beside else None
        is_repeat = same or (self.plan.subject.capabilities.has_many_bugs
                             and not self._repeats.is_due(words))
        if is_repeat:
            artifact.unlink()
            self.result.repeats += 1
        else:
            asked = self.verdicts.ask(artifact, found, words)
        if same and job.lived_seconds < SOON_SECONDS:
            self._wait(job, same, PATIENCE_SECONDS)
        elif is_repeat or beside:
            self._start(job)
        else:
            self._wait(job, asked, math.inf)

    def _wait(self, job: Job, one: Waiting, seconds: float) -> None:
        job.waits_for, job.waits_until = one, time.monotonic() + seconds
        self.shared.clock.enter(job.name, series.JUDGING)

    def _take_verdict(self, one: Waiting) -> None:
        """Waits for the verdict on the crash ONE, and records it."""
        self.verdicts.take(one)
        try:
            verdict, judged = one.verdict.result()
        except MachineError as error:
            self._give_up(error)  # the crash stays in its folder for the next hunt
            return
        self._repeats.judged(one.words, verdict in ("new", "shorter"))
        self.verdicts.forget(one)
        if verdict == "known" and self.plan.baseline and self.plan.baseline.has(judged.folder):
            verdict = "old"
        if verdict == "new":
            self.series.found(judged.id)
        self.result.take(verdict, judged)
        is_in_vain = verdict == "unreproduced" and not judged.finding.dedup_keys
        self._in_vain = self._in_vain + 1 if is_in_vain else 0
        for index, text in enumerate(judged.avoid):
            self.place.suppress(f"found-{self.result.findings}-{index}", text)
        self.place.suppress_errors(self.triage.errors)
        if verdict in ("new", "shorter"):
            self._stopped |= bool(self.plan.stop_when and self.plan.stop_when(judged))
        self._say(verdict, judged)

    def _say(self, verdict: str, judged: Judged) -> None:
        """Prints the verdict on a crash; BrokenError after too many that do not repeat."""
        if judged.merged:
            self.line.note(f"slotfuzz: same bug as {judged.folder.name}:"
                           f" {', '.join(judged.merged)}")
        if verdict in ("new", "shorter"):
            record = judged.finding
            self.line.note(
                f"slotfuzz: {verdict}: {record.signature}, {record.lines} lines,"
                f" fails {record.rate:.0%} of {record.verified_runs} runs:"
                f" {shown(judged.folder)}")
        elif verdict in ("known", "old"):
            seen = getattr(self.result, verdict)
            if sum(other.id == judged.id for other in seen) == 1:
                self.line.note(f"slotfuzz: {verdict}: {judged.id}")
        else:
            self.line.note(f"slotfuzz: not reproduced alone: {shown(judged.folder)}")
            if self._in_vain >= UNREPRODUCED_MAX:
                raise BrokenError(f"{UNREPRODUCED_MAX} crashes in a row did not reproduce;"
                                  f" see {shown(self.plan.out)}")

    def _take_leftovers(self) -> None:
        """Judges crashes that a killed hunt with the same subject and folder has left.

        A hunt on a mutant ignores them, since it has to find the mutant's bug itself.
        """
        if not self.plan.resumes or self.plan.subject.seeded:
            return
        for target, path in self.place.leftovers():
            if target in self.plan.targets and not self._over():
                self.line.note(f"slotfuzz: an earlier hunt left {path.name}")
                found = Crash(target, path.read_text(errors="replace"), "", 0, 0.0, 0)
                self._take_verdict(self.verdicts.ask(path, found, ""))

    def _stop_all(self) -> None:
        for job in self.jobs:
            job.stop()
        for growing in self.shared.growing.values():
            growing.drop_torn()
        result = self.result
        result.programs = self._programs()
        result.coverage = max(job.coverage for job in self.jobs)
        result.corpus = max(job.corpus for job in self.jobs)
        result.fuzz_seconds = round(sum(job.seconds for job in self.jobs) / len(self.jobs), 3)
        result.spent = self.shared.clock.by_job()
        result.seconds = round(time.monotonic() - self.start, 3) if self.start else 0.0
        self.shared.selector.close()

    def _programs(self) -> int:
        return sum(job.programs_now() for job in self.jobs)

    def _now(self) -> dict:
        """The numbers of a sample of the series, without the time."""
        running = [job.fuzzer.progress for job in self.jobs if job.fuzzer]
        programs = self._programs()
        return {"programs": programs, "rate": self._rate.of(programs),
                "coverage": max(one.coverage for one in [*self.jobs, *running]),
                "corpus": max(one.corpus for one in [*self.jobs, *running]),
                "new": len(self.result.new), "known": len(self.result.known),
                "unreproduced": len(self.result.unreproduced)}

    def _status(self, now: dict) -> str:
        left = max(0, self.deadline - time.monotonic())
        judged = len(self.verdicts.waiting)
        return (f"{now['rate']:,} programs/s"
                f" · coverage {now['coverage']} · corpus {now['corpus']}"
                f" · findings {now['new']} new, {now['known']} known"
                + f", {judged} being judged" * bool(judged) + f" · {left:.0f} s left")
