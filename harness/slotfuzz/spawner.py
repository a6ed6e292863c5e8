"""A target that has started and waits: each fuzzing process is forked from it.

A finding ends its process, and importing torch takes longer than what runs until the next finding.
"""

import os
import signal
from pathlib import Path

from slotfuzz.channel import Channel
from slotfuzz.subject import Subject

STOP_SECONDS = 10
# A child that closed its stderr is at its end, and one that is killed dies.
END_SECONDS = 60


class Spawner:
    """One waiting process of TARGET, with one child at a time; see `--spawn` of the engine."""

    def __init__(self, subject: Subject, target: str):
        # The child's process id while it is not waited for, and its exit code from then on.
        self._child: int | None = None
        self._code = 0
        self._channel = Channel(f"the parent of the fuzzing processes of {target}",
                                subject.command(target, "--spawn"), subject.environment())

    def start(self, words: list[str], errors: Path) -> None:
        """Forks a child with WORDS as its command line and the named pipe ERRORS as its stderr.

        Somebody must have opened the pipe to read it.
        """
        self._channel.send({"words": words, "errors": str(errors)})
        self._child = self._channel.answer(END_SECONDS)["pid"]

    def stop(self) -> None:
        """Asks the child to save and end; kills it when it does not."""
        if self._child is None or self._channel.has_answer(0):
            return
        os.kill(self._child, signal.SIGINT)
        if not self._channel.has_answer(STOP_SECONDS):
            os.kill(self._child, signal.SIGKILL)

    def wait(self) -> int:
        """Waits for the end of the child; its exit code, or minus the number of a signal."""
        if self._child is not None:
            self._code, self._child = self._channel.answer(END_SECONDS)["exit"], None
        return self._code

    def close(self) -> None:
        """Ends it, and the child if there is one."""
        self._channel.close()
