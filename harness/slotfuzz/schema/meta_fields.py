"""The fields of a description, read from core/meta/fields.def, whose rows are the schema.

The core compiles these rows; the driver reads them here, so that both have one list.
"""

import functools
import re
from dataclasses import dataclass

from slotfuzz.errors import BrokenError
from slotfuzz.paths import ROOT

FIELDS = ROOT / "core" / "meta" / "fields.def"
ROW = re.compile(r"^(STORAGE|TENSOR)_FIELD\((\w+), (\w+), Presence::(\w+), ([^,]+),\s+"
                 r"\"([^\"]*)\"\)$", re.MULTILINE)
# The initial values of C++ as values of JSON; None for a field that is absent.
INITIAL = {"true": True, "false": False, "0": 0, "Device::kCpu": "cpu",
           "CreationMeta::kDefault": "default"}


@dataclass(frozen=True)
class Field:
    """A row: KIND is the C++ type. A field that is not ALWAYS there has the INITIAL value."""

    kind: str
    name: str
    always: bool
    initial: bool | int | str | None


@functools.cache
def rows(table: str) -> tuple[Field, ...]:
    """The rows of the TABLE, `storages` or `tensors`, in the order of the canonical text."""
    found = [_field(*match[1:]) for match in _matches() if f"{match[0].lower()}s" == table]
    if not found:
        raise BrokenError(f"{FIELDS} has no rows of {table}")
    return tuple(found)


def row_of(table: str, **values) -> dict:
    """A row of TABLE with VALUES, and with the initial value of each other field."""
    fields = rows(table)
    missing = [one.name for one in fields if one.always and one.name not in values]
    unknown = values.keys() - {one.name for one in fields}
    if missing or unknown:
        raise BrokenError(f"a row of {table} lacks {missing} and has {sorted(unknown)}")
    return {one.name: values.get(one.name, one.initial) for one in fields}


def _matches() -> list[tuple[str, ...]]:
    return ROW.findall(FIELDS.read_text())


def _field(kind: str, name: str, presence: str, initial: str, _sentence: str) -> Field:
    value = INITIAL.get(initial)
    if initial == "{}" and kind in ("Natural", "Size"):
        value = 0
    return Field(kind, name, presence == "kAlways", value)
