"""Client of one target binary: what it describes, and its warm fork server (`--serve`).

Every run of a program is a forked child of the server, so a crash costs a fork and no start-up.
"""

import json
import os
import select
import subprocess
import tempfile
import time
from pathlib import Path

from slotfuzz.errors import BrokenError, MachineError
from slotfuzz.paths import from_root
from slotfuzz.program import Line, Table, lines_of
from slotfuzz.subject import Subject

DESCRIBE_SECONDS = 120
START_SECONDS = 120
GRACE_SECONDS = 30
# More than the engine's limit for a line, and the time to name its stacks.
RUN_SECONDS = 20.0


def leashed(command: list[str]) -> list[str]:
    """COMMAND so that it dies with its parent, also when that is killed with -9."""
    return ["setpriv", "--pdeathsig", "KILL", "--", *command]


def describe(subject: Subject, target: str) -> dict:
    """What the binary says about itself: ops, kinds, prelude, planted bugs."""
    command = subject.command(target, "--describe")
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False,
                                timeout=DESCRIBE_SECONDS, env=subject.environment())
        return json.loads(result.stdout)
    except OSError as error:
        raise MachineError(f"{command[0]} does not start: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise BrokenError(f"{target} --describe gave no answer") from error
    except ValueError as error:
        tail = (result.stderr.strip().splitlines() or ["no message"])[-1]
        raise BrokenError(f"{target} --describe gave no JSON: {tail}") from error


class Server:
    """A warm fork server. Use as a context manager, or close it.

    Without SYMBOLS the reports of sanitizers have no names, and cost no half second each. EXTRA
    goes into its environment.
    """

    def __init__(self, subject: Subject, target: str, trace: bool = False, symbols: bool = True,
                 extra: dict[str, str] | None = None):
        self.subject, self.target, self.trace, self.symbols = subject, target, trace, symbols
        self.extra = extra or {}
        self.table = Table(describe(subject, target))
        self.runs = 0
        self._process = None
        self._buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def run(
        self, program: str, timeout_seconds: float = RUN_SECONDS, line_seconds: float | None = None,
    ) -> dict:
        """Runs program text in a forked child; the engine's reply, see `--serve`.

        A line that takes longer than LINE_SECONDS hangs; by default the engine has a limit.
        """
        self.runs += 1
        request = {"run": program, "timeout": timeout_seconds}
        if line_seconds is not None:
            request["line_seconds"] = line_seconds
        reply = self._request(request, timeout_seconds)
        return {**reply, "stderr": from_root(reply["stderr"])}

    def states(self, programs: list[str], timeout_seconds: float = RUN_SECONDS) -> list[dict]:
        """Runs programs in one child, up to the first finding: outcome and state, see `--serve`."""
        request = {"states": programs, "timeout": timeout_seconds}
        replies = self._request(request, timeout_seconds)["programs"]
        self.runs += len(replies)
        return replies

    def parse(self, program: str) -> list[Line]:
        """The lines of the text that are instances of an op; all others are dropped."""
        return lines_of(self._request({"parse": program}, 0))

    def parse_counted(self, program: str) -> tuple[list[Line], int]:
        """Like parse, with the number of dropped lines."""
        answer = self._request({"parse": program}, 0)
        return lines_of(answer), answer["dropped"]

    def extend(self, program: str, count: int, seed: int) -> list[str]:
        """COUNT programs that go on after PROGRAM, mostly by asking the subject for wrappers."""
        return self._request({"extend": program, "count": count, "seed": seed}, 0)["programs"]

    def generate(self, count: int, seed: int, ops: list[str]) -> list[str]:
        """COUNT random programs of lines of OPS."""
        return self._request({"generate": count, "seed": seed, "ops": ops}, 0)["programs"]

    def facts(
        self, programs: list[str], whole: bool = False, timeout_seconds: float = RUN_SECONDS,
    ) -> list[dict]:
        """Runs programs, many in one child: for each the hash of its trace, or the WHOLE of it.

        See harness/engine/serve_facts.h.
        """
        # Each program may hang, and ends a child of its own then.
        budget_seconds = timeout_seconds * (len(programs) + 1)
        request = {"facts": programs, "whole": whole, "timeout": budget_seconds}
        return self._request(request, budget_seconds)["programs"]

    def close(self) -> None:
        """Ends the server; safe to call twice."""
        if self._process is None:
            return
        process, self._process = self._process, None
        process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        self._stderr.close()

    def _request(self, request: dict, seconds: float) -> dict:
        if self._process is None:
            self._start()
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self._lost("does not read")
        return self._answer(seconds + GRACE_SECONDS)

    def _start(self) -> None:
        environment = self.subject.environment(full_stacks=self.trace) | self.extra
        if self.trace:
            environment["SLOTCORE_TRACE"] = "1"
        if not self.symbols:
            for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
                environment[name] = ":".join(filter(None, [environment.get(name), "symbolize=0"]))
        command = self.subject.command(self.target, "--serve")
        self._stderr = tempfile.TemporaryFile()
        self._buffer = b""
        try:
            self._process = subprocess.Popen(
                leashed(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self._stderr, env=environment, start_new_session=True)
        except OSError as error:
            raise MachineError(f"{command[0]} does not start: {error.strerror}") from error
        if not self._answer(START_SECONDS).get("ready"):
            self._lost("is not ready")

    def _answer(self, seconds: float) -> dict:
        deadline = time.monotonic() + seconds
        out = self._process.stdout.fileno()
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([out], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(out, 1 << 16) if ready else b""
            if not chunk:
                self._lost("died" if ready else f"gave no answer in {seconds:.0f} s")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            answer = json.loads(line)
        except ValueError as error:
            raise BrokenError(f"the fork server wrote no JSON: {line[:200]!r}") from error
        if "error" in answer:
            raise BrokenError(f"the fork server refuses: {answer['error']}")
        return answer

    def _lost(self, how: str):
        self._process.kill()
        self._process.wait()
        self._process = None
        self._stderr.seek(0)
        words = self._stderr.read().decode(errors="replace").strip().splitlines()
        tail = "; ".join(words[-3:]) or "it said nothing"
        raise BrokenError(f"the fork server of {self.target} {how}: {tail}")


def dump_recorder(subject: Subject, target: str, recorder: Path) -> list[str]:
    """The last programs of a process that died, oldest first; empty if nothing was recorded."""
    if not recorder.exists():
        return []
    command = subject.command(target, f"--dump-recorder={recorder}")
    result = subprocess.run(command, capture_output=True, check=False, timeout=DESCRIBE_SECONDS,
                            env=subject.environment())
    try:
        return json.loads(result.stdout.decode(errors="replace"))["programs"]
    except ValueError:
        return []
