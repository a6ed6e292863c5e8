"""The lives of impls and wrappers, program line by program line, as the trace of a run tells them.

Who owns an object is what the core does and what the judge has in sight after each line. A wrapper
is Python's as long as Python refers to it, and C++'s while owners in C++ hold it. An impl is
Python's through such a wrapper, and C++'s as far as anything else owns it.
"""

import enum
import re
from dataclasses import dataclass, field

from slotfuzz.evidence.report import Report
from slotfuzz.schema import trace
from slotfuzz.schema.answers import Reply
from slotfuzz.schema.events import SLOT_OF
from slotfuzz.schema.events import Event as What

WORD = re.compile(r"\w+")
# What is told of a wrapper that was made in hermetic mode instead of its type.
HERMETIC_WRAPPER = "hermetic"
# How the judge says that a finalizer has run, or has not: by the number of the object.
FINALIZED = re.compile(r"assert (\d+) (?:not )?in finalized|finalized\.count\((\d+)\)")


class Owner(enum.Enum):
    """Who owns an object: the owners' side, or nobody once it is freed."""

    PYTHON = "Python"
    CPP = "C++"
    BOTH = "both"
    NOBODY = "freed"


class Slot(enum.Enum):
    """Whether the slot of the impl has the wrapper's address, and what that is worth."""

    EMPTY = "empty"
    HOLDS = "holds"
    DANGLES = "dangles"


@dataclass(frozen=True)
class Column:
    """A program line: its TEXT without the lane, the LANE, and whether that is HERMETIC then.

    The last may be the reset, whose text is trace.RESET.
    """

    text: str
    lane: int
    hermetic: bool


@dataclass(frozen=True)
class Life:
    """One object: an "impl" or a "wrapper" at ADDRESS; ABOUT is its type or size.

    FAMILY is the number of the impl, which its wrappers share: an address may come twice. OWNERS,
    HOLDERS and SLOTS have an entry for each column; the owner is None before the object is made,
    and HOLDERS are the variables through which C++ owns an impl, as far as they are known. BROKEN
    are the columns in which it is accessed fatally, or breaks its promise.
    """

    role: str
    address: int
    family: int
    about: str
    names: tuple[str, ...]
    owners: tuple[Owner | None, ...]
    holders: tuple[tuple[str, ...], ...]
    slots: tuple[Slot, ...]
    broken: frozenset[int]


@dataclass(frozen=True)
class Lives:
    """All objects of a run in the order in which they were made, each impl before its wrappers."""

    columns: tuple[Column, ...]
    rows: tuple[Life, ...]
    # The column in which the finding shows; None when the run is clean.
    broken: int | None


def of_reply(reply: Reply) -> Lives:
    """The lives in a traced reply of the engine; without rows if its subject prints no trace."""
    log, texts = reply.log, reply.texts
    story = _Story()
    columns = []
    for index, text in enumerate(texts):
        line = reply.lines[index] if index < len(reply.lines) else None
        lane, bare, binds = (line.lane, line.bare, line.binds) if line else (0, text, ())
        events = [event for event in log.events[:log.judged] if max(event.line, 0) == index]
        story.begin(lane)
        for event in events:
            story.happens(event, binds)
        sights = [sight for sight in log.sights if sight.line == index]
        if sights or not _ends_within(reply, index):
            story.sees(sights)
        story.end()
        columns.append(Column(bare, lane, story.was_hermetic))
    broken = len(texts) - 1 if texts and reply.is_finding else None
    if broken is not None:
        for made in _accessed(reply, log, story.objects):
            made.broken.add(broken)
    rows = [made.life(number, len(texts)) for number, family in enumerate(story.families())
            for made in family]
    return Lives(tuple(columns), tuple(rows), broken)


def _ends_within(reply: Reply, index: int) -> bool:
    """Whether line INDEX did not come to its end, so that nobody looked around behind it."""
    return index == reply.line and not reply.is_at_end and reply.is_finding


@dataclass(eq=False)
class _Object:
    """An impl or a wrapper while its story is told."""

    role: str
    address: int
    impl: "_Object | None" = None
    about: str = ""
    is_announced: bool = False
    is_freed: bool = False
    # Of a wrapper: Python refers to it; owners in C++ hold it; they alone do (resurrection).
    by_python: bool = True
    is_held: bool = False
    is_preserved: bool = False
    # Of a tensor's impl: the impl of its storage, when it was made.
    storage: "_Object | None" = None
    # Of an impl: the wrapper in its slot; whether more owners are in sight than its wrappers, and
    # variables that hold it. A field stays None while unobserved.
    slot: "_Object | None" = None
    is_shared: bool | None = None
    holders_now: tuple[str, ...] | None = None
    names: list[str] = field(default_factory=list)
    names_now: tuple[str, ...] = ()
    # By which an assert may mean it, besides its names.
    weak_now: tuple[str, ...] = ()
    serial: int | None = None
    owners: list[Owner | None] = field(default_factory=list)
    holders: list[tuple[str, ...]] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    broken: set[int] = field(default_factory=set)

    def name(self, words: tuple[str, ...]) -> None:
        """The variables that refer to it now."""
        self.names_now = words
        self.names += [word for word in words if word not in self.names]

    def life(self, family: int, length: int) -> Life:
        """The row, padded to LENGTH columns in front."""
        before = length - len(self.owners)
        return Life(self.role, self.address, family, self.about, tuple(self.names),
                    (*[None] * before, *self.owners), (*[()] * before, *self.holders),
                    (*[Slot.EMPTY] * before, *self.slots), frozenset(self.broken))


