"""A target binary that has started and answers requests: JSON lines on its stdin and stdout."""

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import tempfile
import time

from slotfuzz.engine.kills import is_outside
from slotfuzz.errors import BrokenError, KilledError, MachineError, UserError

START_SECONDS = 120
END_SECONDS = 5
# Seconds from the end of a process's output to the end of the process.
DEATH_SECONDS = 1
# The exit code of an engine that cannot do what the user asks; it says why.
REFUSED = 2


def leashed(command: list[str]) -> list[str]:
    """COMMAND with a wrapper that ends it when its parent dies, also after a kill -9."""
    return ["setpriv", "--pdeathsig", "KILL", "--", *command]


def broken(what: str) -> Exception:
    """The error for WHAT, a process of slotfuzz that failed.

    The machine is to blame where the address space is limited: a sanitizer reserves terabytes of
    it, and a target without sanitizer may fail at any allocation.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return BrokenError(what)
    return MachineError(f"the address space is limited to {limit:,} bytes (ulimit -v), and"
                        f" {what}; set: ulimit -v unlimited")


class Channel:
    """COMMAND, started and ready; WHAT names it in errors.

    Raises MachineError if it does not start, UserError if it refuses to, BrokenError when it is not
    ready in time, and KilledError whenever something outside has killed it. After an error it is
    closed.
    """

    def __init__(self, what: str, command: list[str], environment: dict[str, str]):
        self._what = what
        self._buffer = bytearray()
        # Whether this class has killed the process.
        self._ended = False
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
        """Writes REQUEST; raises BrokenError if the process no longer reads."""
        try:
            # One write puts only a part of a long line into the pipe.
            left = memoryview(json.dumps(request).encode() + b"\n")
            while left:
                left = left[self._process.stdin.write(left):]
        except BrokenPipeError:
            self._lost("does not read")

    @property
    def is_closed(self) -> bool:
        """Whether the process has ended and has been waited for."""
        return self._process.stdout.closed

    def has_answer(self, seconds: float) -> bool:
        """Whether the pipe has an answer, or its end, within SECONDS."""
        return b"\n" in self._buffer or bool(
            select.select([self._process.stdout], [], [], max(0.0, seconds))[0])

    def answer(self, seconds: float) -> dict:
        """The next answer; BrokenError if it is invalid, is an error, or takes over SECONDS."""
        deadline = time.monotonic() + seconds
        # An answer may have megabytes, so no byte is searched or copied twice.
        begin = 0
        while (end := self._buffer.find(b"\n", begin)) < 0:
            begin = len(self._buffer)
            in_time = self.has_answer(deadline - time.monotonic())
            chunk = os.read(self._process.stdout.fileno(), 1 << 16) if in_time else b""
            if not chunk:
                self._lost("died" if in_time else f"gave no answer in {seconds:.0f} s")
            self._buffer += chunk
        line = bytes(self._buffer[:end])
        del self._buffer[:end + 1]
        try:
            answer = json.loads(line)
        except ValueError as error:
            raise BrokenError(f"{self._what} wrote no JSON: {line[:200]!r}") from error
        if "error" in answer:
            raise BrokenError(f"{self._what} refuses: {answer['error']}")
        return answer

    def close(self) -> None:
        """Ends the process by closing its stdin; safe to call twice."""
        if self._process.stdout.closed:
            return
        self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def kill(self) -> None:
        """Ends the process and its children at once. Another thread may wait for its answer.

        The signal to the group misses a child that is just being forked. So the group gets a second
        signal when the process has died and can no longer fork.
        """
        self._ended = True
        # Each error says that the process has ended; the first also says that no child is left.
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.killpg(self._process.pid, signal.SIGKILL)
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _lost(self, how: str):
        was_killed = is_outside(self._died_by_itself()) and not self._ended
        self.kill()
        code = self._process.wait()
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace").strip().splitlines()
        tail = "; ".join(words[-3:]) or "it said nothing"
        self.close()
        if was_killed:
            raise KilledError(self._what)
        if code == REFUSED:
            raise UserError(tail.removeprefix("slotfuzz: "))
        raise broken(f"{self._what} {how}, exit code {code}: {tail}")

    def _died_by_itself(self) -> int | None:
        """The exit code of a process that has closed its pipes; None if it still runs."""
        try:
            return self._process.wait(DEATH_SECONDS)
        except subprocess.TimeoutExpired:
            return None
