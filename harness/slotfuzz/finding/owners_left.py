"""Which owners an object still had when it was freed: the references that were not counted."""

from slotfuzz.schema.events import CREATES, FREES, SAVED_LINK
from slotfuzz.schema.events import Event as What
from slotfuzz.schema.trace import Event

OWNERS_MAX = 3


def owners_left(events: list[Event], about: int, freed: Event) -> list[str]:
    """The owners of ABOUT when FREED happened, as `FnBackward 0x2a (ctx)`; a few of them."""
    left: list[tuple[int, str]] = []
    for event in events[:events.index(freed)]:
        at = event.at
        if event.what is What.REFERENCE_TAKEN and at["owned"] == about:
            left.append((at["owner"], event.link))
        elif event.what is What.SAVED_RELEASED:
            left = [one for one in left if one != (at["owner"], SAVED_LINK)]
        elif event.what in FREES:
            left = [one for one in left if one[0] != event.addresses[0]]
    return [f"{_kind(events, owner)} {owner:#x} ({link.removeprefix('.')})"
            for owner, link in dict.fromkeys(left)][:OWNERS_MAX]


def _kind(events: list[Event], address: int) -> str:
    """The type of the object at ADDRESS, or "object"."""
    return next((event.type for event in reversed(events)
                 if event.what in CREATES and address in (event.at.get("impl"), event.at.get("ctx"))
                 and event.type), "object")
