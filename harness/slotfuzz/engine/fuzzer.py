"""One libFuzzer process: start it, read its progress, stop it, and see how it ended."""

import contextlib
import os
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.engine.zygote import Zygote
from slotfuzz.errors import BrokenError, KilledError, MachineError
from slotfuzz.evidence.signature import of_stderr
from slotfuzz.paths import from_root

TAIL_BYTES_MAX = 256 * 1024
# Wall-clock seconds. The watchdog handles a line that hangs, because it knows the machine's load.
PROGRAM_SECONDS_MAX = 250
# Size of a slot of the flight recorder (kRecorderSlotBytes), which cuts longer programs off.
INPUT_BYTES_MAX = 4096
MEMORY_MEBIBYTES_MAX = 4096
# Counters of edges are off as features: edges and life-cycle states guide the fuzzer well enough.
# Measured on the core in 30 s: a third more programs/s, and 400 corpus entries instead of 900.
FEATURES = "-use_counters=0"

# Subjects without instrumentation, such as torch, have coverage from life-cycle states only.
STATUS = re.compile(
    rb"^#(\d+)\s+\S+(?:\s+cov: (\d+))?(?: ft: (\d+))?(?: corp: (\d+))?.*?exec/s: (\d+)")
SPARED = re.compile(rb"^slotfuzz: (\d+) programs of the corpus did not run again")
EXECUTED = re.compile(rb"^stat::number_of_executed_units:\s*(\d+)")
# This limit is for the memory that all programs of a process use, not for a single allocation.
FULL = re.compile(r"ERROR: libFuzzer: out-of-memory \(used:")
ARTIFACTS = ("crash-*", "timeout-*", "oom-*", "leak-*")


@dataclass
class Progress:
    """The last status line: programs run, coverage, features, corpus entries, programs/s."""

    programs: int = 0
    coverage: int = 0
    features: int = 0
    corpus: int = 0
    rate: int = 0


class Fuzzer:
    """A running target. FOLDER holds its artifacts, its flight recorder and its stderr pipe."""

    def __init__(
        self, zygote: Zygote, corpus: list[Path], folder: Path, known: Path, seed: int,
        runs: int, seconds: int, extra: tuple[str, ...] = (),
    ):
        self.folder, self.seed = folder, seed
        self.recorder = folder / "recorder"
        self.progress = Progress()
        self.has_loaded = False
        # The programs that libFuzzer counts and that did not run: see --loaded of the engine.
        self._spared = 0
        self.tail = b""
        self.started = time.monotonic()
        self._partial = b""
        self._zygote = zygote
        self.recorder.unlink(missing_ok=True)
        # libFuzzer writes a file here for each program that it adds, also for those of the corpus.
        self._features = folder / "features"
        shutil.rmtree(self._features, ignore_errors=True)
        self._features.mkdir()
        words = [
            f"--recorder={self.recorder}", f"--suppressions={known}",
            f"-seed={seed}", f"-max_total_time={seconds}", f"-artifact_prefix={folder}/",
            f"-timeout={PROGRAM_SECONDS_MAX}", f"-max_len={INPUT_BYTES_MAX}", FEATURES,
            f"-features_dir={self._features}", "-print_final_stats=1", "-detect_leaks=0",
            f"-rss_limit_mb={MEMORY_MEBIBYTES_MAX}", f"-runs={runs}", *extra,
        ]
        words += [str(path) for path in corpus]
        pipe = folder / "errors"
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)
        self.stderr = open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb", 0)
        try:
            zygote.start(words, pipe)
        except (BrokenError, KilledError, MachineError):
            self.stderr.close()
            raise

    def read(self) -> bool:
        """Parses the new output of the process; False once the process has closed its stderr."""
        try:
            chunk = os.read(self.stderr.fileno(), 1 << 16)
        except BlockingIOError:
            return True
        if not chunk:
            return False
        self.tail = (self.tail + chunk)[-TAIL_BYTES_MAX:]
        *whole, self._partial = (self._partial + chunk).split(b"\n")
        for line in whole:
            self._take_in(line)
        return True

    def _take_in(self, line: bytes) -> None:
        match = STATUS.match(line)
        if match:
            self.progress = Progress(*(int(group or 0) for group in match.groups()))
            self.progress.programs -= self._spared
            # libFuzzer counts whole seconds, and prints 0 in the first.
            self.progress.rate = round(self.progress.programs / max(self.seconds(), 1e-3))
            self.has_loaded |= b"INITED" in line
            return
        match = EXECUTED.match(line)
        if match:
            self.progress.programs = int(match[1]) - self._spared
        match = SPARED.match(line)
        if match:
            self._spared = int(match[1])
            self.progress.programs = max(0, self.progress.programs - self._spared)

    def finish(self) -> int:
        """Waits for the end of a process that has closed its stderr; returns its exit code."""
        if not self.stderr.closed:
            while self.read():
                time.sleep(0.01)
            self.stderr.close()
        return self._zygote.wait()

    def stop(self) -> None:
        """Asks the process to save and end; kills it if it does not end."""
        self._zygote.stop()
        with contextlib.suppress(KilledError):  # a killed process has ended, too
            self.finish()

    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def estimated_programs(self) -> int:
        """Programs run by now: extrapolated from the last status line, as these are rare."""
        return max(self.progress.programs, int(self.progress.rate * self.seconds()))

    def report(self) -> str:
        """The last part of the output of the process."""
        return from_root(self.tail.decode(errors="replace"))

    def used(self) -> set[str]:
        """The names of the corpus files that the process has loaded."""
        return set(os.listdir(self._features))

    def is_full(self) -> bool:
        """Whether it ran out of memory because many programs each left some behind."""
        return bool(FULL.search(self.report()))

    def has_crashed(self) -> bool:
        """Whether it has begun to report a crash, or has saved the crashing program."""
        return self.artifact() is not None or of_stderr(self.report()) is not None

    def save(self, text: str) -> Path:
        """Saves the program TEXT as libFuzzer would, and replaces the artifact if there is one."""
        path = self.artifact() or self.folder / "crash-recorded"
        path.write_text(text)
        return path

    def artifact(self) -> Path | None:
        """The program that libFuzzer saved when the process died."""
        return next(iter(artifacts(self.folder)), None)


def artifacts(folder: Path) -> list[Path]:
    """The programs that dying processes saved in FOLDER, oldest first."""
    found = [path for pattern in ARTIFACTS for path in folder.glob(pattern)]
    return sorted(found, key=lambda path: path.stat().st_mtime_ns)
