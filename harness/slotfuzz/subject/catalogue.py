"""Lists the targets, the protocols and the mutants: each is a file in its folder."""

from pathlib import Path

from slotfuzz.errors import UserError, nearest
from slotfuzz.paths import ROOT
from slotfuzz.subject import mutant

DEFAULT_TARGET = "storage"  # the fastest target, and the one that finds most mutants


def fuzzable_targets() -> list[str]:
    """The targets that a hunt runs by default: all that run programs, but not the canary."""
    return [name for name in target_names() if not must_fail(name)]


def default_target() -> str:
    """DEFAULT_TARGET, or the first that a hunt runs by default; else UserError."""
    names = fuzzable_targets()
    if not names:
        raise UserError("there is no target in targets/programs/")
    return DEFAULT_TARGET if DEFAULT_TARGET in names else names[0]


def target_names() -> list[str]:
    """The targets that run programs: one file each in targets/programs/."""
    return _stems("targets/programs/*.cc")


def protocol_names() -> list[str]:
    """The targets that check a protocol: one file each in targets/protocols/."""
    return _stems("targets/protocols/*.cc")


def source_of(name: str) -> Path:
    """The source file of a target, which runs programs or checks a protocol."""
    folder = "protocols" if name in protocol_names() else "programs"
    return ROOT / "targets" / folder / f"{name}.cc"


def must_fail(name: str) -> bool:
    """Whether the target's file says `must fail` in its first lines, as the canary's does."""
    text = source_of(name).read_text()
    return "must fail" in "".join(text.splitlines(keepends=True)[:6]).lower()


def mutant_names() -> list[str]:
    """The mutants that programs reveal: patches in mutants/ whose target runs programs."""
    return sorted(set(_stems("mutants/*.patch")) - set(protocol_mutant_names()))


def protocol_mutant_names() -> list[str]:
    """The mutants that an interleaving of a protocol reveals."""
    protocols = protocol_names()
    return [name for name in _stems("mutants/*.patch")
            if mutant.read_header(name).target in protocols]


def _stems(pattern: str) -> list[str]:
    return sorted(path.stem for path in ROOT.glob(pattern))


def check_target(name: str) -> str:
    """NAME, or UserError that names the nearest targets."""
    if name in protocol_names():
        raise UserError(f"{name} checks a protocol: ./slotfuzz interleave {name}")
    if name not in target_names():
        raise UserError(f"no target {name!r} in targets/; {nearest(name, target_names())}")
    return name


def check_mutant(name: str) -> str:
    """NAME, or UserError that names the nearest mutants that programs reveal."""
    if name in protocol_mutant_names():
        raise UserError(f"programs do not reveal {name}, interleavings do:"
                        f" ./slotfuzz interleave --subject mutant:{name}")
    if name not in mutant_names():
        raise UserError(f"no mutant {name!r} in mutants/; {nearest(name, mutant_names())}")
    return name
