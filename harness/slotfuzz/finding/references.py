"""What the trace says of the references between objects in C++, and which of them are wrong.

Each function returns sentences for NOTES.md. An object is freed while it has an owner: that
reference was not counted, or somebody released it twice. An object reports to the collector what
it does not own: the collector then takes it for garbage while its owner lives.
"""

from collections.abc import Callable

from slotfuzz.schema.events import CREATES, FREES, TRACED_LINKS
from slotfuzz.schema.events import Event as What
from slotfuzz.schema.trace import Event

SENTENCES_MAX = 3
# Makes words of the index of a line of the program.
Place = Callable[[int], str]


class References:
    """The references between objects in C++ that exist after the events so far."""

    def __init__(self):
        # By owner the (owned, link), and by what is owned the (owner, link), in order.
        self.owned_by: dict[int, dict[tuple[int, str], None]] = {}
        self.owners_of: dict[int, dict[tuple[int, str], None]] = {}
        self._kinds: dict[int, str] = {}

    def follow(self, event: Event) -> None:
        """Processes one event of the core."""
        at = event.at
        if event.what in CREATES and event.type:
            self._kinds[at.get("impl", at.get("ctx", 0))] = event.type
        elif event.what is What.REFERENCE_TAKEN:
            self.owned_by.setdefault(at["owner"], {})[at["owned"], event.link] = None
            self.owners_of.setdefault(at["owned"], {})[at["owner"], event.link] = None
        elif event.what is What.REFERENCES_RELEASED:
            self._release(at["owner"], event.link)
        elif event.what in FREES:
            gone = event.addresses[0]
            self._release(gone)
            for owner, link in self.owners_of.pop(gone, {}):
                del self.owned_by[owner][gone, link]

    def holds(self, owner: int, owned: int, link: str) -> bool:
        """Whether OWNER owns OWNED by LINK."""
        return (owner, link) in self.owners_of.get(owned, {})

    def owners(self, address: int) -> list[str]:
        """The owners of the object at ADDRESS, as `FnBackward 0x2a (ctx)`; a few of them."""
        return [f"{self.name(owner)} ({link.removeprefix('.')})"
                for owner, link in self.owners_of.get(address, {})][:SENTENCES_MAX]

    def name(self, address: int) -> str:
        """The type and the address of an object."""
        return f"{self._kinds.get(address, 'object')} {address:#x}"

    def _release(self, owner: int, only: str = "") -> None:
        """Drops the references of OWNER, or ONLY those with this link."""
        for owned, link in list(self.owned_by.get(owner, {})):
            if only in ("", link):
                del self.owned_by[owner][owned, link]
                del self.owners_of[owned][owner, link]


def owners_left(events: list[Event], about: int, freed: Event) -> list[str]:
    """The owners of ABOUT when FREED happened; a few of them."""
    references = References()
    for event in events[:events.index(freed)]:
        references.follow(event)
    return references.owners(about)


def freed_too_early(events: list[Event], place: Place) -> list[str]:
    """A sentence for each object that was freed while it had an owner."""
    references, sentences = References(), []
    for event in events:
        if event.what in FREES and (owners := references.owners(event.addresses[0])):
            sentences.append(
                f"{place(event.line)} frees {references.name(event.addresses[0])}, although"
                f" {' and '.join(owners)} still owns it: that reference was not counted, or another"
                " owner released it twice.")
        references.follow(event)
    return sentences[:SENTENCES_MAX]


def reported_without_owning(events: list[Event], place: Place) -> list[str]:
    """A sentence for each reference that was reported to the collector and does not exist."""
    references, found = References(), {}
    for event in events:
        references.follow(event)
        if event.what is What.VISITED and event.link in TRACED_LINKS:
            owner, owned = event.at["owner"], event.at["owned"]
            if not references.holds(owner, owned, event.link):
                owners = references.owners(owned) or ["nothing in C++"]
                found.setdefault((owner, owned), (
                    f"{place(event.line)} collects, and {references.name(owner)} reports"
                    f" {references.name(owned)} ({event.link}) to the collector without owning it;"
                    f" {' and '.join(owners)} owns it. So the collector subtracts a reference that"
                    " nobody has, and takes the object for garbage."))
    return list(found.values())[:SENTENCES_MAX]


def owns_itself(events: list[Event]) -> list[str]:
    """A sentence for a cycle of references between objects in C++ that are left at the end."""
    references = References()
    for event in events:
        references.follow(event)
    for start in references.owned_by:
        path = _path_back(start, references.owned_by)
        if path:
            steps = ", which owns ".join(
                f"{references.name(owned)} ({link.removeprefix('.')})" for owned, link in path)
            return [f"{references.name(start)} owns {steps}: they own each other, and nothing frees"
                    " them."]
    return []


def _path_back(
    start: int, owned_by: dict[int, dict[tuple[int, str], None]],
) -> list[tuple[int, str]]:
    """The references from START to itself, the fewest; empty without a cycle."""
    paths, met = [[(start, "")]], {start}
    while paths:
        path = paths.pop(0)
        for owned, link in owned_by.get(path[-1][0], {}):
            if owned == start:
                return [*path[1:], (owned, link)]
            if owned not in met:
                met.add(owned)
                paths.append([*path, (owned, link)])
    return []


def null_handle(events: list[Event], line: int, place: Place) -> list[str]:
    """A sentence if LINE locked a weak reference that had expired, and what it referred to."""
    references, nodes, gone = References(), {}, {}
    for event in events:
        if event.what is What.REFERENCE_TAKEN and event.link == "ctx":
            nodes[event.at["owned"]] = event.at["owner"]
        # While weak references keep its memory, an object has released all that it owned.
        if event.what is What.REFERENCES_RELEASED and not event.link:
            gone[event.at["owner"]] = event.line
        references.follow(event)
    last = next((event for event in reversed(events) if event.what is What.HANDLE_LOCKED), None)
    if last is None or last.line != line or last.at["impl"]:
        return []
    handle = last.at["handle"]
    words = f"It locks the weak reference of {references.name(handle)}, which gives null"
    node = nodes.get(handle)
    if node in gone:
        return [f"{words}: {place(gone[node])} released its node {references.name(node)}."]
    return [f"{words}: the object is gone, or never was."]
