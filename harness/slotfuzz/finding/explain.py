"""NOTES.md: the history of the objects of a finding, in order, and why the result is wrong.

The abbreviated log comes first. A paragraph follows the object from creation to the bad access,
and the contract's sentence comes after it. The full log and the report are folded. In a finding's
folder, a picture of the ownership timeline precedes them.
"""

import re

from slotfuzz.evidence.report import Report
from slotfuzz.finding import emit, from_trace, timeline_svg
from slotfuzz.finding.contract import contract_text
from slotfuzz.finding.story import last, story, verdict
from slotfuzz.schema.answers import Reply
from slotfuzz.schema.events import FREES
from slotfuzz.schema.events import Event as What
from slotfuzz.schema.trace import Event

# Characters that Markdown would read as emphasis.
DUNDER = re.compile(r"(__\w+__)")


# A line that makes a deep graph has tens of thousands of events, which no reader wants.
EVENTS_OF_LINE_MAX = 200
NOTES, PICTURE = "NOTES.md", "timeline.svg"


def files(reply: Reply, title: str, contract: str, subject: str) -> dict[str, str]:
    """NOTES.md and its picture for a reply by the engine with the core's trace on.

    Subjects without a trace, such as torch, get no picture, because the log lacks object frees.
    """
    drawn = from_trace.timeline(reply)
    if not drawn.rows:
        why = "There is no picture of the ownership timeline: the subject prints no trace."
        return {NOTES: notes(reply, title, contract, subject, why)}
    words = verdict(reply, contract)
    promise = re.sub("[*`]", "", contract_text(contract or reply.contract))
    promise = re.sub(r"^\w+", r"contract \g<0>:", promise)
    shown = f"![who owns which object, line by line]({PICTURE})"
    return {NOTES: notes(reply, title, contract, subject, shown),
            PICTURE: timeline_svg.draw(drawn, title, words, promise)}


def notes(reply: Reply, title: str, contract: str, subject: str, picture: str = "") -> str:
    """The text of NOTES.md; PICTURE is the paragraph about the picture in the same folder."""
    log, report = reply.log, Report(reply.log.report or reply.stderr)
    about = report.object_of(log.events)
    parts = [
        "# " + title_in_notes(title),
        f"Subject `{subject}`; `{emit.command(subject)} --check` beside this file shows how often"
        " it fails. Program lines are behind `>`, what the core did is indented.",
        picture,
        "```\n" + abbreviated(reply, about, contract) + "\n```",
        "\n".join(story(reply, report, about, contract)),
    ]
    words = contract_text(contract)
    if words:
        parts.append("> " + words.replace("\n", "\n> "))
    if log.events:
        parts.append(_folded("Full log", _full(reply, EVENTS_OF_LINE_MAX)))
    words = log.report or ("" if log.events or log.lines else reply.stderr)
    if words.strip():
        parts.append(_folded("Report", words.strip()))
    return "\n\n".join(part for part in parts if part) + "\n"


def annotated(reply: Reply) -> str:
    """The program with every event of the core, the verdict, and the report."""
    return _full(reply) + (f"\n{reply.log.report}" if reply.log.report else "")


def title_in_notes(title: str) -> str:
    """TITLE as Markdown."""
    return DUNDER.sub(r"`\1`", title)


def events_of(reply: Reply, about: int | None) -> list[Event]:
    """The events of one object; of all, if ABOUT is `None`."""
    return [event for event in reply.log.events if about is None or about in event.addresses]


def abbreviated(reply: Reply, about: int | None, contract: str) -> str:
    """The program with the events of one object (of all, if ABOUT is `None`), and the verdict."""
    events = events_of(reply, about)
    freed = last(events, FREES) if about is not None else None

    def text_of(event):
        is_read = event.what is What.SLOT_READ
        if freed and is_read and events.index(event) > events.index(freed):
            return f"{event.text}  freed by line {freed.line + 1}"
        return event.text

    return _log(reply, contract, {id(event): text_of(event) for event in events},
                EVENTS_OF_LINE_MAX)


def _full(reply: Reply, events_max: int | None = None) -> str:
    """The program with every event, or at most EVENTS_MAX for each line."""
    return _log(reply, "", {id(event): event.text for event in reply.log.events}, events_max)


def _log(
    reply: Reply, contract: str, texts_of_events: dict[int, str], events_max: int | None,
) -> str:
    """The lines of the program, each followed by its events in TEXTS_OF_EVENTS.

    Of more than EVENTS_MAX events of a line it prints the first and the last.
    """
    def during(line):
        texts = [texts_of_events[id(event)] for event in reply.log.events
                 if event.line == line and id(event) in texts_of_events]
        if events_max is None or len(texts) <= events_max:
            return texts
        half = events_max // 2
        return [*texts[:half], f"    ... {len(texts) - 2 * half:,} events, which `replay` prints",
                *texts[-half:]]

    shown = during(-1)
    for index, text in enumerate(reply.texts):
        raised = _raised(reply, index)
        shown.append(f"> {text}" + (f"    # raises {raised}" if raised else ""))
        shown += during(index)
        if index == reply.line and reply.kind == "assert":
            shown += [f"  {line}" for line in reply.asserts]
    shown += [f"    kept  {one.text}" for one in reply.kept]
    end = verdict(reply, contract)
    return "\n".join([*shown, end if reply.outcome == "clean" else f"!!! {end}"])


def _raised(reply: Reply, index: int) -> str:
    return reply.lines[index].raised if index < len(reply.lines) else ""


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n```\n{text}\n```\n\n</details>"
