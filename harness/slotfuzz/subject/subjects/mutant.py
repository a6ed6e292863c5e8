"""mutant:ID: slotcore with one historic bug, which a patch in mutants/ puts back.

Its preservation protocol is the one whose file the patch changes, or else refcount-bit.
"""

from dataclasses import replace

from slotfuzz.subject import build, mutant
from slotfuzz.subject.capabilities import Wish
from slotfuzz.subject.catalogue import check_mutant
from slotfuzz.subject.sanitizers import SANITIZERS
from slotfuzz.subject.subject import Subject
from slotfuzz.subject.subjects import core


def make(wish: Wish) -> Subject:
    """Builds slotcore with the patch."""
    chosen = _id(wish.name)
    sanitizer = wish.sanitizer or mutant.read_header(chosen).sanitizer
    preset = SANITIZERS[sanitizer].preset
    wanted = [*wish.targets, *["slotpython"] * wish.with_python]
    folder = build.build_mutant(preset, chosen, wanted)
    return core.of_folder(wish.name, sanitizer, preset, folder)


def header_of(name: str) -> mutant.Header:
    """The header of the patch."""
    return mutant.read_header(_id(name))


def _id(name: str) -> str:
    return check_mutant(name.partition(":")[2])


CAPABILITIES = replace(core.CAPABILITIES, make=make, names=("mutant:ID",),
                       interleaved=("mutant:ID",), header_of=header_of)
