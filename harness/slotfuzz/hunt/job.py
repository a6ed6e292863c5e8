"""One job of a hunt: its current libFuzzer process, and the sums over its earlier ones.

A process ends with a crash, by itself, or because something outside killed it. The job says which;
the hunt decides what comes next.
"""

import math
import selectors
import signal
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.engine.fuzzer import Fuzzer
from slotfuzz.engine.kills import is_outside
from slotfuzz.engine.server import dump_recorder
from slotfuzz.engine.zygote import Zygote
from slotfuzz.errors import BrokenError, KilledError
from slotfuzz.evidence.signature import signal_name
from slotfuzz.hunt import corpus, series
from slotfuzz.hunt.plan import Plan
from slotfuzz.hunt.verdicts import Waiting
from slotfuzz.hunt.workplace import Workplace
from slotfuzz.triage.crash import Crash

# The contract lets programs leak some objects (P5), up to 1 KB a program on the core. A process is
# replaced before that matters, and when its memory is full.
PROCESS_PROGRAMS_MAX = 1_000_000
# libFuzzer's exit code after SIGINT or SIGTERM. The hunt does not read the exit code of a process
# that it ends itself.
INTERRUPTED_EXIT = 72
# A process that fuzzed for so long before it was killed shows that the machine has enough memory.
KILL_FORGOTTEN_SECONDS = 10
# libFuzzer's signal handlers allocate, and would deadlock after a crash inside malloc. Without them
# the process dies at once, and the flight recorder has the program.
NO_HANDLERS = tuple(f"-handle_{name}=0" for name in ("segv", "bus", "abrt", "ill", "fpe"))


@dataclass
class Shared:
    """What the jobs of a hunt have in common."""

    plan: Plan
    place: Workplace
    clock: series.Clock
    selector: selectors.BaseSelector
    growing: dict[str, corpus.Growing]


@dataclass(frozen=True)
class Ended:
    """How a process ended. KILLED names a process that something outside killed, or is empty.

    FOUND is the crash to judge, if any, and ARTIFACT the file with its program.
    """

    killed: str = ""
    found: Crash | None = None
    artifact: Path | None = None


