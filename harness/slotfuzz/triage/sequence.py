"""Crashes that only a sequence of programs in one process repeats."""

import time
from collections.abc import Iterator

from slotfuzz.engine.server import Server, dump_recorder
from slotfuzz.language.program import Line, Table
from slotfuzz.reduce import ring
from slotfuzz.triage.crash import Crash

SEQUENCE_SECONDS = 60
# The effect of a line that enters a mode, and that of one that leaves it.
LEAVES = {"enters_mode": "leaves_mode", "enters_hermetic": "leaves_hermetic"}


def as_one(sequence: list[str], server: Server) -> str:
    """The programs of SEQUENCE as one.

    After each, it leaves the modes that the program is in, deletes all names and runs the
    collector, as the engine does between programs.
    """
    parts = []
    for text in sequence:
        lines = server.parse(text)
        names = {name for line in lines for name in server.table.variables(line)}
        parts += [text, server.table.program_text(list(_leaving(lines, server.table))),
                  *(f"del {name}\n" for name in sorted(names)), "gc.collect()\n"]
    return "".join(parts)


def _leaving(lines: list[Line], table: Table) -> Iterator[Line]:
    """The lines that leave the modes that each lane has entered in LINES and has not left."""
    for enters, leaves in LEAVES.items():
        lanes = set()
        for line in lines:
            effects = table.line_effects(line)
            if enters in effects:
                lanes.add(line.lane)
            elif leaves in effects:
                lanes.discard(line.lane)
        for lane in sorted(lanes):
            op = next(name for name in table.ops
                      if leaves in table.effects(name) and not table.ops[name]["operands"])
            yield Line(op, (), lane)


def repeating(crash: Crash, server: Server) -> list[str]:
    """The last programs of the dead process, if they repeat its crash in one process."""
    _, programs = dump_recorder(server.subject, crash.target, crash.recorder)
    if not programs:
        return []
    deadline = time.monotonic() + SEQUENCE_SECONDS
    return ring.shortest_sequence(programs, lambda texts: time.monotonic() < deadline
                                  and server.states(texts)[-1].is_finding)
