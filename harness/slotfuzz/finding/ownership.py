"""Follows who owns each impl, wrapper and ctx, from the core's events and the judge's observations.

Python owns a wrapper while Python refers to it; C++ owns it while C++ owners hold it. Python owns
an impl through such a wrapper; C++ owns an impl while any other owner exists. C++ owns a ctx while
its node lives, and Python owns it then only.
"""

from dataclasses import dataclass, field

from slotfuzz.finding.timeline import HERMETIC_WRAPPER, Row, Owner, Slot
from slotfuzz.schema import trace
from slotfuzz.schema.events import SAVED_LINK, SLOT_OF
from slotfuzz.schema.events import Event as What


@dataclass(eq=False)
class Object:
    """An impl, a wrapper or a ctx while the events of the run are processed.

    The IMPL of a ctx is its node.
    """

    role: str
    address: int
    impl: "Object | None" = None
    about: str = ""
    is_announced: bool = False
    is_freed: bool = False
    # For a wrapper: Python refers to it; C++ owners hold it; only they do (resurrection).
    by_python: bool = True
    is_held: bool = False
    is_preserved: bool = False
    # What it owns, and what it has saved for a backward.
    owned: "list[Object]" = field(default_factory=list)
    saved: "list[Object]" = field(default_factory=list)
    # For an impl: the wrapper in its slot; whether it has other owners than its wrappers; and the
    # variables that hold it. The last two stay None while the judge does not observe it.
    slot: "Object | None" = None
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

    def row(self, family: int, length: int) -> Row:
        """The row, padded at its start to LENGTH columns."""
        before = length - len(self.owners)
        return Row(self.role, self.address, family, self.about, tuple(self.names),
                    (*[None] * before, *self.owners), (*[()] * before, *self.holders),
                    (*[Slot.EMPTY] * before, *self.slots), frozenset(self.broken))


