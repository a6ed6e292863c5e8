"""Crashes that only a sequence of programs in one process repeats."""

import time

from slotfuzz.engine.server import Server, dump_recorder
from slotfuzz.reduce import ring
from slotfuzz.triage.crash import Crash

SEQUENCE_SECONDS = 60


def as_one(sequence: list[str], server: Server) -> str:
    """The programs of SEQUENCE as one: after each, it deletes all names and runs the collector."""
    parts = []
    for text in sequence:
        names = {name for line in server.parse(text) for name in server.table.variables(line)}
        parts += [text, *(f"del {name}\n" for name in sorted(names)), "gc.collect()\n"]
    return "".join(parts)


def repeating(crash: Crash, server: Server) -> list[str]:
    """The last programs of the dead process, if they repeat its crash in one process."""
    _, programs = dump_recorder(server.subject, crash.target, crash.recorder)
    if not programs:
        return []
    deadline = time.monotonic() + SEQUENCE_SECONDS
    return ring.shortest_sequence(programs, lambda texts: time.monotonic() < deadline
                                  and server.states(texts)[-1].is_finding)
