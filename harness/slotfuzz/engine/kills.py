"""Processes of ours that something outside killed: the kernel for want of memory, or a person.

Such a death says nothing about the subject. The work is done again in a new process, and counted.
"""

import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from slotfuzz.console import say
from slotfuzz.errors import KilledError, MachineError

# So many times in a row the same piece of work is killed: it will not get through here.
KILLS_IN_A_ROW_MAX = 5

# How a process dies for such a reason. SIGPIPE: what was killed is the symbolizer that it asks.
SIGNALS = (signal.SIGKILL, signal.SIGPIPE)

T = TypeVar("T")


def is_outside(code: int | None) -> bool:
    """Whether an exit CODE, minus the number of a signal, is that of a killed process."""
    return code in [-number for number in SIGNALS]



class Kills:
    """Counts killed processes by name, and repeats what they were to do. Threads may share it."""

    def __init__(self, tell: Callable[[str], None] = say):
        self.counts: Counter[str] = Counter()
        self._tell = tell
        self._lock = threading.Lock()

    def note(self, process: str) -> None:
        """Counts one kill of PROCESS, and says so."""
        with self._lock:
            self.counts[process] += 1
        self._tell(f"{process} was killed (SIGKILL)")

    def repeat(self, work: Callable[[], T]) -> T:
        """What WORK returns, started again after each KilledError; MachineError if that goes on."""
        for _ in range(KILLS_IN_A_ROW_MAX):
            try:
                return work()
            except KilledError as error:
                self.note(error.process)
                last = error
        raise too_many(last.process, KILLS_IN_A_ROW_MAX) from last


def too_many(process: str, times: int) -> MachineError:
    """The error that ends a command whose PROCESS was killed TIMES in a row."""
    return MachineError(f"{process} was killed (SIGKILL) {times} times in a row; is memory short?"
                        " (dmesg names what the kernel killed)")


def run(process: str, command: list[str], **options) -> subprocess.CompletedProcess:
    """subprocess.run of COMMAND; KilledError, which names PROCESS, if something kills it."""
    result = subprocess.run(command, check=False, **options)
    if is_outside(result.returncode):
        raise KilledError(process)
    return result
