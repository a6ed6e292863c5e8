"""Client of one target binary: its description, and its warm fork server (`--serve`).

The server forks a child for every run of a program, so a crash costs a fork and no start-up.
"""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

from slotfuzz.engine import frame, kills
from slotfuzz.engine.channel import Channel, broken
from slotfuzz.engine.kills import Kills
from slotfuzz.errors import BrokenError, KilledError, MachineError, UserError
from slotfuzz.language.program import Line, Table, lines_of
from slotfuzz.paths import from_root
from slotfuzz.schema import answers, shape
from slotfuzz.schema.answers import DroppedLine, Observation, Observed, Reply, State
from slotfuzz.subject.subject import ALLOCATION_FRAMES, Subject

DESCRIBE_SECONDS = 120
# The engine measures CPU time; on a busy machine many times as much wall time passes.
GRACE_SECONDS = 120
# More than the engine's limit for a line plus the time to symbolize its stacks.
RUN_SECONDS = 20.0
# One program takes some milliseconds with its observations.
OBSERVATIONS_SECONDS = 10


def describe(subject: Subject, target: str) -> dict:
    """The binary's description of itself: ops, kinds, prelude, planted bugs."""
    command = subject.command(target, "--describe")
    try:
        result = Kills().repeat(lambda: kills.run(
            f"{target} --describe", command, capture_output=True, text=True,
            timeout=DESCRIBE_SECONDS, env=subject.environment()))
        return json.loads(result.stdout)
    except OSError as error:
        raise MachineError(f"{command[0]} does not start: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise BrokenError(f"{target} --describe gave no answer") from error
    except ValueError as error:
        tail = (result.stderr.strip().splitlines() or ["no message"])[-1]
        raise broken(f"{target} --describe gave no JSON: {tail}") from error


class Server:
    """A warm fork server. Use it as a context manager, or close it.

    Without SYMBOLS, sanitizer reports lack function names, and each takes half a second less. EXTRA
    is added to its environment, WORDS to its flags. If something outside kills a request, it is
    repeated; KILLS counts.
    """

    def __init__(self, subject: Subject, target: str, trace: bool = False, symbols: bool = True,
                 extra: dict[str, str] | None = None, kills: Kills | None = None,
                 words: tuple[str, ...] = ()):
        self.subject, self.target, self.trace, self.symbols = subject, target, trace, symbols
        self.extra, self.kills = extra or {}, kills or Kills()
        self.words = words
        self.runs = 0
        self._channel: Channel | None = None
        self._killed = False
        # The first process also serves, because another start would take as long again.
        self.table = Table(self._request({"describe": True}, DESCRIBE_SECONDS))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def run(
        self, program: str, timeout_seconds: float = RUN_SECONDS, line_seconds: float | None = None,
    ) -> Reply:
        """Runs program text in a forked child.

        A line that takes longer than LINE_SECONDS hangs; the default is the engine's limit.
        """
        self.runs += 1
        request = {"run": program, "timeout": timeout_seconds, "frame": self._frame(program)}
        if line_seconds is not None:
            request["line_seconds"] = line_seconds
        if self.trace:
            request |= {"allocation_frames": ALLOCATION_FRAMES, "python_stacks": True}
        reply = self._answer(request, timeout_seconds)
        return replace(reply, stderr=from_root(reply.stderr))

    def states(
        self, programs: list[str], timeout_seconds: float = RUN_SECONDS,
    ) -> tuple[State, ...]:
        """Runs programs in one child, up to the first finding."""
        request = {"states": programs, "timeout": timeout_seconds}
        replies = self._answer(request, timeout_seconds).programs
        self.runs += len(replies)
        return replies

    def parse(self, program: str) -> list[Line]:
        """The lines of the text that match an op; the parser drops all others."""
        return lines_of(self._answer({"parse": program}, 0))

    def parse_counted(self, program: str) -> tuple[list[Line], int]:
        """Like parse, with the number of dropped lines."""
        answer = self._answer({"parse": program}, 0)
        return lines_of(answer), answer.dropped

    def unknown_lines(self, program: str) -> tuple[tuple[DroppedLine, ...], int]:
        """The first lines of PROGRAM that the parser drops, and the number of all dropped lines."""
        answer = self._answer({"parse": program, "frame": self._frame(program)}, 0)
        return answer.dropped_lines, answer.dropped_count

    def _frame(self, program: str) -> list[tuple[int, int]]:
        return frame.ranges(program, self.table.snippets)

    def extend(self, program: str, count: int, seed: int) -> tuple[str, ...]:
        """COUNT programs that continue PROGRAM, mostly with lines that ask for wrappers."""
        return self._answer({"extend": program, "count": count, "seed": seed}, 0).programs

    def generate(self, count: int, seed: int, ops: list[str]) -> tuple[str, ...]:
        """COUNT random programs whose lines are instances of OPS."""
        return self._answer({"generate": count, "seed": seed, "ops": ops}, 0).programs

    def observations(
        self, programs: list[str], question: str = "observe",
        program_seconds: int = OBSERVATIONS_SECONDS,
    ) -> tuple[Observed, ...]:
        """Runs programs, many in one child: for each the hash of its trace.

        The trace has the answer to QUESTION, a function of the prelude, after each line. A program
        that takes longer than PROGRAM_SECONDS has crashed.
        See harness/engine/serve/serve_observations.h.
        """
        # Each program may hang, and each hang ends another child.
        budget_seconds = program_seconds * (len(programs) + 1)
        request = {"observations": programs, "question": question,
                   "timeout": budget_seconds, "program_seconds": program_seconds}
        return self._answer(request, budget_seconds).programs

    def traces(self, programs: list[str]) -> tuple[tuple[Observation, ...], ...]:
        """The traces of some PROGRAMS of the last `observations`.

        A trace is empty if its program crashed, or if the server has started anew since.
        """
        return tuple(trace.after for trace in self._answer({"traces": programs}, 0).traces)

    def profile(self, programs: list[str], folder: str) -> int:
        """Runs PROGRAMS on a coverage build; returns how many ended their process.

        It writes a profile for each op to FOLDER: see harness/engine/serve/serve_profile.h.
        """
        request = {"profile": programs, "folder": folder}
        return self._answer(request, RUN_SECONDS * (len(programs) + 1)).died

    def close(self) -> None:
        """Ends the server; safe to call twice."""
        channel, self._channel = self._channel, None
        if channel:
            channel.close()

    def kill(self) -> None:
        """Ends the server for good and at once; a thread that waits for it gets BrokenError."""
        self._killed = True
        if self._channel:
            self._channel.kill()

    def _answer(self, request: dict, seconds: float):
        """The answer to REQUEST as a value; the first word of REQUEST names the question."""
        return shape.made(answers.OF_REQUEST[next(iter(request))], self._request(request, seconds))

    def _request(self, request: dict, seconds: float) -> dict:
        return self.kills.repeat(lambda: self._request_once(request, seconds))

    def _request_once(self, request: dict, seconds: float) -> dict:
        if self._channel is None and not self._killed:
            self._channel = self._start()
        if self._killed:
            if self._channel:
                self._channel.kill()  # kill() came while it started
            raise BrokenError(f"the fork server of {self.target} was ended")
        try:
            self._channel.send(request)
            answer = self._channel.answer(seconds + GRACE_SECONDS)
        except (BrokenError, KilledError, MachineError, UserError):
            self.close()
            raise
        if answer.get("killed"):
            raise KilledError(f"a child of the fork server of {self.target}")
        return answer

    def _start(self) -> Channel:
        environment = self.subject.environment(full_stacks=self.trace) | self.extra
        if self.trace:
            if self.subject.capabilities.trace_variable:
                environment[self.subject.capabilities.trace_variable] = "1"
            # Allocations at CPython's start need no stack; `run` turns stacks on for programs.
            environment["ASAN_OPTIONS"] += ":malloc_context_size=1"
        if not self.symbols:
            for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
                environment[name] = ":".join(filter(None, [environment.get(name), "symbolize=0"]))
        command = self.subject.command(self.target, "--serve", *self.words)
        return Channel(f"the fork server of {self.target}", command, environment)


def dump_recorder(subject: Subject, target: str, recorder: Path) -> tuple[int, list[str]]:
    """For a process that died: the number of programs that ran, and the last ones, oldest first."""
    if not recorder.exists():
        return 0, []
    command = subject.command(target, f"--dump-recorder={recorder}")
    result = Kills().repeat(lambda: kills.run(
        f"{target} --dump-recorder", command, capture_output=True, timeout=DESCRIBE_SECONDS,
        env=subject.environment()))
    try:
        recording = json.loads(result.stdout.decode(errors="replace"))
        return recording["count"], recording["programs"]
    except ValueError:
        return 0, []
