"""Fuzzes schedules of the claim, count and disarm code of an installed libtorch.

targets/c10 is a libFuzzer binary with a scenario for each model. It runs under both sanitizers. A
finding is minimized, replayed in fresh processes, and shown as a table.
"""

import json
import math
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.engine import fuzzer, kills
from slotfuzz.engine.channel import leashed
from slotfuzz.engine.kills import Kills
from slotfuzz.errors import BrokenError, MachineError, UserError, nearest
from slotfuzz.evidence import signature
from slotfuzz.interleave import c10_input, c10_repro
from slotfuzz.paths import from_root
from slotfuzz.reduce.search import BudgetSpent, Search
from slotfuzz.subject.subjects.c10 import Place

NAME = "c10"
SANITIZERS = ("thread", "address")
REPLAYS = 20
# A step takes two runs. It removes a byte or makes it smaller, which each byte allows twice.
MINIMIZE_RUNS_MAX = 400
GRACE_SECONDS = 60
RUN_SECONDS = 60

SAID = re.compile(r"^c10: [\w-]+: (?!runs$)(.+)$", re.MULTILINE)
FRAME = re.compile(r"^ *#\d+ (?:0x\w+ in )?(c10::[\w:~]+)", re.MULTILINE)
# Stack frames of the scheduler and of libFuzzer, which do not belong to the code under test.
PLUMBING = re.compile(
    r"^ *#\d+ .*(harness/interleave/|/include/c\+\+/|operator\(\) targets/c10/fuzz|std::_Function|"
    r"slotfuzz_fibre_begin|libFuzzer|__sanitizer|__tsan::|sighandler|fuzzer::).*\n?", re.MULTILINE)