class _Story:
    """Follows the events of a run; an address may be that of several objects, one after another."""

    def __init__(self):
        self.objects: list[_Object] = []
        self.was_hermetic = False
        self._lane = 0
        self._hermetic_lanes: set[int] = set()
        self._entered = False

    def begin(self, lane: int) -> None:
        """A line begins on LANE."""
        self._lane, self._entered = lane, False

    def happens(self, event: trace.Event, binds: tuple[str, ...]) -> None:
        """EVENT, during a line that BINDS these variables."""
        what, at = event.what, event.at
        if what in (What.HERMETIC_ENTERED, What.HERMETIC_LEFT):
            self._note_hermetic(what is What.HERMETIC_ENTERED)
        elif what is What.IMPL_CREATED:
            self._make_impl(event, at)
        elif what is What.IMPL_FREED:
            self._impl(at["impl"]).is_freed = True
        elif what is What.WRAPPER_FREED:
            self._free_wrapper(at)
        elif at.get("wrapper") and "impl" in at:
            self._change(event, at, binds)

    def sees(self, sights: list[trace.Sight]) -> None:
        """What the judge has in sight when the line has run."""
        for made in self.objects:
            made.names_now, made.weak_now, made.is_shared, made.holders_now = (), (), None, None
        for sight in sights:
            impl, wrapper = self._last(sight.impl, "impl"), self._last(sight.wrapper, "wrapper")
            if wrapper and wrapper.impl is impl:
                wrapper.weak_now, wrapper.serial = sight.weak, sight.serial
            if wrapper and wrapper.impl is impl and not wrapper.is_freed:
                wrapper.name(sight.names)
                if not wrapper.is_preserved:
                    wrapper.by_python = sight.references > wrapper.is_held
            if impl and not impl.is_freed:
                impl.holders_now = sight.holders
                own = [one for one in self._wrappers_of(impl) if not one.is_preserved]
                impl.is_shared = sight.owners is not None and sight.owners > len(own)

    def end(self) -> None:
        """The line is over: notes how everything stands."""
        self.was_hermetic = self._entered or self._lane in self._hermetic_lanes
        for made in self.objects:
            made.owners.append(self._owner(made))
            made.holders.append(self._holders(made))
            made.slots.append(self._slot(made))

    def families(self) -> list[list[_Object]]:
        """Impls as they were made, each with its wrappers behind it."""
        return [[impl, *(one for one in self.objects if one.impl is impl)]
                for impl in self.objects if impl.role == "impl"]

    def _note_hermetic(self, entered: bool) -> None:
        self._entered |= entered
        if entered:
            self._hermetic_lanes.add(self._lane)
        else:
            self._hermetic_lanes.discard(self._lane)

    def _make_impl(self, event: trace.Event, at: dict[str, int]) -> None:
        impl = self._add(_Object("impl", at["impl"]))
        size = event.bytes
        impl.about = "tensor" if size is None else f"storage, {size} byte{'s' * (size != 1)}"
        if "storage" in at:
            impl.storage = self._last(at["storage"], "impl")

    def _free_wrapper(self, at: dict[str, int]) -> None:
        wrapper = self._last(at["wrapper"], "wrapper")
        if wrapper is None:
            return  # made before the program began
        wrapper.is_freed = True
        # `slot of <impl> still holds it`; else the slot is empty, also where no event said so.
        if SLOT_OF in at:
            wrapper.impl.slot = wrapper
        elif wrapper.impl.slot is wrapper:
            wrapper.impl.slot = None

    def _change(
        self, event: trace.Event, at: dict[str, int], binds: tuple[str, ...],
    ) -> None:
        """An event that names an impl and its wrapper."""
        what, impl = event.what, self._impl(at["impl"])
        wrapper = self._last(at["wrapper"], "wrapper")
        is_gone = wrapper is None or wrapper.is_freed
        if what is What.SLOT_READ and wrapper is not None and is_gone:
            self._note_dangling(impl, wrapper)
            return
        if is_gone or (what is What.WRAPPER_CREATED and wrapper.is_announced):
            wrapper = self._add(_Object("wrapper", at["wrapper"], impl))
        match what:
            case What.WRAPPER_CREATED:
                self._announce(wrapper, event, binds)
            case What.SLOT_WRITTEN:
                impl.slot = wrapper
            case What.SLOT_CLEARED:
                impl.slot = None
            case What.WRAPPER_HELD | What.WRAPPER_RELEASED:
                wrapper.is_held = what is What.WRAPPER_HELD
                if not wrapper.is_held:
                    wrapper.by_python, impl.is_shared, impl.holders_now = True, False, ()
            case What.WRAPPER_PRESERVED | What.WRAPPER_RESURRECTED | What.HANDED_OVER:
                wrapper.is_preserved = what is What.WRAPPER_PRESERVED
                wrapper.by_python = not wrapper.is_preserved

    def _note_dangling(self, impl: _Object, wrapper: _Object) -> None:
        """The slot is read and still has a freed WRAPPER: so it had it all the time since then."""
        if wrapper.impl is impl:
            impl.slot = wrapper
            wrapper.slots = [Slot.DANGLES if owner is Owner.NOBODY else slot
                             for owner, slot in zip(wrapper.owners, wrapper.slots)]

    def _announce(
        self, wrapper: _Object, event: trace.Event, binds: tuple[str, ...],
    ) -> None:
        wrapper.is_announced = True
        wrapper.about = event.type
        if event.is_hermetic:  # the judge does not follow these
            wrapper.about = HERMETIC_WRAPPER
            wrapper.name(binds)

    def _owner(self, made: _Object) -> Owner:
        if made.is_freed:
            return Owner.NOBODY
        if made.role == "wrapper":
            by_python, by_cpp = made.by_python, made.is_held or made.is_preserved
        else:
            wrappers = self._wrappers_of(made)
            by_python = any(one.by_python for one in wrappers)
            by_cpp = not wrappers or any(one.is_held or one.is_preserved for one in wrappers)
            by_cpp |= self._is_shared(made)
        if by_python:
            return Owner.BOTH if by_cpp else Owner.PYTHON
        return Owner.CPP

    def _is_shared(self, impl: _Object) -> bool:
        """Whether more than its wrappers own IMPL: what is in sight, else a tensor that had it."""
        if impl.is_shared is not None:
            return impl.is_shared
        return bool(self._tensors_of(impl))

    def _holders(self, made: _Object) -> tuple[str, ...]:
        """The variables through which C++ owns an impl: those in sight, else names of a tensor."""
        if made.role == "wrapper" or made.is_freed:
            return ()
        if made.holders_now is not None:
            return made.holders_now
        return tuple(name for one in self._tensors_of(made)
                     for wrapper in self._wrappers_of(one) for name in wrapper.names[-1:])

    def _tensors_of(self, impl: _Object) -> list[_Object]:
        """The impls of tensors that owned the storage IMPL when they were made."""
        return [one for one in self.objects if one.storage is impl and not one.is_freed]

    def _slot(self, made: _Object) -> Slot:
        if made.impl is None or made.impl.is_freed or made.impl.slot is not made:
            return Slot.EMPTY
        return Slot.DANGLES if made.is_freed else Slot.HOLDS

    def _wrappers_of(self, impl: _Object) -> list[_Object]:
        return [one for one in self.objects if one.impl is impl and not one.is_freed]

    def _impl(self, address: int) -> _Object:
        """The impl there; one that was made before the program began is new here."""
        impl = self._last(address, "impl")
        return impl if impl else self._add(_Object("impl", address))

    def _last(self, address: int, role: str) -> _Object | None:
        return next((made for made in reversed(self.objects)
                     if made.address == address and made.role == role), None)

    def _add(self, made: _Object) -> _Object:
        self.objects.append(made)
        return made


def _accessed(reply: Reply, log: trace.Log, objects: list[_Object]) -> list[_Object]:
    """What the finding is about: the freed object of a report; what an assert names; what is left.

    Empty when the reply does not say: then the line alone is known.
    """
    if reply.kind != "assert":
        about = Report(log.report).object_of(log.events)
        return [made for made in objects if about is not None and made.address == about][-1:]
    asserted = "\n".join(reply.asserts)
    words = set(WORD.findall(asserted))
    serials = {int(one or other) for one, other in FINALIZED.findall(asserted)}
    meant = [made for made in objects
             if made.serial in serials or words & set(made.weak_now)]
    living = [made for made in objects if not made.is_freed]
    if reply.is_at_end:
        return living or meant
    # The judge follows no hermetic wrapper, and of an impl's wrappers the newest.
    named = {word: made for made in living for word in made.names}
    named |= {word: made for made in living for word in made.names_now}
    return meant + [named[word] for word in sorted(words & set(named))]
