"""The ownership timeline of impls, wrappers and ctxs: a row per object, a column per line."""

import enum
from dataclasses import dataclass

# The label of a wrapper that was made in hermetic mode; it replaces the type.
HERMETIC_WRAPPER = "hermetic"


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
class Row:
    """One object: an "impl", a "wrapper" or a "ctx" at ADDRESS; ABOUT is its type or size.

    FAMILY is the number of the impl, shared with its wrappers and ctx: addresses can recur. OWNERS,
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
class Timeline:
    """All objects of a run in order of creation, each impl before its wrappers."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    # The column in which the finding shows; `None` if the run is clean.
    broken: int | None
