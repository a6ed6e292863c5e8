"""What can kill a mutant: a target that runs programs, the target of texts, a model of a protocol.

Each is a binary of the mutated core, which reads from the environment which mutant it runs.
"""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.engine.fuzzer import EXECUTED, FEATURES, INPUT_BYTES_MAX, STATUS
from slotfuzz.evidence.signature import of_stderr
from slotfuzz.paths import ROOT
from slotfuzz.schema import schedules
from slotfuzz.subject.subject import Subject

NUMBER, REACHED = "SLOTFUZZ_MUTANT", "SLOTFUZZ_REACHED"
# Seconds of a whole process on a busy machine.
PROCESS_SECONDS_MAX = 300
# Each site that is counted takes time, and an element of a tensor reaches several.
COUNTING_LINE_SECONDS = "--line-seconds=100"
# The report's kind is enough; a symbolizer takes half a second for each.
WITHOUT_NAMES = "symbolize=0"
# A text takes a hundredth of the time of a program.
TEXTS_PER_PROGRAM = 100
# Seeds of the targets, and what libFuzzer says before it runs one.
CALLS, RUNS_SEED = "*/checks_of_calls.py", b"Running: "
# Golden scenarios of so many threads are explored whole within milliseconds.
MODEL_THREADS = (2, 3)
MODEL_SECONDS_MAX = 10


@dataclass(frozen=True)
class Ended:
    """How a process ended: HOW it killed the mutant, or empty; its VERDICT; PROGRAMS that ran."""

    how: str = ""
    verdict: str = ""
    programs: int = 0


@dataclass(frozen=True)
class Programs:
    """The target TARGET on SUBJECT, which is either build of the core."""

    subject: Subject
    target: str

    @property
    def name(self) -> str:
        """Its name, which is the target's on the default build."""
        return f"{self.subject.name} {self.target}"

    def run(self, number: int, runs: int, seed: int, more: dict | None = None) -> Ended:
        """RUNS programs from an empty corpus, or up to the first finding."""
        return _fuzz(lambda folder: self.subject.command(
            self.target, f"--recorder={folder}/recorder", FEATURES,
            f"-max_len={INPUT_BYTES_MAX}", *[COUNTING_LINE_SECONDS] * (REACHED in (more or {}))),
            self.subject.environment() | _choice(number, more), runs, seed)


    def run_calls(self, number: int) -> Ended:
        """The seeds that compare calls with their texts, each once and nothing else."""
        environment = _without_names(self.subject.environment() | _choice(number, None))
        seeds = [str(seed) for seed in sorted((ROOT / "corpus").glob(CALLS))]
        process = _run(self.subject.command(self.target, "-detect_leaks=0", *seeds), environment)
        if process is None:
            return Ended("hang", "hang")
        programs = process.stderr.count(RUNS_SEED)
        return _ended(process, bool(programs), programs)


@dataclass(frozen=True)
class Texts:
    """The target BINARY, which reads texts of descriptions."""

    binary: Path

    @property
    def name(self) -> str:
        """The target's name."""
        return self.binary.name

    def run(self, number: int, runs: int, seed: int, more: dict | None = None) -> Ended:
        """So many texts from an empty corpus, or up to the first finding."""
        return _fuzz(lambda folder: [str(self.binary)], os.environ | _choice(number, more),
                     runs * TEXTS_PER_PROGRAM, seed)


@dataclass(frozen=True)
class Model:
    """Every execution of a protocol's golden scenarios in the model of C++ memory."""

    binary: Path

    @property
    def name(self) -> str:
        """The protocol's name."""
        return f"model {self.binary.name}"

    def run(self, number: int, runs: int, seed: int, more: dict | None = None) -> Ended:
        """The scenarios of all MODEL_THREADS, whatever RUNS and SEED are."""
        for threads in MODEL_THREADS:
            command = [str(self.binary), "--engine=model", f"--threads={threads}",
                       f"--seconds={MODEL_SECONDS_MAX}"]
            process = _run(command, os.environ | _choice(number, more))
            if process is None:
                return Ended("hang", "hang")
            try:
                failure = json.loads(process.stdout.splitlines()[-1])["failure"]
            except (IndexError, ValueError):
                return Ended("finding", f"model exit {process.returncode}")
            if failure:
                return Ended("finding", f"model {schedules.words_of(failure).partition(':')[0]}")
        return Ended()


def _choice(number: int, more: dict | None) -> dict[str, str]:
    return {NUMBER: str(number)} | (more or {})


def _fuzz(command, environment: dict[str, str], runs: int, seed: int) -> Ended:
    """One libFuzzer process: COMMAND of a folder, and libFuzzer's flags."""
    environment = _without_names(environment)
    with tempfile.TemporaryDirectory(prefix="slotfuzz-") as folder:
        os.mkdir(f"{folder}/corpus")
        process = _run([*command(folder), f"-seed={seed}", f"-runs={runs}", "-detect_leaks=0",
                        f"-artifact_prefix={folder}/", "-print_final_stats=1",
                        f"{folder}/corpus"], environment)
        found = any(path.name.startswith(("crash-", "timeout-", "oom-"))
                    for path in Path(folder).iterdir())
    if process is None:
        return Ended("hang", "hang")
    programs = max([0, *(int(match[1]) for line in process.stderr.splitlines()
                         for match in [STATUS.match(line) or EXECUTED.match(line)] if match)])
    return _ended(process, found or bool(programs), programs)


def _ended(process: subprocess.CompletedProcess, has_started: bool, programs: int) -> Ended:
    if not process.returncode:
        return Ended(programs=programs)
    report = of_stderr(process.stderr.decode(errors="replace"))
    return Ended("finding" if has_started else "start",
                 report.verdict if report else f"exit {process.returncode}", programs)


def _without_names(environment: dict[str, str]) -> dict[str, str]:
    return environment | {
        options: ":".join(filter(None, [environment.get(options), WITHOUT_NAMES]))
        for options in ("ASAN_OPTIONS", "UBSAN_OPTIONS")}


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess | None:
    """None for a process that does not end."""
    try:
        return subprocess.run(command, env=environment, capture_output=True, check=False,
                              timeout=PROCESS_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        return None
