"""ops/node_names.ops as ci/node_names.sh writes it, and the probe that gathers the names."""

import re

import pytest

from slotfuzz.errors import BrokenError
from slotfuzz.language import op_table
from slotfuzz.paths import OPS
from slotfuzz.scripts import node_names

TEXT = (OPS / "node_names.ops").read_text()


def names_and_tiers(text):
    kinds = op_table.merged({"node_names.ops": text})["kinds"]
    (kind,) = [one for one in kinds if one["key"] == node_names.KEY]
    return kind["values"], kind["value_tiers"]


def test_the_kept_file_is_what_the_script_writes():
    releases = re.findall(r"^#   (torch \S+)$", TEXT, re.MULTILINE)
    names, _ = names_and_tiers(TEXT)
    assert len(releases) == 3 and len(names) > 50
    assert node_names.text_of(dict.fromkeys(releases, frozenset(names))) == TEXT


def test_names_are_those_of_all_releases_with_their_tiers():
    text = node_names.text_of({"torch 1": frozenset({"name", "_raw", "__dict__"}),
                               "torch 2": frozenset({"name", "apply"})})
    names, tiers = names_and_tiers(text)
    assert names == ["apply", "name", "_raw", "__dict__"]
    assert tiers == {"_raw": "underscore"}
    assert "#   torch 1\n#   torch 2\n" in text
    assert max(map(len, text.splitlines())) <= node_names.LINE_LENGTH_MAX


def test_rows_draw_from_the_names():
    rows = {op["name"]: op for op in op_table.read()["ops"]}
    drawing = [name for name, op in rows.items()
               if node_names.KEY in op["operands"]]
    assert {"node_ask", "node_ask_call", "node_take", "node_assign", "node_delete"} < set(drawing)


def test_an_answer_that_names_nothing_is_an_error(monkeypatch):
    monkeypatch.setattr(node_names.interpreter, "ask", lambda *_: "no JSON")
    with pytest.raises(BrokenError, match="answered 'no JSON'"):
        node_names.names_in(None)
