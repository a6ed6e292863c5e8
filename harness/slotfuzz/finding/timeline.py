"""The ownership timeline of impls and wrappers, line by line, from the trace of a run.

The owners follow from the core's events and from the judge's observations after each line. Python
owns a wrapper while Python refers to it; C++ owns it while C++ owners hold it. Python owns an impl
through such a wrapper; C++ owns an impl while any other owner exists.
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
# The label of a wrapper that was made in hermetic mode; it replaces the type.
HERMETIC_WRAPPER = "hermetic"
# The judge's messages about finalizers name an object by its number.
FINALIZED = re.compile(r"assert (\d+) (?:not )?in finalized|finalized\.count\((\d+)\)")


class Owner(enum.Enum):
    """The side that owns an object, or nobody once it is freed."""

    PYTHON = "Python"
    CPP = "C++"
    BOTH = "both"
    NOBODY = "freed"


class Slot(enum.Enum):
    """Whether the slot of the impl has the wrapper's address, and whether that is valid."""

    EMPTY = "empty"
    HOLDS = "holds"
    DANGLES = "dangles"


@dataclass(frozen=True)
class Column:
    """A program line: its TEXT without the lane, the LANE, and whether the lane is HERMETIC then.

    The last column may be the reset, whose text is trace.RESET.
    """

    text: str
    lane: int
    hermetic: bool