class Ownership:
    """Follows the events of a run; several objects may have the same address in succession."""

    def __init__(self):
        self.objects: list[Object] = []
        self.was_hermetic = False
        self._lane = 0
        self._hermetic_lanes: set[int] = set()
        self._entered = False

    def begin(self, lane: int) -> None:
        """Starts a line on LANE."""
        self._lane, self._entered = lane, False

    def follow(self, event: trace.Event, binds: tuple[str, ...]) -> None:
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
        elif what is What.CTX_CREATED:
            self._add(Object("ctx", at["ctx"], about=event.type))
        elif what is What.CTX_FREED:
            self._living(at["ctx"]).is_freed = True
        elif what is What.REFERENCE_TAKEN:
            self._take(self._living(at["owner"]), self._living(at["owned"]), event.link)
        elif what is What.REFERENCES_RELEASED:
            if event.link in ("", SAVED_LINK):
                self._living(at["owner"]).saved.clear()
        elif what is What.IMPLS_SWAPPED:
            self._swap(self._last(at["wrapper"], "wrapper"), self._last(at["with"], "wrapper"))
        elif at.get("wrapper") and "impl" in at:
            self._change(event, at, binds)

    def observe(self, observed: list[trace.ObservedImpl]) -> None:
        """Processes the judge's observations after the line."""
        for made in self.objects:
            made.names_now, made.weak_now, made.is_shared, made.holders_now = (), (), None, None
        for one in observed:
            impl, wrapper = self._last(one.impl, "impl"), self._last(one.wrapper, "wrapper")
            if wrapper and wrapper.impl is impl:
                wrapper.weak_now, wrapper.serial = one.weak, one.serial
            if wrapper and wrapper.impl is impl and not wrapper.is_freed:
                wrapper.name(one.names)
                if not wrapper.is_preserved:
                    wrapper.by_python = one.references > wrapper.is_held
            if impl and not impl.is_freed:
                impl.holders_now = one.holders
                own = [one for one in self._wrappers_of(impl) if not one.is_preserved]
                impl.is_shared = one.owners is not None and one.owners > len(own)

    def end(self) -> None:
        """Ends the line: adds the owner, holders and slot of each object to its row."""
        self.was_hermetic = self._entered or self._lane in self._hermetic_lanes
        for made in self.objects:
            made.owners.append(self._owner(made))
            made.holders.append(self._holders(made))
            made.slots.append(self._slot(made))

    def families(self) -> list[list[Object]]:
        """Impls in order of creation, each followed by its wrappers, and a node by its ctx."""
        return [[impl, *(one for one in self.objects if one.impl is impl)]
                for impl in self.objects if impl.role == "impl"]

    def _note_hermetic(self, entered: bool) -> None:
        self._entered |= entered
        if entered:
            self._hermetic_lanes.add(self._lane)
        else:
            self._hermetic_lanes.discard(self._lane)

    def _make_impl(self, event: trace.Event, at: dict[str, int]) -> None:
        # A node may refer to others before it is announced.
        known = self._last(at["impl"], "impl")
        is_new = known is None or known.is_freed or known.about
        impl = self._add(Object("impl", at["impl"])) if is_new else known
        size = [] if event.bytes is None else [f"{event.bytes} byte{'s' * (event.bytes != 1)}"]
        impl.about = ", ".join([event.type, *size])
        # Each further address is that of an impl that this one owns by a pointer.
        owned = [self._last(address, "impl") for name, address in at.items() if name != "impl"]
        impl.owned += [one for one in owned if one]

    @staticmethod
    def _take(owner: Object, owned: Object, link: str) -> None:
        if owned.role == "ctx":
            owned.impl = owner
        elif link == SAVED_LINK:
            owner.saved.append(owned)
        else:
            owner.owned.append(owned)

    @staticmethod
    def _swap(one: Object | None, other: Object | None) -> None:
        if one and other:
            one.impl, other.impl = other.impl, one.impl
            one.impl.slot, other.impl.slot = one, other

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
            wrapper = self._add(Object("wrapper", at["wrapper"], impl))
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

    def _note_dangling(self, impl: Object, wrapper: Object) -> None:
        """Marks the slot as dangling since the free of WRAPPER, because a read still finds it."""
        if wrapper.impl is impl:
            impl.slot = wrapper
            wrapper.slots = [Slot.DANGLES if owner is Owner.NOBODY else slot
                             for owner, slot in zip(wrapper.owners, wrapper.slots)]

    def _announce(
        self, wrapper: Object, event: trace.Event, binds: tuple[str, ...],
    ) -> None:
        wrapper.is_announced = True
        wrapper.about = event.type
        if event.is_hermetic:  # the judge does not follow these wrappers
            wrapper.about = HERMETIC_WRAPPER
            wrapper.name(binds)

    def _owner(self, made: Object) -> Owner:
        if made.is_freed:
            return Owner.NOBODY
        if made.role == "wrapper":
            by_python, by_cpp = made.by_python, made.is_held or made.is_preserved
        elif made.role == "ctx":
            by_cpp = made.impl is not None and not made.impl.is_freed
            by_python = not by_cpp
        else:
            wrappers = self._wrappers_of(made)
            by_python = any(one.by_python for one in wrappers)
            by_cpp = not wrappers or any(one.is_held or one.is_preserved for one in wrappers)
            by_cpp |= self._is_shared(made)
        if by_python:
            return Owner.BOTH if by_cpp else Owner.PYTHON
        return Owner.CPP

    def _is_shared(self, impl: Object) -> bool:
        """Whether IMPL has other owners than its wrappers: observed, or else other impls."""
        if impl.is_shared is not None:
            return impl.is_shared
        return bool(self._owners_of(impl))

    def _holders(self, made: Object) -> tuple[str, ...]:
        """The variables through which C++ owns an impl: observed, or else names of its owners."""
        if made.role != "impl" or made.is_freed:
            return ()
        if made.holders_now is not None:
            return made.holders_now
        return tuple(name for one in self._owners_of(made)
                     for wrapper in self._wrappers_of(one) for name in wrapper.names[-1:])

    def _owners_of(self, impl: Object) -> list[Object]:
        """The impls and ctxs that own IMPL."""
        return [one for one in self.objects
                if (impl in one.owned or impl in one.saved) and not one.is_freed]

    def _slot(self, made: Object) -> Slot:
        if made.impl is None or made.impl.is_freed or made.impl.slot is not made:
            return Slot.EMPTY
        return Slot.DANGLES if made.is_freed else Slot.HOLDS

    def _wrappers_of(self, impl: Object) -> list[Object]:
        return [one for one in self.objects
                if one.impl is impl and one.role == "wrapper" and not one.is_freed]

    def _impl(self, address: int) -> Object:
        """The impl at ADDRESS; an impl from before the program is added here."""
        impl = self._last(address, "impl")
        return impl if impl else self._add(Object("impl", address))

    def _living(self, address: int) -> Object:
        """The impl or ctx at ADDRESS."""
        found = next((made for made in reversed(self.objects)
                      if made.address == address and made.role != "wrapper"), None)
        return found if found else self._add(Object("impl", address))

    def _last(self, address: int, role: str) -> Object | None:
        return next((made for made in reversed(self.objects)
                     if made.address == address and made.role == role), None)

    def _add(self, made: Object) -> Object:
        self.objects.append(made)
        return made
