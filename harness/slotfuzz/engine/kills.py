"""Counts and repeats work of slotfuzz's processes that the OOM killer or a person killed.

Such a death says nothing about the subject. A new process repeats the work.
"""

import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from slotfuzz.console import say
from slotfuzz.errors import KilledError, MachineError

# After so many kills in a row, a command gives up the piece of work.
KILLS_IN_A_ROW_MAX = 5

# Signals of such a death. A process gets SIGPIPE if something killed the symbolizer it writes to.
SIGNALS = (signal.SIGKILL, signal.SIGPIPE)

T = TypeVar("T")


def is_outside(code: int | None) -> bool:
    """Whether an exit CODE, a negative signal number, shows that something killed the process."""
    return code in [-number for number in SIGNALS]



class Kills:
    """Counts killed processes by name, and repeats their work. Threads may share it."""

    def __init__(self, report: Callable[[str], None] = say):
        self.counts: Counter[str] = Counter()
        self._report = report
        self._lock = threading.Lock()

    def note(self, process: str) -> None:
        """Counts one kill of PROCESS, and prints a line about it."""
        with self._lock:
            self.counts[process] += 1
        self._report(f"{process} was killed (SIGKILL)")

    def repeat(self, work: Callable[[], T]) -> T:
        """The result of WORK, restarted after each KilledError; MachineError after too many."""
        for _ in range(KILLS_IN_A_ROW_MAX):
            try:
                return work()
            except KilledError as error:
                self.note(error.process)
                last = error
        raise too_many(last.process, KILLS_IN_A_ROW_MAX) from last


def too_many(process: str, times: int) -> MachineError:
    """The error that ends a command after something killed its PROCESS TIMES times in a row."""
    return MachineError(f"{process} was killed (SIGKILL) {times} times in a row; is memory short?"
                        " (dmesg names what the kernel killed)")


def run(process: str, command: list[str], **options) -> subprocess.CompletedProcess:
    """subprocess.run of COMMAND; raises KilledError with the name PROCESS if something kills it."""
    result = subprocess.run(command, check=False, **options)
    if is_outside(result.returncode):
        raise KilledError(process)
    return result