@dataclass(frozen=True)
class Life:
    """One object: an "impl" or a "wrapper" at ADDRESS; ABOUT is its type or size.

    FAMILY is the number of the impl, shared with its wrappers, because addresses can recur. OWNERS,
    HOLDERS and SLOTS have an entry for each column. The owner is `None` before the object exists.
    HOLDERS are the known variables through which C++ owns an impl. BROKEN has the columns of
    fatal accesses and of broken promises.
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
    """All objects of a run in order of creation, each impl before its wrappers."""

    columns: tuple[Column, ...]
    rows: tuple[Life, ...]
    # The column in which the finding shows; `None` if the run is clean.
    broken: int | None


def of_reply(reply: Reply) -> Lives:
    """The ownership timeline of a traced reply; it has no rows if the subject prints no trace."""
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
    """Whether line INDEX was interrupted, so that the judge observed nothing after it."""
    return index == reply.line and not reply.is_at_end and reply.is_finding


@dataclass(eq=False)
class _Object:
    """An impl or a wrapper while the events of the run are processed."""

    role: str
    address: int
    impl: "_Object | None" = None
    about: str = ""
    is_announced: bool = False
    is_freed: bool = False
    # For a wrapper: Python refers to it; C++ owners hold it; only they do (resurrection).
    by_python: bool = True
    is_held: bool = False
    is_preserved: bool = False
    # For a tensor's impl: its storage's impl at creation.
    storage: "_Object | None" = None
    # For an impl: the wrapper in its slot; whether it has other owners than its wrappers; and the
    # variables that hold it. The last two stay None while the judge does not observe it.
    slot: "_Object | None" = None
    is_shared: bool | None = None
    holders_now: tuple[str, ...] | None = None
    names: list[str] = field(default_factory=list)
    names_now: tuple[str, ...] = ()
    # Besides names, an assert may refer to the object by these.
    weak_now: tuple[str, ...] = ()
    serial: int | None = None
    owners: list[Owner | None] = field(default_factory=list)
    holders: list[tuple[str, ...]] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    broken: set[int] = field(default_factory=set)

    def name(self, words: tuple[str, ...]) -> None:
        """Sets the variables that refer to it now."""
        self.names_now = words
        self.names += [word for word in words if word not in self.names]

    def life(self, family: int, length: int) -> Life:
        """The row, padded at its start to LENGTH columns."""
        before = length - len(self.owners)
        return Life(self.role, self.address, family, self.about, tuple(self.names),
                    (*[None] * before, *self.owners), (*[()] * before, *self.holders),
                    (*[Slot.EMPTY] * before, *self.slots), frozenset(self.broken))


class _Story:
    """Follows the events of a run; several objects may have the same address in succession."""

    def __init__(self):
        self.objects: list[_Object] = []
        self.was_hermetic = False
        self._lane = 0
        self._hermetic_lanes: set[int] = set()
        self._entered = False

    def begin(self, lane: int) -> None:
        """Starts a line on LANE."""
        self._lane, self._entered = lane, False

    def happens(self, event: trace.Event, binds: tuple[str, ...]) -> None:
        """Processes EVENT, which a line that BINDS these variables caused."""
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
        """Processes the judge's observations after the line."""
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
        """Ends the line: adds the owner, holders and slot of each object to its row."""
        self.was_hermetic = self._entered or self._lane in self._hermetic_lanes
        for made in self.objects:
            made.owners.append(self._owner(made))
            made.holders.append(self._holders(made))
            made.slots.append(self._slot(made))

    def families(self) -> list[list[_Object]]:
        """Impls in order of creation, each followed by its wrappers."""
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
            return  # it existed before the program began
        wrapper.is_freed = True
        # The trace says `slot of <impl> still holds it`, or else the slot is empty.
        if SLOT_OF in at:
            wrapper.impl.slot = wrapper
        elif wrapper.impl.slot is wrapper:
            wrapper.impl.slot = None

    def _change(
        self, event: trace.Event, at: dict[str, int], binds: tuple[str, ...],
    ) -> None:
        """Processes an event that names an impl and its wrapper."""
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
        """Marks the slot as dangling since the free of WRAPPER, because a read still finds it."""
        if wrapper.impl is impl:
            impl.slot = wrapper
            wrapper.slots = [Slot.DANGLES if owner is Owner.NOBODY else slot
                             for owner, slot in zip(wrapper.owners, wrapper.slots)]

    def _announce(
        self, wrapper: _Object, event: trace.Event, binds: tuple[str, ...],
    ) -> None:
        wrapper.is_announced = True
        wrapper.about = event.type
        if event.is_hermetic:  # the judge does not follow these wrappers
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
        """Whether IMPL has other owners than its wrappers: observed, or else a tensor."""
        if impl.is_shared is not None:
            return impl.is_shared
        return bool(self._tensors_of(impl))

    def _holders(self, made: _Object) -> tuple[str, ...]:
        """The variables through which C++ owns an impl: observed ones, else names of a tensor."""
        if made.role == "wrapper" or made.is_freed:
            return ()
        if made.holders_now is not None:
            return made.holders_now
        return tuple(name for one in self._tensors_of(made)
                     for wrapper in self._wrappers_of(one) for name in wrapper.names[-1:])

    def _tensors_of(self, impl: _Object) -> list[_Object]:
        """The impls of tensors that owned the storage IMPL at their creation."""
        return [one for one in self.objects if one.storage is impl and not one.is_freed]

    def _slot(self, made: _Object) -> Slot:
        if made.impl is None or made.impl.is_freed or made.impl.slot is not made:
            return Slot.EMPTY
        return Slot.DANGLES if made.is_freed else Slot.HOLDS

    def _wrappers_of(self, impl: _Object) -> list[_Object]:
        return [one for one in self.objects if one.impl is impl and not one.is_freed]

    def _impl(self, address: int) -> _Object:
        """The impl at ADDRESS; an impl from before the program is added here."""
        impl = self._last(address, "impl")
        return impl if impl else self._add(_Object("impl", address))

    def _last(self, address: int, role: str) -> _Object | None:
        return next((made for made in reversed(self.objects)
                     if made.address == address and made.role == role), None)

    def _add(self, made: _Object) -> _Object:
        self.objects.append(made)
        return made


def _accessed(reply: Reply, log: trace.Log, objects: list[_Object]) -> list[_Object]:
    """The objects that the finding is about: a report's freed object, an assert's, or leaks.

    Empty if the reply names no object: then only the line is known.
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
    # The judge follows no hermetic wrapper, and only the newest wrapper of an impl.
    named = {word: made for made in living for word in made.names}
    named |= {word: made for made in living for word in made.names_now}
    return meant + [named[word] for word in sorted(words & set(named))]
