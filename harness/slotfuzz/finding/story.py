"""The paragraph of NOTES.md: what happened to one object, from creation to the bad access."""

import re
from collections.abc import Collection

from slotfuzz.evidence.report import Report, Stack
from slotfuzz.evidence.signature import DEADLOCK, HANGING, of_reply
from slotfuzz.finding import references
from slotfuzz.schema.answers import Reply
from slotfuzz.schema.events import CREATES, FREES, SLOT_OF
from slotfuzz.schema.events import Event as What
from slotfuzz.schema.trace import Event

# A frame without source location: the library and the offset in it.
IN_LIBRARY = re.compile(r"^\(\S*?([^/\s]+\+0x[0-9a-f]+)\)( \(BuildId: \w+\))?$")
# The file of the prelude's functions in a Python stack.
PRELUDE = "prelude.py"
# A stack's frame is at most so many lines after a trace point in the same function.
TRACE_LINES_MAX = 4


def verdict(reply: Reply, contract: str = "") -> str:
    """`heap-use-after-free in wrap (contract H2)`, or a word for a clean run."""
    if reply.outcome == "clean":
        return "clean"
    words = of_reply(reply)
    what = words.kind
    if reply.kind == "assert":
        what = reply.message or what
    if words.functions:
        what += f" in {_short(words.functions[0])}"
    number = contract or reply.contract
    return what + (f" (contract {number})" if number else "")


def story(reply: Reply, report: Report, about: int | None, contract: str) -> list[str]:
    """The paragraph, one sentence per list entry."""
    if reply.kind == "assert":
        return _assert_story(reply)
    access = report.access
    at = _capital(_line(reply, reply.line))
    if reply.kind in HANGING:
        return _hanging_story(reply)
    if "ThreadSanitizer" in report.text:
        return [f"{at} ends in {verdict(reply)}.", *_thread_story(report)]
    if report.block is None:
        what = of_reply(reply).what
        words = f"{what}{_frame(access)}" if what and access and access.frames else \
            verdict(reply)
        return [f"{at} ends in {words}.", *_python(reply), *_wrong_references(reply)]
    events = [event for event in reply.log.events
              if about is not None and about in event.addresses]
    freed = last(events, FREES)
    later = events[events.index(freed) + 1:] if freed else []
    read = last(later, {What.SLOT_READ})
    sentences = [_created(reply, report, events, about),
                 _freed(reply, report, freed, _slot(events, about, freed, read))]
    owners = references.owners_left(reply.log.events, about, freed) if freed else []
    if owners:
        sentences.append(f"At that time {' and '.join(owners)} still owns it, so that reference was"
                         " not counted, or another owner released it twice.")
    if read:
        sentences.append(f"{_capital(_line(reply, read.line))} reads that slot"
                         f"{_place(read, access)}, and so gets the address of freed memory.")
    again = f"{at} uses that address" if not read or read.line != reply.line else "It is used"
    what = of_reply(reply).what
    number = f", against {contract} of the contract" if contract else ""
    return [*sentences, f"{again}{_frame(access)}: {what}{number}.", *_python(reply)]


def _thread_story(report: Report) -> list[str]:
    """The access of each thread, for the two sides of a race or a lock inversion."""
    sides = report.sides[:2]
    if not sides:
        return []
    words = [re.sub(r" of size \d+ at 0x\w+| \(0x\w+\)", "", side.title.rstrip(":"))
             for side in sides]
    accesses = "; ".join(word[:1].lower() + word[1:] + _frame(side)
                         for word, side in zip(words, sides))
    return [f"The two sides: {accesses}.",
            "No lock and no atomic access orders one before the other."
            if "data race" in report.text else "Two threads that come at once wait for each other."]


def _hanging_story(reply: Reply) -> list[str]:
    """The wait of each thread, with its place; threads outside the core are idle."""
    stacks = [(thread, Report(thread.stack).access) for thread in reply.threads]
    sides = [(thread, stack) for thread, stack in stacks if stack and stack.frames]
    words = "; ".join(f"{thread.name} {thread.activity}{_frame(stack)}" for thread, stack in sides)
    sentences = [f"{_capital(_line(reply, reply.line))} does not come back: {words}."]
    if reply.kind == DEADLOCK and len(sides) > 1:
        sentences.append("Each of them waits for what another one holds.")
    return sentences


def _assert_story(reply: Reply) -> list[str]:
    at = _line(reply, reply.line)
    shown = "".join(f" `{line.strip()}`" for line in reply.asserts if "assert" in line)
    sentence = f"After {at} the check *{reply.check}* fails: {reply.message}."
    leaks = [one for one in reply.kept if not one.excused]
    cycles = [f"The cycle is {one.path}: {one.reason}." if one.path
              else f"Of what is left, {one.reason}."
              for one in leaks]
    words = [f"The script shows it by{shown}."] if shown else []
    return [sentence, *cycles, *_wrong_references(reply), *words]


