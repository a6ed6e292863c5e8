"""The trace events of slotcore (core/c10/trace.h), and the meaning of each for impl or wrapper.

This is the only list of their names outside the core; a test compares it with the core's `trace(`.
"""

from enum import Enum


class Event(Enum):
    """An event by the name that the core prints."""

    IMPL_CREATED = "impl created"
    IMPL_FREED = "impl freed"
    STORAGE_RESIZED = "storage resized"
    WRAPPER_CREATED = "wrapper created"
    WRAPPER_FREED = "wrapper freed"
    # C++ owners hold the wrapper, or no longer do (refcount-bit).
    WRAPPER_HELD = "wrapper held"
    WRAPPER_RELEASED = "wrapper released"
    # Python has released the wrapper, and C++ keeps it (resurrection) or does not.
    WRAPPER_PRESERVED = "wrapper preserved"
    NOT_PRESERVED = "not preserved"
    # Python owns the wrapper again.
    WRAPPER_RESURRECTED = "wrapper resurrected"
    HANDED_OVER = "handed over"
    SLOT_READ = "slot read"
    SLOT_WRITTEN = "slot written"
    SLOT_CLEARED = "slot cleared"
    TAG_CLAIMED = "tag claimed"
    HERMETIC_ENTERED = "hermetic entered"
    HERMETIC_LEFT = "hermetic left"
    INTERPRETER_DISARMED = "interpreter disarmed"
    # The ctx of a custom Function.
    CTX_CREATED = "ctx created"
    CTX_FREED = "ctx freed"
    # An impl or a ctx owns another object from now on, by its LINK.
    REFERENCE_TAKEN = "reference taken"
    # It releases its references of this LINK, or all of them if the event names none.
    REFERENCES_RELEASED = "references released"
    # A wrapper or a ctx reported a reference that C++ holds to the collector's first pass.
    VISITED = "visited"
    # The collector called tp_clear, which did so, or refused because C++ owns the object.
    CLEARED = "cleared"
    CLEAR_REFUSED = "clear refused"
    # A weak reference was locked; the impl is 0 if it has expired.
    HANDLE_LOCKED = "handle locked"
    IMPLS_SWAPPED = "impls swapped"
    # An exported buffer keeps the bytes in place, or no longer does.
    STORAGE_PINNED = "storage pinned"
    STORAGE_UNPINNED = "storage unpinned"
    RESIZE_REFUSED = "resize refused"


CREATES = frozenset([Event.IMPL_CREATED, Event.WRAPPER_CREATED, Event.CTX_CREATED])
FREES = frozenset([Event.IMPL_FREED, Event.WRAPPER_FREED, Event.CTX_FREED])
# In a field of WRAPPER_CREATED and NOT_PRESERVED: the thread was in hermetic mode.
HERMETIC_REMARK = "(hermetic)"
# The link to a tensor that a node or a ctx has saved.
SAVED_LINK = "saved tensor"
# The links of which each reference that C++ holds has its REFERENCE_TAKEN.
TRACED_LINKS = frozenset(["ctx", ".next_functions", ".variable"])
# In WRAPPER_FREED, before an impl whose slot still has the wrapper's address.
SLOT_OF = "slot of"
