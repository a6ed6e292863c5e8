"""A target that has started and waits: each fuzzing process is forked from it.

A finding ends its process, and importing torch takes longer than what runs until the next finding.
"""

import contextlib
import os
import signal
from pathlib import Path

from slotfuzz.engine.channel import Channel
from slotfuzz.subject.subject import Subject

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
        if self._child is None or self._channel.is_closed or self._channel.has_answer(0):
            return
        with contextlib.suppress(ProcessLookupError):  # it, or its parent, is killed right now
            os.kill(self._child, signal.SIGINT)
            if not self._channel.has_answer(STOP_SECONDS):
                os.kill(self._child, signal.SIGKILL)

    def wait(self) -> int:
        """Waits for the end of the child; its exit code, or minus the number of a signal.

        KilledError if something outside has killed this process, with which the child dies.
        """
        if self._child is not None:
            self._child = None  # also where there is no answer
            self._code = self._channel.answer(END_SECONDS)["exit"]
        return self._code

    @property
    def is_closed(self) -> bool:
        """Whether it has died."""
        return self._channel.is_closed

    def close(self) -> None:
        """Ends it, and the child if there is one."""
        self._channel.close()
