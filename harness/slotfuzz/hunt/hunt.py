"""The main job: fuzz, sort out what is known, minimize and verify what is new, go on until the end.

One libFuzzer process per target and job on a shared corpus. A finding ends its process; once the
finding is judged, its minimal program is made known and the process starts again. Findings of
several jobs are judged at the same time, in threads, which wait for servers most of the time.
"""

import math
import os
import selectors
import signal
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from slotfuzz.engine.fuzzer import Fuzzer
from slotfuzz.engine.kills import KILLS_IN_A_ROW_MAX, Kills, is_outside, too_many
from slotfuzz.engine.server import dump_recorder
from slotfuzz.engine.zygote import Spawner
from slotfuzz.errors import BrokenError, KilledError, MachineError, UserError
from slotfuzz.evidence.signature import signal_name
from slotfuzz.finding import finding
from slotfuzz.hunt import corpus, series
from slotfuzz.hunt.baseline import Baseline
from slotfuzz.hunt.workplace import Workplace, default_corpus
from slotfuzz.paths import ROOT, shown
from slotfuzz.progress import ProgressLine
from slotfuzz.subject.subject import Subject
from slotfuzz.triage.triage import Found, Triage

POLL_SECONDS = 0.05
# So many crashes in a row that nothing repeats: it is not the subject that breaks.
UNREPRODUCED_MAX = 10
VERIFY_RUNS = 20
# What programs leak by the contract (P5) stays in their process, up to 1 KB a program on the core:
# it is renewed before that shows, and when its memory is full all the same.
PROCESS_PROGRAMS_MAX = 1_000_000
# libFuzzer's exit code after SIGINT or SIGTERM. Those that the hunt sends are not looked at.
INTERRUPTED_EXIT = 72
# A process that has fuzzed for so long before it was killed shows that the machine can do the work.
KILL_FORGOTTEN_SECONDS = 10
# libFuzzer's handlers allocate, and wait for ever where malloc itself has crashed. Where no
# sanitizer reports crashes, the process just dies, and the flight recorder tells the program.
NO_HANDLERS = tuple(f"-handle_{name}=0" for name in ("segv", "bus", "abrt", "ill", "fpe"))


@dataclass(frozen=True)
class Plan:
    """What to hunt, and for how long. RUNS counts programs per target and job."""

    subject: Subject
    targets: list[str]
    out: Path
    seconds: float = 60.0
    runs: int | None = None
    seed: int = 1
    jobs: int = 1
    corpus: Path | None = None
    stop_when: Callable[[dict], bool] | None = None
    # Whether crashes that a killed hunt with the same subject and OUT has left are judged first.
    resumes: bool = False
    known_folders: tuple[Path, ...] = (ROOT / "repro", *sorted(ROOT.glob("repro/torch-*")))
    baseline: Baseline | None = None


@dataclass
class Result:
    """What came out; NEW and KNOWN are records, SKIPPED counts known programs that were avoided.

    OLD are records of findings that belong to the baseline. SECONDS is the whole hunt, FUZZ_SECONDS
    the time in which programs ran, per job. SPENT says for each job how long it was in each phase
    of series.PHASES. KILLED counts processes that something outside killed, by name. INTERRUPTED is
    the number of the signal that ended the hunt early, or 0.
    """

    programs: int = 0
    seconds: float = 0.0
    fuzz_seconds: float = 0.0
    coverage: int = 0
    corpus: int = 0
    new: list[dict] = field(default_factory=list)
    known: list[dict] = field(default_factory=list)
    old: list[dict] = field(default_factory=list)
    unreproduced: list[dict] = field(default_factory=list)
    skipped: int = 0
    killed: dict[str, int] = field(default_factory=dict)
    interrupted: int = 0
    trouble: str = ""
    spent: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """1 if anything was found that is not old, else 2 if the machine was in the way, else 0.

        128 and the signal's number if one ended the hunt, and nothing was found or in the way.
        """
        if self.new or self.known or self.unreproduced:
            return 1
        if self.trouble:
            return 2
        return 128 + self.interrupted if self.interrupted else 0


