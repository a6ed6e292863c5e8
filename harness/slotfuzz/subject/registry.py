"""The subjects that there are: the files of subjects/, each with a row CAPABILITIES.

A subject is named by its file, with more after a colon where the file allows that: `mutant:ID`.
"""

import importlib
import pkgutil

from slotfuzz.errors import UserError, nearest
from slotfuzz.subject import subjects
from slotfuzz.subject.capabilities import Capabilities

# What `T` is where nobody says.
DEFAULT = "core"


def every() -> list[Capabilities]:
    """The rows of all files, in alphabetical order."""
    return [_row(stem) for stem in _stems()]


def row(name: str) -> Capabilities | None:
    """The row of the file that NAME begins with; None if there is no such file."""
    stem = name.partition(":")[0]
    return _row(stem) if stem in _stems() else None


def find(name: str) -> Capabilities:
    """The row of the subject NAME, which runs programs; UserError that names the nearest."""
    found = row(name)
    if found and found.takes(name, found.names):
        return found
    if found and found.takes(name, found.interleaved):
        raise UserError(f"{name} runs no programs, it is hunted by schedules:"
                        f" ./slotfuzz interleave --subject {name}")
    raise UserError(f"no subject {name!r}; {nearest(name, names())}")


def find_interleaved(name: str) -> Capabilities:
    """The row of the subject NAME, which runs schedules; UserError that lists those that do."""
    found = row(name)
    if found and found.takes(name, found.interleaved):
        return found
    *others, last = interleaved_names()
    raise UserError(f"no subject {name!r} here; {', '.join(others)} or {last}")


def names() -> list[str]:
    """What --subject takes where programs run."""
    return [name for one in every() for name in one.names]


def interleaved_names() -> list[str]:
    """What --subject takes where schedules run; what has no model comes last."""
    rows = sorted(every(), key=lambda one: one.is_fuzzed_by_schedule)
    return [name for one in rows for name in one.interleaved]


def installed_names() -> list[str]:
    """The subjects that an interpreter brings along."""
    return [name for one in every() if one.is_installed for name in one.names]


def own_target(name: str) -> str:
    """The target that shows the bug seeded in NAME; empty where there is none."""
    header = find(name).header_of(name)
    return header.target if header else ""


def release_in(record: dict) -> str:
    """Which release of its subject a finding is of, such as 2.6.0; empty where it is the tree's."""
    found, versions = row(str(record.get("subject", ""))), record.get("versions")
    key = found.release_key if found else ""
    return versions.get(key, "").partition("+")[0] if isinstance(versions, dict) else ""


def _stems() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(subjects.__path__))


def _row(stem: str) -> Capabilities:
    return importlib.import_module(f"{subjects.__name__}.{stem}").CAPABILITIES
