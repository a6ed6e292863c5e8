"""A target that has started and waits: each fuzzing process is forked from it.

A finding ends its process, and importing torch takes longer than what runs until the next finding.
"""

import json
import os
import select
import signal
import subprocess
import tempfile
from pathlib import Path

from slotfuzz.engine import leashed
from slotfuzz.errors import BrokenError, MachineError
from slotfuzz.subject import Subject

STOP_SECONDS = 10


class Spawner:
    """One waiting process of TARGET, with one child at a time; see `--spawn` of the engine."""

    def __init__(self, subject: Subject, target: str):
        self.target = target
        # The child's process id while it is not waited for, and its exit code from then on.
        self._child: int | None = None
        self._code = 0
        command = subject.command(target, "--spawn")
        self._errors = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                leashed(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self._errors, env=subject.environment(), start_new_session=True, bufsize=0)
        except OSError as error:
            raise MachineError(f"{command[0]} does not start: {error.strerror}") from error
        self._answer()

    def start(self, words: list[str], errors: Path) -> None:
        """Forks a child with WORDS as its command line and the named pipe ERRORS as its stderr.

        Somebody must have opened the pipe to read it.
        """
        request = {"words": words, "errors": str(errors)}
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            self._lost()
        self._child = self._answer()["pid"]

    def stop(self) -> None:
        """Asks the child to save and end; kills it when it does not."""
        if self._child is None or self._ended(0):
            return
        os.kill(self._child, signal.SIGINT)
        if not self._ended(STOP_SECONDS):
            os.kill(self._child, signal.SIGKILL)

    def wait(self) -> int:
        """Waits for the end of the child; its exit code, or minus the number of a signal."""
        if self._child is not None:
            self._code, self._child = self._answer()["exit"], None
        return self._code

    def close(self) -> None:
        """Ends it, and the child if there is one."""
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        self._errors.close()

    def _ended(self, seconds: float) -> bool:
        """Whether the child ends within so many SECONDS: then an answer is there."""
        return bool(select.select([self._process.stdout], [], [], seconds)[0])

    def _answer(self) -> dict:
        line = self._process.stdout.readline()
        return json.loads(line) if line else self._lost()

    def _lost(self):
        self._process.kill()
        code = self._process.wait()
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace").strip().splitlines()
        tail = "; ".join(words[-3:]) or "it said nothing"
        raise BrokenError(f"{self.target} ended with {code}: {tail}")