@dataclass
class _Job:
    """Job NUMBER on TARGET: its running process, and what its earlier ones did.

    Or VERDICT, that of Triage.judge to come on the program ARTIFACT.
    """

    target: str
    number: int
    spawner: Spawner | None = None
    fuzzer: Fuzzer | None = None
    verdict: Future | None = None
    artifact: Path | None = None
    loads: tuple[int, set[str]] = (0, frozenset())
    programs: int = 0
    seconds: float = 0.0
    starts: int = 0
    kills_in_a_row: int = 0

    @property
    def name(self) -> str:
        """What it is called among the jobs of a hunt."""
        return f"{self.target}.{self.number}"


def check_folders(out: Path, corpus: Path | None) -> None:
    """Says what is wrong with the folders of a plan to be, before its subject is built."""
    finding.check_writable(out)
    if corpus is not None:
        if corpus.exists() and not corpus.is_dir():
            raise UserError(f"--corpus {shown(corpus)} is not a folder")
        finding.check_writable(corpus)


def run(plan: Plan) -> Result:
    """Hunts by PLAN, in whose folders it writes."""
    for folder in [plan.out, *(_corpus(plan, target)[0] for target in plan.targets)]:
        finding.check_writable(folder)
    folders = _known_folders(plan)
    place = Workplace(plan.subject, plan.out)
    line = ProgressLine()
    kills = Kills(lambda text: line.note(f"slotfuzz: {text}"))
    try:
        judges = min(plan.jobs * len(plan.targets), len(os.sched_getaffinity(0)))
        with (ThreadPoolExecutor(judges) as pool,
              Triage(plan.subject, plan.out, VERIFY_RUNS, kills) as triage):
            written = series.Series(plan, triage.versions())
            programs = [text for folder in finding.known(folders, plan.subject)
                        for text in pool.submit(triage.recall, plan.targets[0], folder).result()]
            if plan.baseline:
                programs += pool.submit(plan.baseline.recall, triage, plan.targets).result()
            for number, text in enumerate(programs):
                place.add_known(f"known-{number}", text)
            place.add_known_errors(triage.errors)
            result = _Hunt(plan, place, triage, pool, line, written).run()
            result.skipped = len(programs)
            result.killed = dict(kills.counts)
            result.trouble = result.trouble or _trouble(plan) or written.trouble
            written.end(result)
            return result
    finally:
        line.close()
        place.close()


def _known_folders(plan: Plan) -> list[Path]:
    """Where findings are that are known before the hunt begins.

    A mutant's bug is there to be found, however often it has been. What repro/ has is no excuse
    where a baseline says what is old: it is new, and is written to the folder of the plan.
    """
    if plan.subject.mutant:
        return []
    return [plan.out] if plan.baseline else list(dict.fromkeys([*plan.known_folders, plan.out]))


def _trouble(plan: Plan) -> str:
    """Why the corpus may lack entries, or an empty string: libFuzzer does not say so."""
    try:
        for target in plan.targets:
            finding.check_writable(_corpus(plan, target)[0])
    except MachineError as error:
        return f"the corpus is not whole: {error}"
    return ""


def _corpus(plan: Plan, target: str) -> list[Path]:
    """The corpus that grows, first; then the seeds, unless --corpus was given."""
    if plan.corpus is not None:
        return [plan.corpus]
    seeds = ROOT / "corpus" / target
    return [default_corpus(plan.subject, target), *([seeds] if seeds.is_dir() else [])]


