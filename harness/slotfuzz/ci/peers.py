"""Runs other fuzzers on the bug of a mutant, each until it finds the bug or has used its CPU time.

A search is one process with its children. CPU time, and not wall time, limits it, so that a busy
machine changes no result, and a fuzzer that starts several processes pays for all of them.
"""

import contextlib
import importlib
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.ci import fleet
from slotfuzz.engine.fuzzer import FEATURES, INPUT_BYTES_MAX
from slotfuzz.errors import BrokenError, MachineError
from slotfuzz.paths import ROOT, build_root
from slotfuzz.subject import build, mutant, subject

POLL_SECONDS = 0.02
RESAMPLES = 10_000
# What libFuzzer does without our mutators: their names are changed, so that it finds none.
WITHOUT_MUTATORS = ("-DLLVMFuzzerCustomMutator=unused_mutator"
                    " -DLLVMFuzzerCustomCrossOver=unused_cross_over")
SANITIZER_OPTIONS = ("abort_on_error=1:symbolize=0:detect_odr_violation=0:detect_leaks=0:"
                     "allocator_may_return_null=1")
# AFL++ begins with a file; this line is in no mutant's program.
FIRST_INPUT = "t0 = T.ones(1)\n"
AFL_VARIABLES = {
    "ASAN_OPTIONS": SANITIZER_OPTIONS, "AFL_BENCH_UNTIL_CRASH": "1", "AFL_SKIP_CPUFREQ": "1",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1", "AFL_NO_AFFINITY": "1", "AFL_NO_UI": "1",
}


@dataclass(frozen=True)
class Bug:
    """A mutant, its target, and the binaries that contain it."""

    name: str
    target: str
    ours: subject.Subject
    of_bytes: Path
    of_afl: Path
    mutator: Path


@dataclass(frozen=True)
class Search:
    """How a fuzzer looks for a bug: its command, its variables, and whether it has found it.

    COMMAND gets the bug, a new folder and a seed; HAS_FOUND the folder, after the process ended.
    """

    name: str
    command: Callable[[Bug, Path, int], list[str]]
    has_found: Callable[[Path], bool]
    variables: Callable[[Bug], Mapping[str, str]]


