"""The dedup keys of an engine's reply, with the line that led outside of memory."""

from slotfuzz.engine.server import Server
from slotfuzz.evidence import signature
from slotfuzz.language.program import Line
from slotfuzz.schema.answers import Reply
from slotfuzz.triage import dedup
from slotfuzz.triage.dedup import Case, Keys


def keys_of(
    server: Server, reply: Reply, words: signature.Signature, lines: list[Line],
) -> Keys:
    """The dedup keys of the finding in REPLY."""
    outside = None
    # A sanitizer reports the access itself, and an exception has its message.
    if server.subject.capabilities.has_many_bugs and not dedup.error(reply, words):
        outside = reaching_outside(server, lines)
    return dedup.keys(Case(reply, words, lines, server.table, outside))


def reaching_outside(server: Server, lines: list[Line]) -> dedup.Outside | None:
    """The first of LINES after which a variable's elements lie outside of memory."""
    beginnings = [server.table.program_text(lines[:count + 1]) for count in range(len(lines))]
    server.observations(beginnings, question="outside")
    for line, trace in zip(lines, server.traces(beginnings)):
        # After the last line the engine asks once more, without names.
        if trace and trace[-2].seen:
            return dedup.Outside(line, bool(trace[-2].raised))
    return None
