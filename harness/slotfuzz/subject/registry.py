"""Finds subjects: each file of subjects/ has a row CAPABILITIES.

The name of a subject begins with its file's name. Some files allow more after a colon: `mutant:ID`.
"""

import importlib
import pkgutil

from slotfuzz.errors import UserError, nearest
from slotfuzz.subject import subjects
from slotfuzz.subject.capabilities import Capabilities

# The subject if --subject is not given.
DEFAULT = "core"


def every() -> list[Capabilities]:
    """The rows of all files, in alphabetical order."""
    return [_row(stem) for stem in _stems()]


def row(name: str) -> Capabilities | None:
    """The row of the file that NAME begins with; None if there is no such file."""
    stem = name.partition(":")[0]
    return _row(stem) if stem in _stems() else None


def find(name: str) -> Capabilities:
    """The row of NAME, which must run programs; else UserError that names the nearest subjects."""
    found = row(name)
    if found and found.takes(name, found.names):
        return found
    if found and found.takes(name, found.interleaved):
        raise UserError(f"{name} runs schedules, not programs:"
                        f" ./slotfuzz interleave --subject {name}")
    raise UserError(f"no subject {name!r}; {nearest(name, names())}")


def find_interleaved(name: str) -> Capabilities:
    """The row of NAME, which must run schedules; else UserError that lists the subjects that do."""
    found = row(name)
    if found and found.takes(name, found.interleaved):
        return found
    *others, last = interleaved_names()
    raise UserError(f"no subject {name!r} here; {', '.join(others)} or {last}")


def names() -> list[str]:
    """What --subject takes in commands that run programs."""
    return [name for one in every() for name in one.names]


def interleaved_names() -> list[str]:
    """What --subject takes in `interleave`; subjects without a model come last."""
    rows = sorted(every(), key=lambda one: one.is_fuzzed_by_schedule)
    return [name for one in rows for name in one.interleaved]


def installed_names() -> list[str]:
    """The subjects that are installed in an interpreter."""
    return [name for one in every() if one.is_installed for name in one.names]


def own_target(name: str) -> str:
    """The target that finds the bug seeded in NAME; empty if no bug is seeded."""
    header = find(name).header_of(name)
    return header.target if header else ""


def release_in(subject: str, versions: dict[str, str]) -> str:
    """The release of SUBJECT, such as 2.6.0, among the VERSIONS of a finding.

    Empty if the subject is built from this source tree.
    """
    found = row(subject)
    return versions.get(found.release_key if found else "", "").partition("+")[0]


def _stems() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(subjects.__path__))


def _row(stem: str) -> Capabilities:
    return importlib.import_module(f"{subjects.__name__}.{stem}").CAPABILITIES
