"""core: our own storage and tensor core, as the module slotcore.

`core` preserves wrappers by the refcount-bit protocol, `core:resurrect` by resurrection.
"""

from pathlib import Path

from slotfuzz.paths import COMMAND
from slotfuzz.subject import build
from slotfuzz.subject.capabilities import Capabilities, Wish
from slotfuzz.subject.sanitizers import SANITIZERS
from slotfuzz.subject.subject import Subject

MODULE, TRACE_VARIABLE = "slotcore", "SLOTCORE_TRACE"
RUNS_SCRIPTS = f"{COMMAND} python"
# For each of the two builds: its folder in the preset's folder, and the suffix of ninja targets.
PROTOCOL_FOLDERS = {"core": "", "core:resurrect": "resurrect"}
# For each build: the word in the names of the source files that the other does not have.
PROTOCOL_WORDS = {"core": "refcount_bit", "core:resurrect": "resurrection"}


def make(wish: Wish) -> Subject:
    """Builds `core` or `core:resurrect`."""
    sanitizer, part = wish.sanitizer or "address", PROTOCOL_FOLDERS[wish.name]
    wanted = [f"target-{target}" for target in wish.targets] + ["slotpython"] * wish.with_python
    preset = SANITIZERS[sanitizer].preset
    folder = build.build(preset, [f"{one}-{part}" if part else one for one in wanted]) / part
    return of_folder(wish.name, sanitizer, preset, folder)


def of_folder(name: str, sanitizer: str, preset: str, folder: Path) -> Subject:
    """The subject NAME, which is slotcore with its binaries in FOLDER."""
    return Subject(name, sanitizer, preset, folder, str(folder / "slotpython"))


CAPABILITIES = Capabilities(
    module=MODULE, make=make, names=tuple(PROTOCOL_FOLDERS), interleaved=("core",),
    runs_scripts=RUNS_SCRIPTS, trace_variable=TRACE_VARIABLE, is_counted=True,
    has_many_bugs=False,
)
