"""An input of targets/c10: the threads' operations and a schedule, as bytes, text and table.

The first lines of targets/c10/fuzz.cc define the bytes. Fuzzed bytes may have operations beyond the
table and unused choices; a Plan is what the target prints that it ran.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from slotfuzz.errors import UserError

BYTES_MAX = 64  # three programs and 49 choices; longer schedules find nothing new
THREADS_MIN = 2

STEP = re.compile(r"^  step: thread (\d+) line (\d+) (\w+) (0x\w+) (.+?) (sees|writes) (\w+)$",
                  re.MULTILINE)
THREAD = re.compile(r"^  thread (\d+):(.*)$", re.MULTILINE)
SCHEDULE = re.compile(r"^  schedule:(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Plan:
    """The names of each thread's operations, and the choices between threads."""

    threads: tuple[tuple[str, ...], ...] = ()
    schedule: bytes = b""

    def encode(self, ops: list[str]) -> bytes:
        """The input; OPS is the table of operations."""
        data = [len(self.threads) - THREADS_MIN]
        for words in self.threads:
            data += [len(words), *(ops.index(word) for word in words)]
        return bytes(data) + self.schedule


def printed(text: str) -> Plan | None:
    """The last plan that the target printed; it prints one before a run and after a failure."""
    rows = THREAD.findall(text)
    starts = [i for i, (thread, _) in enumerate(rows) if thread == "0"]
    schedules = SCHEDULE.findall(text)
    if not starts or not schedules:
        return None
    threads = tuple(tuple(words.split()) for _, words in rows[starts[-1]:])
    return Plan(threads, bytes.fromhex(schedules[-1]))


def smaller(plan: Plan) -> Iterator[Plan]:
    """Plans with one thread, operation or choice less, or with a smaller choice."""
    if len(plan.threads) > THREADS_MIN:
        yield replace(plan, threads=plan.threads[:-1])
    for number, words in enumerate(plan.threads):
        for at in range(len(words)):
            fewer = list(plan.threads)
            fewer[number] = words[:at] + words[at + 1:]
            yield replace(plan, threads=tuple(fewer))
    for at, byte in enumerate(plan.schedule):
        yield replace(plan, schedule=plan.schedule[:at] + plan.schedule[at + 1:])
        if byte != 0 and at + 1 < len(plan.schedule):
            yield replace(plan, schedule=plan.schedule[:at] + b"\0" + plan.schedule[at + 1:])
        if byte > 1:
            yield replace(plan, schedule=plan.schedule[:at] + b"\1" + plan.schedule[at + 1:])


def steps(text: str) -> list[dict]:
    """The accesses of a run, as rows.table_text takes them. Numbers replace addresses."""
    numbers: dict[str, int] = {}
    plan = printed(text)

    def numbered(word: str, sign: str) -> str:
        return f"{sign}{numbers.setdefault(word, len(numbers) + 1)}"

    rows = []
    for step, row in enumerate(STEP.findall(text), 1):
        thread, line, kind, place, operation, verb, value = row
        location = f"{kind} {numbered(place, '#')}"
        shown = numbered(value, "&") if kind == "pointer" and value != "0" else value
        rows.append({"step": step, "thread": int(thread),
                     "line": _line_text(plan, int(thread), int(line)), "location": location,
                     "operation": operation, "value": f"{verb} {shown}", "stale": False,
                     "note": ""})
    return rows


def _line_text(plan: Plan | None, thread: int, line: int) -> str:
    """The place in the program and the operation, as the protocols' binaries print them."""
    return f"{line} {plan.threads[thread][line - 1]}" if plan and line else ""


def schedule_text(scenario: str, data: bytes) -> str:
    """An input as --schedule takes it: after two bytes for the scenario's name."""
    return (_mark(scenario) + data).hex()


def schedule_bytes(text: str, scenario: str, offered: list[str]) -> bytes:
    """The input of a schedule's text; UserError if it belongs to another scenario."""
    shown = text if len(text) <= 20 else text[:20] + "..."
    try:
        data = bytes.fromhex(text)
    except ValueError as error:
        raise UserError(f"--schedule {shown}: not hex") from error
    owner = [name for name in offered if data[:2] == _mark(name)]
    if not owner:
        raise UserError(f"--schedule {shown}: belongs to no model of c10")
    if owner[0] != scenario:
        raise UserError(f"--schedule {shown}: belongs to {owner[0]}, not to {scenario}")
    if len(data) - 2 > BYTES_MAX:
        raise UserError(f"--schedule {shown}: {len(data) - 2} bytes; at most {BYTES_MAX}")
    return data[2:]


def _mark(scenario: str) -> bytes:
    return (zlib.crc32(scenario.encode()) & 0xFFFF).to_bytes(2, "big")
