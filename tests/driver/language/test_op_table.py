"""The op table as the driver reads it from text, and what a line can do by its values."""

import pytest

from slotfuzz.errors import UserError
from slotfuzz.language import op_table
from slotfuzz.language.program import Line, Table
from tests.driver.fake_table import DESCRIPTION

KINDS = "[values]\nn = ['size', ['1', ['0', 'shrinks grows']]]\n"
ROW = "[tensor]\none = ['n', 'one({0})', '', 'One.', 'sets_attribute=storage.tag collects rare']\n"


def test_a_row_is_an_op_with_its_effects():
    (op,) = op_table.merged({"some.ops": ROW})["ops"]
    assert op == {
        "name": "one", "operands": ["n"], "template": "one({0})", "needs": "", "sentence": "One.",
        "theme": "tensor", "tier": "public", "rare": True, "slow": False, "attribute": "tag",
        "effects": ["collects", "sets_attribute"], "attribute_of_storage": True}


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
