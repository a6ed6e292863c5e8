"""docs/meta.md has the fields of a description as core/meta/fields.def has them."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ROW = re.compile(r"^(STORAGE|TENSOR)_FIELD\((\w+), (\w+), Presence::(\w+), ([^,]+),\s+"
                 r"\"([^\"]*)\"\)$", re.MULTILINE)
NAMES = {"{}": "none", "Device::kCpu": '`"cpu"`', "CreationMeta::kDefault": '`"default"`'}


def shown(kind, presence, initial):
    """The initial value of a field as JSON."""
    if presence == "kAlways":
        return "needed"
    if kind in ("Natural", "Size"):
        return "`0`"
    return NAMES.get(initial, f"`{initial}`")


def rows(text):
    """The rows of both tables of docs/meta.md, by the table's name."""
    found = {"STORAGE": [], "TENSOR": []}
    for table, kind, name, presence, initial, sentence in ROW.findall(text):
        found[table].append(f"| `{name}` | {shown(kind, presence, initial)} | {sentence} |")
    return found


def test_the_document_has_the_fields():
    fields = (ROOT / "core/meta/fields.def").read_text()
    document = (ROOT / "docs/meta.md").read_text()
    found = rows(fields)
    assert sum(map(len, found.values())) == len(re.findall(r"^\w+_FIELD\(", fields, re.MULTILINE))
    for heading, table in (("Storages:", "STORAGE"), ("Tensors:", "TENSOR")):
        head = f"{heading}\n\n| field | initial value | meaning |\n|---|---|---|\n"
        assert head + "\n".join(found[table]) + "\n\n" in document, "\n".join(found[table])
