"""Makes the ownership timeline of a run from its trace, and marks what the finding is about."""

import re

from slotfuzz.evidence.report import Report
from slotfuzz.finding.ownership import Object, Ownership
from slotfuzz.finding.timeline import Column, Timeline
from slotfuzz.schema import trace
from slotfuzz.schema.answers import Reply

WORD = re.compile(r"\w+")


def timeline(reply: Reply) -> Timeline:
    """The ownership timeline of a traced reply; it has no rows if the subject prints no trace."""
    log, texts = reply.log, reply.texts
    ownership = Ownership()
    columns = []
    for index, text in enumerate(texts):
        line = reply.lines[index] if index < len(reply.lines) else None
        lane, bare, binds = (line.lane, line.bare, line.binds) if line else (0, text, ())
        events = [event for event in log.events[:log.judged] if max(event.line, 0) == index]
        ownership.begin(lane)
        for event in events:
            ownership.follow(event, binds)
        observed = [one for one in log.observed if one.line == index]
        if observed or not _ends_within(reply, index):
            ownership.observe(observed)
        ownership.end()
        columns.append(Column(bare, lane, ownership.was_hermetic))
    broken = len(texts) - 1 if texts and reply.is_finding else None
    if broken is not None:
        for made in _accessed(reply, log, ownership.objects):
            made.broken.add(broken)
    rows = [made.row(number, len(texts)) for number, family in enumerate(ownership.families())
            for made in family]
    return Timeline(tuple(columns), tuple(rows), broken)


def _ends_within(reply: Reply, index: int) -> bool:
    """Whether line INDEX was interrupted, so that the judge observed nothing after it."""
    return index == reply.line and not reply.is_at_end and reply.is_finding


def _accessed(reply: Reply, log: trace.Log, objects: list[Object]) -> list[Object]:
    """The objects that the finding is about: a report's freed object, an assert's, or leaks.

    Empty if the reply names no object: then only the line is known.
    """
    if reply.kind != "assert":
        about = Report(log.report).object_of(log.events)
        return [made for made in objects if about is not None and made.address == about][-1:]
    asserted = "\n".join(reply.asserts)
    words = set(WORD.findall(asserted))
    is_meant = reply.serial is not None
    meant = [made for made in objects
             if is_meant and made.serial == reply.serial or words & set(made.weak_now)]
    living = [made for made in objects if not made.is_freed]
    if reply.is_at_end:
        return living or meant
    # The judge follows no hermetic wrapper, and only the newest wrapper of an impl.
    named = {word: made for made in living for word in made.names}
    named |= {word: made for made in living for word in made.names_now}
    return meant + [named[word] for word in sorted(words & set(named))]