class _Hunt:
    """The loop, with what it has found so far."""

    def __init__(self, plan: Plan, place: Workplace, triage: Triage, pool: ThreadPoolExecutor,
                 line: ProgressLine, written: series.Series):
        self.plan, self.place, self.triage, self.line = plan, place, triage, line
        self.pool, self.series = pool, written
        self.result = Result()
        self.jobs = [_Job(target, number) for target in plan.targets for number in range(plan.jobs)]
        self.growing = {target: corpus.Growing(_corpus(plan, target)[0]) for target in plan.targets}
        self.selector = selectors.DefaultSelector()
        self.clock = series.Clock([])
        self.start = self.deadline = 0.0
        self._stopped = False
        self._in_vain = 0

    def run(self) -> Result:
        """Runs until time, programs or patience are over."""
        previous = {number: signal.signal(number, self._interrupt)
                    for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            for target in self.plan.targets:
                self.pool.submit(self.triage.control, target).result()
            self.series.begin()
            self.clock = series.Clock([job.name for job in self.jobs])
            self.start = time.monotonic()
            self.deadline = self.start + self.plan.seconds
            self._take_leftovers()
            for job in self.jobs:
                self._start(job)
            while not self._over() and any(job.fuzzer or job.verdict for job in self.jobs):
                self._step()
            for job in self.jobs:
                self._take_verdict(job)
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
        for key, _ in self.selector.select(POLL_SECONDS):
            if not key.data.fuzzer.read():
                self._ended(key.data)
        for job in self.jobs:
            if job.verdict and job.verdict.done():
                self._take_verdict(job)
                self._start(job)
        now = self._now()
        if self.series.is_due():
            self.series.sample({**now, "spent": self.clock.total()})
        self.line.show(self._status(now))

    def _start(self, job: _Job) -> None:
        runs = PROCESS_PROGRAMS_MAX
        if self.plan.runs is not None:
            runs = min(runs, self.plan.runs - job.programs)
        left = self.deadline - time.monotonic()
        if self._over() or runs <= 0:
            self.clock.enter(job.name, series.ENDED)
            return
        folder = self.place.job(job.target, job.number)
        for path in folder.iterdir():
            if path.is_file():
                path.unlink()
        # Reloading what other jobs wrote would make a run with one seed depend on the clock.
        extra = ("-reload=0",) if self.plan.jobs == 1 else ()
        if self.plan.subject.sanitizer == "none":
            extra += NO_HANDLERS
        seed = (self.plan.seed + 1000003 * job.number + 7919 * job.starts) % (1 << 31) or 1
        job.loads = self.growing[job.target].about_to_load()
        job.starts += 1
        try:
            if job.spawner is None or job.spawner.is_closed:
                job.spawner = Spawner(self.plan.subject, job.target)
            job.fuzzer = Fuzzer(job.spawner, _corpus(self.plan, job.target), folder,
                                self.place.known, seed, runs, math.ceil(left), extra)
        except KilledError as error:
            self._killed(job, error.process)
            return
        self.clock.enter(job.name, series.FUZZING)
        self.selector.register(job.fuzzer.stderr, selectors.EVENT_READ, job)

    def _killed(self, job: _Job, process: str) -> None:
        """Something outside killed PROCESS of JOB: it is started again, but not without end."""
        self.triage.kills.note(process)
        job.kills_in_a_row += 1
        if job.kills_in_a_row >= KILLS_IN_A_ROW_MAX:
            self._give_up(too_many(process, job.kills_in_a_row))
        else:
            self._start(job)

    def _give_up(self, error: MachineError) -> None:
        """Ends the hunt for what is wrong with the machine; what it has found is told."""
        self.result.trouble = str(error)
        self._stopped = True

    def _ended(self, job: _Job) -> None:
        """A process ended: by itself, with a finding that is judged now, or it was killed."""
        killed = ""
        try:
            code = job.fuzzer.finish()
        except KilledError as error:
            code, killed = -signal.SIGKILL, error.process
        if is_outside(code) or code == INTERRUPTED_EXIT:
            killed = killed or f"a fuzzing process of {job.target}"
            if not job.fuzzer.has_crashed():
                self._was_killed(job, killed)
                return
            # The crash came first: what was killed was about to report it.
            self.triage.kills.note(killed)
        job.kills_in_a_row = 0
        fuzzer = self._close(job)
        if code == 0 or fuzzer.is_full():
            if not fuzzer.progress.programs:
                raise BrokenError(f"{job.target} ended with {code} before any program")
            self._start(job)
            return
        report = fuzzer.report()
        if code < 0 and not killed:
            report += f"\nslotfuzz: crash: {signal_name(-code).removeprefix('SIG')}\n"
        artifact = fuzzer.artifact()
        if killed or not artifact:  # half written, or not at all
            artifact = self._recorded(job, fuzzer, f"ended with {code}")
        self._judge(job, artifact, Found(
            job.target, artifact.read_text(errors="replace"), report, self._programs(),
            job.seconds, fuzzer.seed, fuzzer.recorder))

    def _was_killed(self, job: _Job, process: str) -> None:
        """Takes in what a killed process has done, and goes on."""
        fuzzer = self._close(job)
        if fuzzer.seconds() >= KILL_FORGOTTEN_SECONDS:
            job.kills_in_a_row = 0
        count, _ = dump_recorder(self.plan.subject, job.target, fuzzer.recorder)
        job.programs += max(0, count - fuzzer.progress.programs)
        self._killed(job, process)

    def _recorded(self, job: _Job, fuzzer: Fuzzer, how: str) -> Path:
        """Saves the program that a process ran when it ended without a word; HOW says how."""
        count, recorded = dump_recorder(self.plan.subject, job.target, fuzzer.recorder)
        if not recorded:
            tail = "; ".join(fuzzer.report().strip().splitlines()[-3:])
            raise BrokenError(f"{job.target} {how} before any program: {tail}")
        # What it counted itself was when it last said so.
        job.programs += max(0, count - fuzzer.progress.programs)
        return fuzzer.save(recorded[-1])

    def _judge(self, job: _Job, artifact: Path, found: Found) -> None:
        job.artifact, job.verdict = artifact, self.pool.submit(self.triage.judge, found)
        self.clock.enter(job.name, series.JUDGING)

    def _take_verdict(self, job: _Job) -> None:
        """Waits for the verdict on what JOB has found, if it is to come, and takes it in."""
        if not job.verdict:
            return
        future, job.verdict = job.verdict, None
        try:
            verdict, record = future.result()
        except MachineError as error:
            self._give_up(error)  # the crash stays where it is, for the next hunt
            return
        self.clock.enter(job.name, series.RESTARTING)
        job.artifact.unlink()
        if verdict == "known" and self.plan.baseline and self.plan.baseline.has(record):
            verdict = "old"
        if verdict == "shorter":
            self.result.new = [record if one["id"] == record["id"] else one
                               for one in self.result.new]
        if verdict == "new":
            self.series.found(record["id"])
            self._take_reproduced(record)
        getattr(self.result, "known" if verdict == "shorter" else verdict).append(record)
        self._take_merged(record)
        is_in_vain = verdict == "unreproduced" and "group" not in record
        self._in_vain = self._in_vain + 1 if is_in_vain else 0
        number = sum(map(len, (self.result.new, self.result.known, self.result.old,
                               self.result.unreproduced)))
        for index, text in enumerate(record["avoid"]):
            self.place.add_known(f"found-{number}-{index}", text)
        self.place.add_known_errors(self.triage.errors)
        if verdict in ("new", "shorter"):
            self._stopped |= bool(self.plan.stop_when and self.plan.stop_when(record))
            self.line.note(
                f"slotfuzz: {verdict}: {record['signature']}, {record['lines']} lines,"
                f" fails {record['rate']:.0%} of {record['verified_runs']} runs:"
                f" {shown(Path(record['folder']))}")
        elif verdict in ("known", "old"):
            met = getattr(self.result, verdict)
            if sum(other["id"] == record["id"] for other in met) == 1:
                self.line.note(f"slotfuzz: {verdict}: {record['id']}")
        else:
            self.line.note(f"slotfuzz: not reproduced alone: {shown(Path(record['folder']))}")
            if self._in_vain >= UNREPRODUCED_MAX:
                raise BrokenError(f"{UNREPRODUCED_MAX} crashes in a row did not reproduce;"
                                  f" see {shown(self.plan.out)}")

    def _take_reproduced(self, record: dict) -> None:
        """Takes it in that RECORD shows by itself what others of its group did not."""
        met = [one for one in self.result.unreproduced if one["folder"] == record["folder"]]
        self.result.unreproduced = [one for one in self.result.unreproduced if one not in met]
        self.result.known += met

    def _take_merged(self, record: dict) -> None:
        """Takes it in that RECORD, a finding, has shown others to be one bug with it."""
        kept, merged = Path(record["folder"]).name, record.get("merged", [])
        if not merged:
            return
        result = self.result
        gone = [one for one in result.new if one["id"] in merged]
        result.new = [one for one in result.new if one["id"] not in merged]
        result.known = [{**one, "id": kept, "folder": record["folder"]} if one["id"] in merged
                        else one for one in [*result.known, *gone]]
        self.line.note(f"slotfuzz: one bug with {kept}: {', '.join(merged)}")

    def _take_leftovers(self) -> None:
        """Judges what a killed hunt of the same subject and folder has left.

        Not for a mutant: whether this hunt finds its bug is the question.
        """
        if not self.plan.resumes or self.plan.subject.mutant:
            return
        for target, path in self.place.leftovers():
            if target in self.plan.targets and not self._over():
                self.line.note(f"slotfuzz: an earlier hunt left {path.name}")
                job = next(job for job in self.jobs if job.target == target)
                self._judge(job, path, Found(target, path.read_text(errors="replace"), "", 0, 0.0,
                                             0))
                self._take_verdict(job)

    def _close(self, job: _Job) -> Fuzzer:
        fuzzer, job.fuzzer = job.fuzzer, None
        self.clock.enter(job.name, series.RESTARTING)
        self.selector.unregister(fuzzer.stderr)
        fuzzer.stop()
        if fuzzer.has_loaded:
            self.growing[job.target].ended(job.loads, fuzzer.used())
        job.programs += fuzzer.progress.programs
        job.seconds += fuzzer.seconds()
        self.result.coverage = max(self.result.coverage, fuzzer.progress.coverage)
        self.result.corpus = max(self.result.corpus, fuzzer.progress.corpus)
        return fuzzer

    def _stop_all(self) -> None:
        for job in self.jobs:
            if job.fuzzer:
                self._close(job)
            if job.spawner:
                job.spawner.close()
        for growing in self.growing.values():
            growing.drop_torn()
        self.result.programs = self._programs()
        self.result.fuzz_seconds = round(sum(job.seconds for job in self.jobs) / len(self.jobs), 3)
        self.result.spent = self.clock.by_job()
        self.result.seconds = round(time.monotonic() - self.start, 3) if self.start else 0.0
        self.selector.close()

    def _programs(self) -> int:
        running = [job.fuzzer for job in self.jobs if job.fuzzer]
        return (sum(job.programs for job in self.jobs)
                + sum(fuzzer.estimated_programs() for fuzzer in running))

    def _now(self) -> dict:
        """The numbers of a sample of the series, but for the time."""
        running = [job.fuzzer.progress for job in self.jobs if job.fuzzer]
        result = self.result
        return {"programs": self._programs(), "rate": sum(one.rate for one in running),
                "coverage": max([result.coverage, *(one.coverage for one in running)]),
                "corpus": max([result.corpus, *(one.corpus for one in running)]),
                "new": len(result.new), "known": len(result.known),
                "unreproduced": len(result.unreproduced)}

    def _status(self, now: dict) -> str:
        left = max(0, self.deadline - time.monotonic())
        judged = sum(job.verdict is not None for job in self.jobs)
        return (f"{now['rate']:,} programs/s"
                f" · coverage {now['coverage']} · corpus {now['corpus']}"
                f" · findings {now['new']} new, {now['known']} known"
                + f", {judged} being judged" * bool(judged) + f" · {left:.0f} s left")
