"""A target binary that has started and answers requests: JSON lines on its stdin and stdout."""

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time

from slotfuzz.errors import BrokenError, MachineError

START_SECONDS = 120
END_SECONDS = 5


def leashed(command: list[str]) -> list[str]:
    """COMMAND so that it dies with its parent, also when that is killed with -9."""
    return ["setpriv", "--pdeathsig", "KILL", "--", *command]


class Channel:
    """COMMAND, started and ready; WHAT names it in errors.

    Raises MachineError if it does not start, and BrokenError when it is not ready in time.
    """

    def __init__(self, what: str, command: list[str], environment: dict[str, str]):
        self._what = what
        self._buffer = b""
        self._errors = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                leashed(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self._errors, env=environment, start_new_session=True, bufsize=0)
        except OSError as error:
            self._errors.close()
            raise MachineError(f"{command[0]} does not start: {error.strerror}") from error
        if not self.answer(START_SECONDS).get("ready"):
            self._lost("is not ready")

    def send(self, request: dict) -> None:
        """Writes REQUEST; BrokenError if nobody reads."""
        try:
            # A pipe takes part of a long line at a time.
            left = memoryview(json.dumps(request).encode() + b"\n")
            while left:
                left = left[self._process.stdin.write(left):]
        except BrokenPipeError:
            self._lost("does not read")

    def has_answer(self, seconds: float) -> bool:
        """Whether something can be read within so many SECONDS: an answer, or the end."""
        return b"\n" in self._buffer or bool(
            select.select([self._process.stdout], [], [], max(0.0, seconds))[0])

    def answer(self, seconds: float) -> dict:
        """The next answer; BrokenError if it is none, says an error, or takes longer than that."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._buffer:
            in_time = self.has_answer(deadline - time.monotonic())
            chunk = os.read(self._process.stdout.fileno(), 1 << 16) if in_time else b""
            if not chunk:
                self._lost("died" if in_time else f"gave no answer in {seconds:.0f} s")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            answer = json.loads(line)
        except ValueError as error:
            raise BrokenError(f"{self._what} wrote no JSON: {line[:200]!r}") from error
        if "error" in answer:
            raise BrokenError(f"{self._what} refuses: {answer['error']}")
        return answer

    def close(self) -> None:
        """Ends the process, which ends with its stdin."""
        self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def kill(self) -> None:
        """Ends the process and its children at once. Another thread may wait for its answer."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _lost(self, how: str):
        self._process.kill()
        code = self._process.wait()
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace").strip().splitlines()
        tail = "; ".join(words[-3:]) or "it said nothing"
        self.close()
        raise BrokenError(f"{self._what} {how}, exit code {code}: {tail}")
