"""The contract sentence that a finding breaks: its number and its text."""

import re

from slotfuzz.evidence import signature
from slotfuzz.evidence.report import Report
from slotfuzz.paths import ROOT
from slotfuzz.schema.answers import HungThread, Reply
from slotfuzz.schema.events import FREES
from slotfuzz.schema.events import Event as What

# The engine's word for a thread that waits for the GIL: stacks.cc.
GIL = "gil"
# ThreadSanitizer's words for two threads without an order between them.
RACE = re.compile(r"WARNING: ThreadSanitizer: (?:data race|lock-order-inversion)")


def contract_of(reply: Reply) -> str:
    """The contract number of a finding, or an empty string if it cannot be derived.

    A finding by the judge has it. Otherwise it follows from the report and the core's trace: H2 for
    a read of a slot whose wrapper is freed, R1 for two threads that race or wait for each other, or
    T6 if one of them releases its reference. A use after free alone does not show which promise
    is broken.
    """
    if reply.contract:
        return reply.contract
    report = Report(reply.log.report)
    if reply.kind == signature.DEADLOCK:
        return _contract_of_deadlock(reply.threads)
    if RACE.search(report.text):
        return "R1"
    stale = report.object_of(reply.log.events)
    freed = False
    for event in reply.log.events:
        if stale in event.addresses:
            freed = freed or event.what in FREES
            if freed and event.what is What.SLOT_READ:
                return "H2"
    return ""


def _contract_of_deadlock(threads: tuple[HungThread, ...]) -> str:
    """T6 if a thread waits for the GIL to release a reference, and holds a lock another wants."""
    waiting = {thread.waits_for: thread.frames for thread in threads}
    for_gil = waiting.pop(GIL, None)
    if for_gil is None or not waiting:
        return ""
    names = [signature.function_name(match[2]) for number, frame in enumerate(for_gil)
             if (match := signature.FRAME.match(f"#{number} {frame}"))]
    return "T6" if any(name.rpartition("::")[2] == "decref" for name in names) else "R1"


def contract_text(number: str) -> str:
    """The sentence of docs/contract.md with that number, or an empty string."""
    path = ROOT / "docs" / "contract.md"
    if not number or not path.exists():
        return ""
    found = re.search(rf"^- (\*\*{re.escape(number)}\b.*?)(?=^- |^#|^$|\Z)", path.read_text(),
                      re.MULTILINE | re.DOTALL)
    return re.sub(r"\s*\n\s*", " ", found[1]).strip() if found else ""