def _python(reply: Reply) -> list[str]:
    """What Python did in a line that calls functions of the prelude."""
    functions = [function for file, function in reply.log.python if file == PRELUDE]
    if not functions:
        return []
    text, function = reply.log.python[0]
    where = " in ".join(f"`{name}`" for name in dict.fromkeys(functions))
    did = f"ran `{text}`, in" if text != PRELUDE and function == "<module>" else "was in"
    return [f"At that time Python {did} {where}."]


def _wrong_references(reply: Reply) -> list[str]:
    """What the trace says of references that are missing, or too many."""
    events = reply.log.events[:reply.log.judged]

    def place(line):
        return _line(reply, line)

    found = [*references.reported_without_owning(events, place),
             *references.freed_too_early(events, place)]
    if reply.is_at_end and not any(one.path for one in reply.kept):
        found += references.owns_itself(events)
    if reply.kind != "assert":
        found += references.null_handle(events, reply.line, place)
    return [_capital(sentence) for sentence in found]


def _created(reply: Reply, report: Report, events: list[Event], about: int | None) -> str:
    allocated = report.allocated
    if not events:
        who = f"object {about:#x}" if about else "block at {:#x}".format(*report.block)
        return f"The {who} is allocated{_frame(allocated)}{_entry(allocated)}."
    first = next((event for event in events if event.what in CREATES), events[0])
    sentence = (f"{_capital(_line(reply, first.line))} makes the {_role(first, about)} {about:#x}:"
                f" it is allocated{_frame(allocated)}{_entry(allocated)}")
    others = [address for address in first.addresses if address != about]
    if others and any(event.what is What.SLOT_WRITTEN for event in events):
        sentence += f", and the slot of the impl {others[0]:#x} now holds its address"
    return sentence + "."


def _freed(reply: Reply, report: Report, freed: Event | None, slot: str) -> str:
    """The sentence about the free; SLOT names the slot with the freed address, or is empty."""
    stack = report.freed
    if not freed:
        return f"It is freed{_frame(stack)}{_entry(stack)}."
    sentence = f"{_capital(_line(reply, freed.line))} frees it{_frame(stack)}{_entry(stack)}"
    if slot:
        sentence += (f", although the slot{slot} still holds its address (in the trace:"
                     f" {freed.place}, {freed.name})")
    return sentence + "."


def _slot(events: list[Event], about: int | None, freed: Event | None, read) -> str:
    """" of <impl>" if a slot still holds the address when the object is FREED, or is READ later."""
    if not freed or not (SLOT_OF in freed.at or read):
        return ""
    others = [address for event in [freed, *events] for address in event.addresses
              if address != about]
    return f" of {others[0]:#x}" if others else " of its impl"


def _place(event: Event, stack: Stack | None) -> str:
    """The place of EVENT, with its function from STACK: a frame is up to two lines later."""
    file, _, line = event.place.rpartition(":")
    for name, place in stack.frames if stack else []:
        found = re.match(rf"{re.escape(file)}:(\d+)", place)
        if found and 0 <= int(found[1]) - int(line) <= TRACE_LINES_MAX:
            return f" in `{_short(name)}` ({event.place})"
    return f" ({event.place})"


def _entry(stack: Stack | None) -> str:
    """The core function that Python called, if it is not the innermost one."""
    if stack is None or len(stack.frames) < 2 or stack.frames[-1] == stack.frames[0]:
        return ""
    return f", reached through{_frame(Stack('', stack.frames[-1:]))[3:]}"


def _role(event: Event, about: int) -> str:
    """The role of the address: wrapper, impl .."""
    return next((name for name, address in event.at.items() if address == about), "object")


def _frame(stack: Stack | None) -> str:
    if stack is None or not stack.frames:
        return ""
    name, place = stack.frames[0]
    without_column = re.sub(r"^([^:]+:\d+):\d+$", r"\1", place)
    without_column = IN_LIBRARY.sub(r"\1", without_column)
    return f" in `{_short(name)}` ({without_column})"


def _short(name: str) -> str:
    return name.rpartition("::")[2] or name


def _line(reply: Reply, index: int) -> str:
    if index < 0:
        return "set-up"
    if index >= len(reply.lines):
        return "the end of the program"
    return f"line {index + 1} (`{reply.lines[index].text}`)"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def last(events: list[Event], whats: Collection[What]) -> Event | None:
    """The last event whose type is in WHATS."""
    return next((event for event in reversed(events) if event.what in whats), None)
