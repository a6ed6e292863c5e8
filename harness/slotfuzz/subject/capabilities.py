"""What the driver knows of a subject before anything runs: one row, in the subject's own file.

The row does not say what an object looks like, which ops the module lacks, how a thread enters
hermetic mode, or whether a storage outlives its wrapper: the engine probes the module for that.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slotfuzz.subject.mutant import Header

if TYPE_CHECKING:
    from slotfuzz.subject.subject import Subject

# The command that runs a script if its module can be installed in any interpreter.
PLAIN = "python3"


@dataclass(frozen=True)
class Wish:
    """What a command needs built: TARGETS on the subject NAME.

    WITH_PYTHON asks for the subject's interpreter for scripts too. PYTHON and TREE (a checked
    --rootfs) choose the interpreter that has the module. Without SANITIZER the subject chooses.
    """

    name: str
    sanitizer: str | None
    targets: list[str]
    python: str | None = None
    with_python: bool = True
    tree: Path | None = None


@dataclass(frozen=True)
class Capabilities:
    """One kind of subject. The default of each field is the value for our own core."""

    module: str
    """The module that `T` is."""

    make: Callable[[Wish], "Subject"] | None
    """Builds what a Wish names. None if this kind of subject runs no programs."""

    names: tuple[str, ...] = ()
    """What --subject takes in commands that run programs. A name that ends in `:ID` stands for all
    names with that prefix."""

    interleaved: tuple[str, ...] = ()
    """What --subject takes in the command `interleave`, which runs schedules."""

    header_of: Callable[[str], Header | None] = lambda name: None
    """The header of the patch that a name stands for: the seeded bug that a hunt must find."""

    runs_scripts: str = PLAIN
    """The command with which a user runs a script. If it is not PLAIN, a script that cannot import
    the module prints it."""

    trace_variable: str = ""
    """The environment variable that makes the module print the events of its objects. Empty if the
    module has no such trace; its findings then have no picture."""

    is_counted: bool = False
    """Whether the module counts its live impls and wrappers; the ledger compares these counts."""

    has_many_bugs: bool = True
    """Whether one build can have several bugs. The place where a finding fails is then not enough
    to tell it from others, and a finding that never fails in a fresh process hides no other."""

    is_imported_slowly: bool = False
    """Whether the import is so slow that scripts are forked from one interpreter."""

    release_key: str = ""
    """The key of `versions` that names the release. The same bug in another release is another
    finding. Empty if the subject is built from this source tree."""

    is_installed: bool = False
    """Whether the module is installed in an interpreter, which --python and --rootfs choose."""

    is_fuzzed_by_schedule: bool = False
    """Whether `interleave` fuzzes schedules of a build, because there is no model of its code."""

    def takes(self, name: str, names: tuple[str, ...]) -> bool:
        """Whether NAME matches one of NAMES, a field of this row."""
        return any(name == one or one.endswith(":ID") and name.startswith(one.removesuffix("ID"))
                   for one in names)