class Job:
    """Job NUMBER on TARGET.

    While WAITS_FOR is set, it waits for the verdict on that crash, at the longest until the time
    WAITS_UNTIL.
    """

    def __init__(self, shared: Shared, target: str, number: int):
        self.target, self.number = target, number
        self.fuzzer: Fuzzer | None = None
        self.waits_for: Waiting | None = None
        self.waits_until = 0.0
        # How long its last process ran.
        self.lived_seconds = 0.0
        self.programs, self.seconds = 0, 0.0
        self.coverage = self.corpus = 0
        self.kills_in_a_row = 0
        self._shared = shared
        self._zygote: Zygote | None = None
        self._loads: tuple[int, set[str]] = (0, frozenset())
        self._starts = 0

    @property
    def name(self) -> str:
        """Its name among the jobs of a hunt."""
        return f"{self.target}.{self.number}"

    def start(self, left_seconds: float) -> None:
        """Starts a process for LEFT_SECONDS, unless the job has run all its programs.

        KilledError if something outside kills the process or the zygote at once.
        """
        shared, plan = self._shared, self._shared.plan
        runs = PROCESS_PROGRAMS_MAX
        if plan.runs is not None:
            runs = min(runs, plan.runs - self.programs)
        if left_seconds <= 0 or runs <= 0:
            shared.clock.enter(self.name, series.ENDED)
            return
        folder = shared.place.job(self.target, self.number)
        for path in folder.iterdir():
            if path.is_file():
                path.unlink()
        # Reloading the corpus would make the result of a seed depend on the clock.
        extra = ("-reload=0",) if plan.jobs == 1 else ()
        if not plan.subject.watch.reports_crashes:
            extra += NO_HANDLERS
        if plan.judges_beside:
            extra += (f"--loaded={shared.place.loaded(self.target)}",)
        seed = (plan.seed + 1000003 * self.number + 7919 * self._starts) % (1 << 31) or 1
        self._loads = shared.growing[self.target].about_to_load()
        self._starts += 1
        if self._zygote is None or self._zygote.is_closed:
            self._zygote = Zygote(plan.subject, self.target, *shared.place.flags())
        self.fuzzer = Fuzzer(self._zygote, plan.corpora(self.target), folder,
                             shared.place.suppressions, seed, runs, math.ceil(left_seconds), extra)
        shared.clock.enter(self.name, series.FUZZING)
        shared.selector.register(self.fuzzer.stderr, selectors.EVENT_READ, self)

    def end(self, all_programs: int) -> Ended:
        """Records the end of the process; ALL_PROGRAMS is the count of all jobs."""
        killed = ""
        try:
            code = self.fuzzer.finish()
        except KilledError as error:
            code, killed = -signal.SIGKILL, error.process
        if is_outside(code) or code == INTERRUPTED_EXIT:
            killed = killed or f"a fuzzing process of {self.target}"
            if not self.fuzzer.has_crashed():
                self._take_killed()
                return Ended(killed)
        self.kills_in_a_row = 0
        fuzzer = self.close()
        if code == 0 or fuzzer.is_full():
            if not fuzzer.progress.programs:
                raise BrokenError(f"{self.target} ended with {code} before any program")
            return Ended()
        report = fuzzer.report()
        if code < 0 and not killed:
            report += f"\nslotfuzz: crash: {signal_name(-code).removeprefix('SIG')}\n"
        artifact = fuzzer.artifact()
        if killed or not artifact:  # the artifact may be incomplete or missing
            artifact = self._recorded(fuzzer, f"ended with {code}")
        # If the process was killed while it reported a crash, the crash counts.
        return Ended(killed, Crash(
            self.target, artifact.read_text(errors="replace"), report, all_programs, self.seconds,
            fuzzer.seed, fuzzer.recorder), artifact)

    def close(self) -> Fuzzer:
        """Stops the process and adds its numbers to those of the job."""
        shared = self._shared
        fuzzer, self.fuzzer = self.fuzzer, None
        shared.clock.enter(self.name, series.RESTARTING)
        shared.selector.unregister(fuzzer.stderr)
        fuzzer.stop()
        if fuzzer.has_loaded:
            shared.growing[self.target].ended(self._loads, fuzzer.used())
        self.programs += fuzzer.progress.programs
        self.lived_seconds = fuzzer.seconds()
        self.seconds += self.lived_seconds
        self.coverage = max(self.coverage, fuzzer.progress.coverage)
        self.corpus = max(self.corpus, fuzzer.progress.corpus)
        return fuzzer

    def stop(self) -> None:
        """Ends the fuzzing process and the zygote."""
        if self.fuzzer:
            self.close()
        if self._zygote:
            self._zygote.close()
            self._zygote = None

    def programs_now(self) -> int:
        """The number of programs that all its processes ran, including the current one."""
        return self.programs + (self.fuzzer.estimated_programs() if self.fuzzer else 0)

    def _take_killed(self) -> None:
        """Adds up the work of a process that was killed."""
        fuzzer = self.close()
        if fuzzer.seconds() >= KILL_FORGOTTEN_SECONDS:
            self.kills_in_a_row = 0
        count, _ = dump_recorder(self._shared.plan.subject, self.target, fuzzer.recorder)
        self.programs += max(0, count - fuzzer.progress.programs)

    def _recorded(self, fuzzer: Fuzzer, how: str) -> Path:
        """Saves the last program of a process that left no artifact; HOW says how it ended."""
        count, recorded = dump_recorder(self._shared.plan.subject, self.target, fuzzer.recorder)
        if not recorded:
            tail = "; ".join(fuzzer.report().strip().splitlines()[-3:])
            raise BrokenError(f"{self.target} {how} before any program: {tail}")
        # The process printed its count some time before it ended; the recorder has the exact one.
        self.programs += max(0, count - fuzzer.progress.programs)
        return fuzzer.save(recorded[-1])
