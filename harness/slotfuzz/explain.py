"""NOTES.md: what happened to which object, in the order in which it happened, and why it is wrong.

The abbreviated log first, then one paragraph that follows the object from creation to the bad
access, then the contract's own words; the full log and the report are folded away.
"""

import re

from slotfuzz import trace
from slotfuzz.paths import ROOT
from slotfuzz.signature import of_reply

FREED = re.compile(r"freed|destroyed|deleted|released")
SLOT_READ = re.compile(r"slot read|slot found")


def notes(reply: dict, title: str, contract: str, subject: str) -> str:
    """The text of NOTES.md for a finding in the engine's words, run with the core's trace on."""
    log = trace.parse(reply.get("stderr", ""))
    subject_object = trace.object_in(log)
    parts = [
        f"# {title}",
        f"Subject `{subject}`. Program lines are behind `>`, what the core did is indented.",
        "```\n" + abbreviated(reply, log, subject_object, contract) + "\n```",
        "\n".join(_story(reply, log, subject_object, contract)),
    ]
    words = contract_text(contract)
    if words:
        parts.append("> " + words.replace("\n", "\n> "))
    if log.events:
        parts.append(_folded("Full log", full(reply, log)))
    report = log.report or ("" if log.events or log.lines else reply.get("stderr", ""))
    if report.strip():
        parts.append(_folded("Report", report.strip()))
    return "\n\n".join(part for part in parts if part) + "\n"


def annotated(reply: dict) -> str:
    """The program with every event of the core, the verdict, and the report."""
    log = trace.parse(reply.get("stderr", ""))
    return full(reply, log) + (f"\n{log.report}" if log.report else "")


def contract_of(reply: dict, fallback: str = "") -> str:
    """The contract number of a finding: the judge's, or H2 where the trace shows a stale slot."""
    if reply.get("contract"):
        return reply["contract"]
    log = trace.parse(reply.get("stderr", ""))
    stale = trace.object_in(log)
    freed = False
    for event in log.events:
        if stale in event.addresses:
            freed = freed or bool(FREED.search(event.event))
            if freed and SLOT_READ.search(event.event):
                return "H2"
    return fallback


def contract_text(number: str) -> str:
    """The sentence of docs/contract.md with that number, or an empty string."""
    path = ROOT / "docs" / "contract.md"
    if not number or not path.exists():
        return ""
    found = re.search(rf"^- (\*\*{re.escape(number)}\b.*?)(?=^- |^#|^$|\Z)", path.read_text(),
                      re.MULTILINE | re.DOTALL)
    return re.sub(r"\s*\n\s*", " ", found[1]).strip() if found else ""


def abbreviated(reply: dict, log: trace.Log, about: int | None, contract: str) -> str:
    """The program with the events of one object (of all, if none is known), and the verdict."""
    return _log(reply, log, contract, lambda event: about is None or about in event.addresses)


def full(reply: dict, log: trace.Log) -> str:
    """The program with every event."""
    return _log(reply, log, "", lambda event: True)


def _log(reply, log, contract, wanted) -> str:
    texts = log.lines or [line["text"] for line in reply["lines"]]
    shown = [event.text for event in log.events if event.line < 0 and wanted(event)]
    if len(texts) <= len(reply["lines"]) <= reply["line"]:
        texts = [*texts, "# every name is dropped, then gc.collect()"]
    for index, text in enumerate(texts[:reply["line"] + 1]):
        raised = _raised(reply, index)
        shown.append(f"> {text}" + (f"    # raises {raised}" if raised else ""))
        shown += [event.text for event in log.events if event.line == index and wanted(event)]
        if index == reply["line"] and reply["kind"] == "assert":
            shown += [f"  {line}" for line in reply.get("asserts", [])]
    return "\n".join([*shown, verdict_line(reply, contract)])


def _raised(reply: dict, index: int) -> str:
    return reply["lines"][index].get("raised", "") if index < len(reply["lines"]) else ""


