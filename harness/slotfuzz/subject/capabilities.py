"""What the driver knows of a subject before anything runs: one row, in the subject's own file.

What an object looks like, which ops the module lacks, how it is made hermetic and whether its
storages outlive their wrappers are no fields: the engine finds that out by probing the module.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slotfuzz.subject.mutant import Header

if TYPE_CHECKING:
    from slotfuzz.subject.subject import Subject

# What runs a script of a module that any interpreter may have.
PLAIN = "python3"


@dataclass(frozen=True)
class Wish:
    """What a command asks of a subject: its NAME, built for these TARGETS.

    WITH_PYTHON also its interpreter for scripts. PYTHON and TREE (a checked --rootfs) choose the
    interpreter that has the module; without a SANITIZER it is what suits the subject.
    """

    name: str
    sanitizer: str | None
    targets: list[str]
    python: str | None = None
    with_python: bool = True
    tree: Path | None = None


@dataclass(frozen=True)
class Capabilities:
    """One kind of subject. A field that a file leaves out is what holds for our own core."""

    module: str
    """The module that `T` is."""

    make: Callable[[Wish], "Subject"] | None
    """Builds what a Wish names. None if nothing runs programs on it."""

    names: tuple[str, ...] = ()
    """What --subject takes where programs run; a last word ID stands for any other."""

    interleaved: tuple[str, ...] = ()
    """What --subject takes where schedules run: the command `interleave`."""

    header_of: Callable[[str], Header | None] = lambda name: None
    """The header of the patch that a name stands for: one seeded bug, which a hunt is to find."""

    runs_scripts: str = PLAIN
    """The words with which a user runs a script. If they are not PLAIN, the script says so where
    the module cannot be imported."""

    trace_variable: str = ""
    """The environment variable that makes the module print what becomes of its objects; empty if it
    cannot, and a finding has then no picture."""

    is_counted: bool = False
    """Whether the module counts its live impls and wrappers, for the ledger to compare."""

    has_many_bugs: bool = True
    """Whether one build is expected to have several bugs. Findings are then told apart by more than
    where they show, and one that never fails in a fresh process hides no other."""

    is_imported_slowly: bool = False
    """Whether the import takes long enough that scripts are forked from one interpreter."""

    release_key: str = ""
    """The entry of `versions` that names the release. A finding of another release is another
    finding. Empty: the tree that it is built from is the release."""

    is_installed: bool = False
    """Whether an interpreter brings it along, which --python and --rootfs then choose."""

    is_fuzzed_by_schedule: bool = False
    """Whether `interleave` fuzzes schedules of a build, since there is no model of its code."""

    def takes(self, name: str, names: tuple[str, ...]) -> bool:
        """Whether NAME is one of NAMES, which are those of this row."""
        return any(name == one or one.endswith(":ID") and name.startswith(one.removesuffix("ID"))
                   for one in names)