REPORT_END = re.compile(r"\n(SUMMARY: |====|NOTE: libFuzzer|==\d+==Register)")
DEADLY = "ERROR: libFuzzer: deadly signal"
RUNNING = re.compile(r"^Running: .*/input-(\d+)$", re.MULTILINE)
EXECUTED = re.compile(r"^stat::number_of_executed_units:\s*(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """How a process failed. Equal failures have equal KIND; MESSAGE may also name a function."""

    kind: str
    message: str


@dataclass(frozen=True)
class Target:
    """The binary of one sanitizer with one scenario."""

    place: Place
    binary: str
    scenario: str
    ops: list[str]
    sanitizer: str

    def run(self, *words: str, seconds: float = RUN_SECONDS, terse: bool = False):
        """Exit code, None for a hang, and stderr with paths relative to the checkout."""
        command = [self.binary, f"--scenario={self.scenario}", *words]
        command, environment = self.place.start(command, terse)
        try:
            result = Kills().repeat(lambda: kills.run(
                f"the target of {NAME}", leashed(command), capture_output=True, timeout=seconds,
                stdin=subprocess.DEVNULL, env=environment))
        except subprocess.TimeoutExpired as error:
            return None, from_root((error.stderr or b"").decode(errors="replace"))
        except OSError as error:
            raise MachineError(f"{command[0]} does not start: {error.strerror}") from error
        return result.returncode, from_root(result.stderr.decode(errors="replace"))

    def replay(self, data: bytes, *flags: str, terse: bool = True):
        """Runs one input in a fresh process; returns the same."""
        with tempfile.NamedTemporaryFile(prefix="input-", dir=self.place.folder()) as file:
            file.write(data)
            file.flush()
            return self.run(*flags, self.place.inside(Path(file.name)), terse=terse)


def describe(place: Place, binary: str) -> list[dict]:
    """The scenarios of the binary: name, sentence, ops."""
    command, environment = place.start([binary, "--describe"], True)
    result = subprocess.run(leashed(command), capture_output=True, text=True, check=False,
                            env=environment)
    try:
        return json.loads(result.stdout)["scenarios"]
    except (ValueError, KeyError) as error:
        lines = result.stderr.strip().splitlines() or [f"exit code {result.returncode}"]
        raise MachineError(f"{binary} --describe gave no answer: {lines[-1]}") from error


def check_scenarios(names: list[str], offered: list[str]) -> list[str]:
    """NAMES, or all OFFERED if empty; UserError for a name that is not offered."""
    for name in names:
        if name not in offered:
            raise UserError(f"no model {name!r} of {NAME}; {nearest(name, offered)}")
    return names or offered


def hunt(target: Target, seconds: float, seed: int) -> dict:
    """Fuzzes from an empty corpus until SECONDS are over or something is found."""
    with tempfile.TemporaryDirectory(prefix="c10-", dir=target.place.folder()) as name:
        start = time.monotonic()
        code, text = target.run(
            f"-max_total_time={math.ceil(seconds)}", f"-max_len={c10_input.BYTES_MAX}",
            f"-seed={seed}", "-print_final_stats=1",
            f"-artifact_prefix={target.place.inside(Path(name))}/",
            seconds=seconds + GRACE_SECONDS)
        spent = time.monotonic() - start
        saved = [path.read_bytes() for path in fuzzer.artifacts(Path(name))]
    if "INITED" not in text:
        lines = text.strip().splitlines() or [f"exit code {code}"]
        raise MachineError(f"{target.binary} ran nothing: {lines[-1]}")
    runs = sum(int(number) for number in EXECUTED.findall(text))
    found = outcome(code, text)
    if not found and runs == 0:
        raise BrokenError(f"{target.scenario}: no run was counted")
    failure = found and failure_of(target, found, text, saved[0] if saved else None)
    return row_of(target, runs, spent, failure)


def replay(target: Target, data: bytes, times: int) -> dict:
    """Runs one input TIMES times in fresh processes; the row is like that of a hunt."""
    start = time.monotonic()
    found = [one for _ in range(times) if (one := outcome(*target.replay(data)))]
    spent = time.monotonic() - start
    failure = failure_as_it_is(target, found[0], data, times, len(found)) if found else None
    return row_of(target, times, spent, failure)


def row_of(target: Target, runs: int, seconds: float, failure: dict | None) -> dict:
    """A row of the command."""
    return {"protocol": target.scenario, "subject": NAME, "libtorch": target.place.release(),
            "engine": "fibres", "sanitizer": target.sanitizer, "executions": runs,
            "seconds": round(seconds, 3), "rate": round(runs / seconds),
            "verdict": "finding" if failure else "clean", "failure": failure}


def outcome(code: int | None, text: str) -> Outcome | None:
    """How a process failed, by the target's message or a sanitizer's; None if it did not."""
    if code == 0:
        return None
    said = SAID.search(text)
    if said:
        return Outcome(said[1], said[1])
    if code is None:
        return Outcome("hang", "hang")
    found = signature.of_stderr(text)
    kind = "signal" if DEADLY in text else found.verdict if found else f"exit {code}"
    frame = FRAME.search(text)
    return Outcome(kind, f"{kind} in {frame[1]}" if frame else kind)


def failure_of(target: Target, found: Outcome, text: str, data: bytes | None) -> dict:
    """A finding as the command prints it, after minimizing and replaying the input."""
    if data is None:
        return {"kind": found.kind, "message": found.message, "report": report_of(text),
                "threads": [], "table": [], **_known(target, found)}
    smallest, minimal = minimize(target, found.kind, data)
    failed = sum(fails(target, found.kind, smallest) for _ in range(REPLAYS))
    return {**failure_as_it_is(target, found, smallest, REPLAYS, failed),
            "saved_bytes": len(data), "one_minimal": minimal}


def failure_as_it_is(
    target: Target, found: Outcome, data: bytes, times: int, failed: int,
) -> dict:
    """The finding of one input; FAILED of TIMES replays failed."""
    code, text = target.replay(data, "--explain", terse=False)
    plan = c10_input.printed(text) or c10_input.Plan()
    return {"kind": found.kind, "message": (outcome(code, text) or found).message,
            "report": report_of(text), **_known(target, found),
            "threads": [list(words) for words in plan.threads],
            "table": c10_input.steps(text), "input": data.hex(),
            "schedule": c10_input.schedule_text(target.scenario, data),
            "schedule_bytes": plan.schedule.hex(), "bytes": len(plan.schedule),
            "replays": times, "replays_failed": failed}


def _known(target: Target, found: Outcome) -> dict:
    return c10_repro.known(target.scenario, found.kind, target.place.headers())


def fails(target: Target, kind: str, data: bytes) -> bool:
    """Whether an input fails with KIND in a fresh process."""
    found = outcome(*target.replay(data))
    return found is not None and found.kind == kind


def several(target: Target, kind: str, inputs: list[bytes]) -> tuple[int, bool]:
    """Runs INPUTS in one process until one fails: how many ran, and if the failure is KIND."""
    with tempfile.TemporaryDirectory(prefix="c10-", dir=target.place.folder()) as name:
        paths = [Path(name) / f"input-{number}" for number in range(len(inputs))]
        for path, data in zip(paths, inputs):
            path.write_bytes(data)
        code, text = target.run(*(target.place.inside(path) for path in paths), terse=True)
    found, started = outcome(code, text), RUNNING.findall(text)
    if not found or not started:
        return len(inputs), False
    return int(started[-1]) + 1, found.kind == kind


def minimize(target: Target, kind: str, data: bytes) -> tuple[bytes, bool]:
    """The smallest input found that fails with KIND, and whether it is a local minimum.

    The search starts from the plan that the target prints for the input. If that plan does not fail
    with KIND, the input stays unchanged.
    """
    _, text = target.replay(data, "--explain")
    plan = c10_input.printed(text)
    if plan is None or not fails(target, kind, plan.encode(target.ops)):
        return data, False
    search = Search(
        plan, lambda one: fails(target, kind, one.encode(target.ops)),
        lambda plans: several(target, kind, [one.encode(target.ops) for one in plans]),
        MINIMIZE_RUNS_MAX, key=lambda one: one)
    try:
        search.settle(c10_input.smaller)
    except BudgetSpent:
        return search.best.encode(target.ops), False
    return search.best.encode(target.ops), True


def report_of(text: str) -> str:
    """The sanitizer's first report, without frames of libFuzzer and the scheduler."""
    starts = [text.find(word) for word in ("WARNING: ThreadSanitizer", "runtime error:", "==ERROR")
              if word in text]
    # libFuzzer's report of a signal has a useful stack, unless the target itself aborted.
    if not starts and not SAID.search(text) and DEADLY in text:
        starts = [text.find(DEADLY)]
    if not starts:
        return ""
    start = text.rfind("\n", 0, min(starts)) + 1
    end = REPORT_END.search(text, start)
    report = text[start:end.start() if end else None]
    return re.sub(r" \(BuildId: \w+\)", "", PLUMBING.sub("", report)).strip()
