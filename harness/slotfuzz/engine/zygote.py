"""Zygote: a target that has started and waits, and that forks each fuzzing process.

A finding ends its process, and importing torch takes longer than fuzzing until the next finding.
"""

import contextlib
import os
import signal
from pathlib import Path

from slotfuzz.engine.channel import Channel
from slotfuzz.subject.subject import Subject

STOP_SECONDS = 10
# A child ends soon after it closes its stderr, and a killed child dies.
END_SECONDS = 60


class Zygote:
    """One waiting process of TARGET with one child at a time; see `--spawn` of the engine.

    WORDS are more flags of the engine.
    """

    def __init__(self, subject: Subject, target: str, *words: str):
        # The child's process id until it has been waited for, and its exit code after that.
        self._child: int | None = None
        self._code = 0
        self._channel = Channel(f"the parent of the fuzzing processes of {target}",
                                subject.command(target, "--spawn", *words), subject.environment())

    def start(self, words: list[str], errors: Path) -> None:
        """Forks a child with WORDS as its command line and the named pipe ERRORS as its stderr.

        The caller must have opened the pipe for reading.
        """
        self._channel.send({"words": words, "errors": str(errors)})
        self._child = self._channel.answer(END_SECONDS)["pid"]

    def stop(self) -> None:
        """Asks the child to save and end; kills it if it does not end."""
        if self._child is None or self._channel.is_closed or self._channel.has_answer(0):
            return
        with contextlib.suppress(ProcessLookupError):  # another kill may end child or zygote
            os.kill(self._child, signal.SIGINT)
            if not self._channel.has_answer(STOP_SECONDS):
                os.kill(self._child, signal.SIGKILL)

    def wait(self) -> int:
        """Waits for the end of the child; its exit code, or the negative number of a signal.

        Raises KilledError if something outside has killed the zygote; the child dies with it.
        """
        if self._child is not None:
            self._child = None  # also if the zygote does not answer
            self._code = self._channel.answer(END_SECONDS)["exit"]
        return self._code

    @property
    def is_closed(self) -> bool:
        """Whether the zygote has died."""
        return self._channel.is_closed

    def close(self) -> None:
        """Ends the zygote, and its child if it has one."""
        self._channel.close()