def verdict_line(reply: dict, contract: str = "") -> str:
    """`!!! heap-use-after-free in wrap (contract H2)`, or that it is clean."""
    if reply["outcome"] == "clean":
        return "clean"
    words = of_reply(reply)
    what = words.verdict.partition(" ")[2] or words.verdict
    if reply["kind"] == "assert":
        what = reply["message"] or what
    if words.functions:
        what += f" in {_short(words.functions[0])}"
    number = contract or reply.get("contract", "")
    return f"!!! {what}" + (f" (contract {number})" if number else "")


def _story(reply: dict, log: trace.Log, about: int | None, contract: str) -> list[str]:
    """The paragraph, one sentence per list entry."""
    if reply["kind"] == "assert":
        return _assert_story(reply)
    access = next(iter(trace.stacks(log.report or reply.get("stderr", ""))), None)
    where = _frame(access)
    at = _line(reply, reply["line"])
    if trace.region(log.report) is None:
        return [f"{_capital(at)} ends in {verdict_line(reply)[4:]}{where}."]
    events = [event for event in log.events if about is not None and about in event.addresses]
    return [
        _created(reply, log, events, about),
        _freed(reply, log, events, about),
        f"{_capital(at)} uses that address again{where}: {verdict_line(reply, contract)[4:]}.",
    ]


def _assert_story(reply: dict) -> list[str]:
    at = _line(reply, reply["line"])
    shown = "".join(f" `{line.strip()}`" for line in reply.get("asserts", []) if "assert" in line)
    sentence = f"After {at} the check *{reply['check']}* fails: {reply['message']}."
    return [sentence] + ([f"The script shows it by{shown}."] if shown else [])


def _created(reply: dict, log: trace.Log, events: list[trace.Event], about: int | None) -> str:
    allocated = trace.stack_called(log.report, "allocated by")
    who = f"object {about:#x}" if about else "block at {:#x}".format(*trace.region(log.report))
    if not events:
        return f"The {who} is allocated{_frame(allocated)}."
    first = next((event for event in events if "created" in event.event), events[0])
    name = _role(first, about)
    return (f"The {name} {about:#x} comes to be in {_line(reply, first.line)}"
            f"{_frame(allocated)}; the trace has it at {first.place}, \"{first.event}\".")


def _freed(reply: dict, log: trace.Log, events: list[trace.Event], about: int | None) -> str:
    freed_by = trace.stack_called(log.report, "freed by")
    frees = [event for event in events if FREED.search(event.event)]
    if not frees:
        return f"It is freed{_frame(freed_by)}."
    last = frees[-1]
    sentence = (f"{_capital(_line(reply, last.line))} frees it{_frame(freed_by)}"
                f", in the trace {last.place}, \"{last.event}\"")
    later = [event for event in events if SLOT_READ.search(event.event)
             and events.index(event) > events.index(last)]
    if "still holds" in last.fields or later:
        slots = [address for event in [last, *later, events[0]] for address in event.addresses
                 if address != about]
        of_whom = f" of {slots[0]:#x}" if slots else ""
        sentence += f", while the slot{of_whom} still holds its address"
        if later:
            sentence += f"; {_line(reply, later[-1].line)} reads that slot ({later[-1].place})"
    return sentence + "."


def _role(event: trace.Event, about: int) -> str:
    """The field name before the address: wrapper, impl .."""
    match = re.search(rf"(\w+) 0x0*{about:x}\b", event.fields)
    return match[1] if match else "object"


def _frame(stack: trace.Stack | None) -> str:
    if stack is None or not stack.frames:
        return ""
    name, place = stack.frames[0]
    without_column = re.sub(r"^([^:]+:\d+):\d+$", r"\1", place)
    return f" in `{_short(name)}` ({without_column})"


def _short(name: str) -> str:
    return name.rpartition("::")[2] or name


def _line(reply: dict, index: int) -> str:
    if index < 0:
        return "set-up"
    if index >= len(reply["lines"]):
        return "the end of the program"
    return f"line {index + 1} (`{reply['lines'][index]['text']}`)"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n```\n{text}\n```\n\n</details>"
