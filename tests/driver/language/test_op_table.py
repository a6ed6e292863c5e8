"""The op table as the driver reads it from text, and what a line can do by its values."""

import re

import pytest

from slotfuzz.errors import UserError
from slotfuzz.language import op_table
from slotfuzz.language.program import Line, Table
from tests.driver.fake_table import DESCRIPTION

KINDS = """[values]
n = ['size', ['1', ['0', 'shrinks grows'], ['-1', 'raises odd'], ['_1', 'underscore']]]
"""
# A part of a dotted name that begins with an underscore, or a helper that sets a flag of C++.
UNDERSCORE = re.compile(r"(?<!\w)_(?!_)\w|(?<!\w)(enter_|exit_)?hermetic(?!\w)")
ROW = "[tensor]\none = ['n', 'one({0})', '', 'One.', 'sets_attribute=storage.tag collects rare']\n"


def test_a_row_is_an_op_with_its_effects():
    (op,) = op_table.merged({"some.ops": ROW})["ops"]
    assert op == {
        "name": "one", "operands": ["n"], "template": "one({0})", "needs": "", "sentence": "One.",
        "theme": "tensor", "tier": "public", "rare": True, "slow": False, "certain": False,
        "timed": False,
        "attribute": "tag",
        "effects": ["collects", "sets_attribute"], "attribute_of_storage": True,
        "checks_kind": ""}


def test_ops_stand_by_theme_then_file_then_line():
    texts = {"a.ops": ROW + "[storage]\nzeta = ['', '', '', '']\nalpha = ['', '', '', '']\n",
             "b.ops": "[storage]\nbeta = ['', '', '', '']\n"}
    names = [op["name"] for op in op_table.merged(texts)["ops"]]
    assert names == ["zeta", "alpha", "beta", "one"]


@pytest.mark.parametrize("text, words", [
    ("[tensor]\none = [\n", "ops/some.ops: "),
    ("[tensr]\n\none = ['', 'one()', '', '']\n", "ops/some.ops:3: one is not a row"),
    ("[tensor]\none = ['', 'one()', '']\n", "ops/some.ops:2: one is not a row"),
    ("one = ['', 'one()', '', '']\n", "ops/some.ops:1: one is not a row"),
    ("[tensor]\none = ['', 'one()', '', '', 'odd underscore']\n",
     "ops/some.ops:2: one declares two tiers"),
    ("[names]\n\nn = ['name', ['1', ['x', 'odd underscore']]]\n",
     "ops/some.ops:3: x declares two tiers"),
    ("[values]\nn = ['size', ['1', ['0']]]\n", "ops/some.ops:2: ['0'] is not a value"),
    ("[values]\nn = ['size', '1']\n", "ops/some.ops:2: n is not a row of values"),
    ("[variables]\nt = ['tensor', 't']\n", "ops/some.ops:2: t is not a row of variables"),
    ("[variables]\none = ['tensor', 't', 4]\n[tensor]\none = ['', 'one()', '']\n",
     "ops/some.ops:4: one is not a row"),
])
def test_a_mistake_is_named_with_its_place(text, words):
    with pytest.raises(UserError) as raised:
        op_table.merged({"some.ops": text})
    assert str(raised.value).startswith(words)


def test_a_line_has_the_effects_of_its_op_and_of_its_values():
    table = Table({**DESCRIPTION, **op_table.merged({"kinds.ops": KINDS, "some.ops": ROW})})
    assert table.effects("one") == {"collects", "sets_attribute"}
    assert table.line_effects(Line("one", ("1",))) == {"collects", "sets_attribute"}
    assert table.line_effects(Line("one", ("0",))) == {
        "collects", "sets_attribute", "shrinks", "grows"}


def test_the_tier_of_lines_is_the_highest_of_their_ops_and_values():
    table = Table({**DESCRIPTION, **op_table.merged({"kinds.ops": KINDS, "some.ops": ROW})})
    plain, private, odd = (Line("one", (value,)) for value in ("0", "_1", "-1"))
    assert table.tier([], "torch") == table.tier([plain], "torch") == "public"
    assert table.tier([plain, private, plain], "torch") == "underscore"
    assert table.tier([odd, private], "torch") == "odd"
    assert table.line_effects(odd) - table.effects("one") == {"raises"}


def test_an_op_or_a_value_with_an_underscore_declares_its_tier():
    table = op_table.read()
    texts = {op["name"]: (op["template"], op["tier"]) for op in table["ops"]}
    texts |= {f"{kind['name']} {value}": (value, kind["value_tiers"].get(value, "public"))
              for kind in table["kinds"] for value in kind["values"]}
    wrong = [name for name, (text, tier) in texts.items()
             if tier != "odd" and (tier == "underscore") != bool(UNDERSCORE.search(text))]
    assert wrong == [] and sum(tier == "underscore" for _, tier in texts.values()) > 100


@pytest.mark.parametrize("op", ["bare_ctx", "legacy", "ones"])
def test_a_fresh_object_is_made_from_values(op):
    """Otherwise all crashes of such an object would be one bug, whatever the last line does."""
    table = Table({**DESCRIPTION, **op_table.read()})
    values = (table.kinds[role].values[0] for role in table.ops[op]["operands"][1:])
    assert table.makes_from_values(Line(op, ("n0", *values)))
