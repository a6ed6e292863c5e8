"""One libFuzzer process: start it, read its progress, stop it, and see how it ended."""

import contextlib
import os
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.engine.zygote import Spawner
from slotfuzz.errors import BrokenError, KilledError, MachineError
from slotfuzz.evidence.signature import of_stderr
from slotfuzz.paths import from_root

TAIL_BYTES_MAX = 256 * 1024
# Of a clock on the wall. A line that hangs is the watchdog's, which knows how busy the machine is.
PROGRAM_SECONDS_MAX = 250
# What a slot of the flight recorder takes (kRecorderSlotBytes); a longer program is cut there.
INPUT_BYTES_MAX = 4096
MEMORY_MEBIBYTES_MAX = 4096
# How often an edge was passed is no feature: edges and life-cycle states are enough to steer by.
# Measured on the core in 30 s: a third more programs/s, and 400 corpus entries instead of 900.
FEATURES = "-use_counters=0"

# Where nothing is instrumented, as in torch, there is no coverage but that of life-cycle states.
STATUS = re.compile(
    rb"^#(\d+)\s+\S+(?:\s+cov: (\d+))?(?: ft: (\d+))?(?: corp: (\d+))?.*?exec/s: (\d+)")
EXECUTED = re.compile(rb"^stat::number_of_executed_units:\s*(\d+)")
# The limit of a process, reached by all that it ran; one that asks for too much in one go is not.
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
    """A running target. FOLDER holds its artifacts, its flight recorder and the pipe it reads."""

    def __init__(
        self, spawner: Spawner, corpus: list[Path], folder: Path, known: Path, seed: int,
        runs: int, seconds: int, extra: tuple[str, ...] = (),
    ):
        self.folder, self.seed = folder, seed
        self.recorder = folder / "recorder"
        self.progress = Progress()
        self.has_loaded = False
        self.tail = b""
        self.started = time.monotonic()
        self._partial = b""
        self._spawner = spawner
        self.recorder.unlink(missing_ok=True)
        # libFuzzer writes a file here for each program that it takes in, of the corpus too.
        self._features = folder / "features"
        shutil.rmtree(self._features, ignore_errors=True)
        self._features.mkdir()
        words = [
            f"--recorder={self.recorder}", f"--known={known}",
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
            spawner.start(words, pipe)
        except (BrokenError, KilledError, MachineError):
            self.stderr.close()
            raise

    def read(self) -> bool:
        """Takes in what the process has written; False once it has closed its stderr."""
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
            # libFuzzer counts whole seconds, and says 0 in the first.
            self.progress.rate = round(self.progress.programs / max(self.seconds(), 1e-3))
            self.has_loaded |= b"INITED" in line
            return
        match = EXECUTED.match(line)
        if match:
            self.progress.programs = int(match[1])

    def finish(self) -> int:
        """Waits for the end of a process that closed its stderr; its exit code."""
        if not self.stderr.closed:
            while self.read():
                time.sleep(0.01)
            self.stderr.close()
        return self._spawner.wait()

    def stop(self) -> None:
        """Asks the process to save and end; kills it when it does not."""
        self._spawner.stop()
        with contextlib.suppress(KilledError):  # then it has ended as well
            self.finish()

    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def estimated_programs(self) -> int:
        """Programs run by now: the last report, carried on at its rate (reports are seldom)."""
        return max(self.progress.programs, int(self.progress.rate * self.seconds()))

    def report(self) -> str:
        """The end of what the process wrote."""
        return from_root(self.tail.decode(errors="replace"))

    def used(self) -> set[str]:
        """The names of the files in the corpus that it has taken in."""
        return set(os.listdir(self._features))

    def is_full(self) -> bool:
        """Whether it died of the memory that its programs have left, one after the other."""
        return bool(FULL.search(self.report()))

    def has_crashed(self) -> bool:
        """Whether it has begun to report a crash, or saved its program."""
        return self.artifact() is not None or of_stderr(self.report()) is not None

    def save(self, text: str) -> Path:
        """Saves the program TEXT as libFuzzer would have, in the place of what it has saved."""
        path = self.artifact() or self.folder / "crash-recorded"
        path.write_text(text)
        return path

    def artifact(self) -> Path | None:
        """The program that libFuzzer saved when it died."""
        return next(iter(artifacts(self.folder)), None)


def artifacts(folder: Path) -> list[Path]:
    """Programs that libFuzzer saved in FOLDER when it died, oldest first."""
    found = [path for pattern in ARTIFACTS for path in folder.glob(pattern)]
    return sorted(found, key=lambda path: path.stat().st_mtime_ns)