@dataclass(frozen=True)
class Times:
    """CPU seconds of the searches that FOUND the bug, and how many did not within the limit."""

    found: tuple[float, ...]
    missed: int
    limit_seconds: float

    @property
    def all(self) -> list[float]:
        """The seconds of all searches; one that did not find the bug counts as the limit."""
        return [*self.found, *[self.limit_seconds] * self.missed]

    @property
    def mean(self) -> float:
        """The restricted mean: the area under the survival curve up to the limit."""
        return statistics.fmean(self.all)

    def interval(self) -> tuple[float, float]:
        """The 95 % percentile interval of the restricted mean by bootstrap, with a fixed seed."""
        draw, times = random.Random(1), self.all
        means = sorted(statistics.fmean(draw.choices(times, k=len(times)))
                       for _ in range(RESAMPLES))
        return means[RESAMPLES // 40], means[-RESAMPLES // 40]


def a12(ours: Times, theirs: Times) -> float:
    """The chance that a search of OURS is quicker than one of THEIRS; equal times count half.

    Vargha and Delaney's measure, J. Educ. Behav. Stat. 25, 2000.
    """
    pairs = [(one, other) for one in ours.all for other in theirs.all]
    return sum(0.5 if one == other else one < other for one, other in pairs) / len(pairs)


def bug_of(name: str) -> Bug:
    """Builds the mutant NAME for each search. MachineError if this machine lacks a package."""
    _psutil()
    if not shutil.which("afl-fuzz"):
        raise MachineError("afl-fuzz is missing; run: apt-get install -y afl++")
    target = mutant.read_header(name).target
    work = {"WORK": str(build_root() / "peers")}
    flags = " ".join([fleet.OWN_FLAGS, fleet.SANITIZER_FLAGS["address"],
                      fleet.ENGINES["libfuzzer"][0], WITHOUT_MUTATORS])
    of_bytes, of_afl = (
        fleet.make(fleet.wish_of(work | more), [target], name)[0]
        for more in ({"CXXFLAGS": flags}, {"FUZZING_ENGINE": "afl"}))
    mutator = build.build("plain", [f"afl-{target}"]) / "afl" / f"{target}.so"
    ours = subject.resolve(f"mutant:{name}", None, [target], with_python=False)
    return Bug(name, target, ours, of_bytes, of_afl, mutator)


def run(search: Search, bug: Bug, folder: Path, seed: int, limit_seconds: float) -> float | None:
    """CPU seconds until SEARCH has found BUG, or None if it has not after LIMIT_SECONDS.

    BrokenError if the process ends before that for another reason.
    """
    psutil = _psutil()
    with open(folder / "output", "wb") as output:
        process = subprocess.Popen(
            search.command(bug, folder, seed), stdout=output, stderr=output,
            stdin=subprocess.DEVNULL, cwd=folder,
            env=os.environ | dict(search.variables(bug)))
    whole, seconds = psutil.Process(process.pid), 0.0
    while True:
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
        if ended:
            process.returncode = os.waitstatus_to_exitcode(status)
            if search.has_found(folder):
                # A child that outlives the process is in the last sum alone.
                return min(max(seconds, used.ru_utime + used.ru_stime), limit_seconds)
            tail = (folder / "output").read_text(errors="replace")[-300:]
            raise BrokenError(f"{search.name} ended with {process.returncode}: {tail!r}")
        seconds = max(seconds, _cpu_seconds(psutil, whole))
        if seconds >= limit_seconds:
            # Not the group: afl-fuzz starts its target in a session of its own.
            for one in [whole, *whole.children(recursive=True)]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.kill()
            process.wait()
            return None
        time.sleep(POLL_SECONDS)


def _cpu_seconds(psutil, process) -> float:
    """CPU seconds of PROCESS, its children, and theirs that have ended."""
    total = 0.0
    with contextlib.suppress(psutil.NoSuchProcess):
        for one in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                total += sum(one.cpu_times()[:4])
    return total


def _psutil():
    try:
        return importlib.import_module("psutil")
    except ImportError:
        raise MachineError("psutil is missing; run: apt-get install -y python3-psutil") from None


def _libfuzzer(binary: list[str], folder: Path, seed: int) -> list[str]:
    corpus = folder / "corpus"
    corpus.mkdir()
    return [*binary, f"-seed={seed}", f"-artifact_prefix={folder}/", FEATURES, "-detect_leaks=0",
            f"-max_len={INPUT_BYTES_MAX}", str(corpus)]


def _ours(bug: Bug, folder: Path, seed: int) -> list[str]:
    return _libfuzzer(bug.ours.command(bug.target, f"--recorder={folder}/recorder"), folder, seed)


def _bytes(bug: Bug, folder: Path, seed: int) -> list[str]:
    return _libfuzzer([str(bug.of_bytes)], folder, seed)


def _afl(bug: Bug, folder: Path, seed: int) -> list[str]:
    seeds = folder / "seeds"
    seeds.mkdir()
    (seeds / "one.py").write_text(FIRST_INPUT)
    return ["afl-fuzz", "-s", str(seed), "-m", "none", "-t", "5000+", "-i", str(seeds),
            "-o", str(folder / "found"), "--", str(bug.of_afl)]


def _drawn(how: str) -> Callable[[Bug, Path, int], list[str]]:
    return lambda bug, folder, seed: [
        sys.executable, "-m", "slotfuzz.scripts.drawn", how, bug.name, str(seed)]


def _has_crash(folder: Path) -> bool:
    return any(folder.glob("crash-*"))


def _has_afl_crash(folder: Path) -> bool:
    return any((folder / "found").glob("default/crashes/id*"))


def _has_said(folder: Path) -> bool:
    return (folder / "output").read_text(errors="replace").endswith("found\n")


def _own_variables(bug: Bug) -> Mapping[str, str]:
    return bug.ours.environment()


def _afl_with_mutator(bug: Bug) -> Mapping[str, str]:
    return AFL_VARIABLES | {"AFL_CUSTOM_MUTATOR_LIBRARY": str(bug.mutator),
                            "AFL_CUSTOM_MUTATOR_ONLY": "1"}


OURS = Search("slotfuzz", _ours, _has_crash, _own_variables)
PEERS = (
    # The same search once more, with other seeds: what differs here is chance.
    Search("slotfuzz again", lambda bug, folder, seed: _ours(bug, folder, seed + 1000),
           _has_crash, _own_variables),
    Search("lines, unguided", _drawn("lines"), _has_said,
           lambda bug: {"PYTHONPATH": str(ROOT / "harness")}),
    Search("Hypothesis", _drawn("hypothesis"), _has_said,
           lambda bug: {"PYTHONPATH": str(ROOT / "harness")}),
    Search("AFL++, our mutators", _afl, _has_afl_crash, _afl_with_mutator),
    Search("AFL++", _afl, _has_afl_crash, lambda bug: AFL_VARIABLES),
    Search("libFuzzer, bytes", _bytes, _has_crash,
           lambda bug: {"ASAN_OPTIONS": SANITIZER_OPTIONS}),
)
