"""Cases become small while a predicate holds, first their lines and then their tensors."""

import pytest

from slotfuzz.errors import UserError
from slotfuzz.inputs import case as cases, minimize, notes
from slotfuzz.inputs.restore import Unrestorable
from slotfuzz.schema.case import VERSION, CaseRecord
from tests.driver.inputs import rows

LINES = ("x = a + 1", "y = f(b)", "del x", "c.mul_(b)", "print(y)")


def case_of(capture, lines=LINES, before=("import torch", "import math", "def f(x):\n    return x"),
            **values):
    """A case that never ran."""
    return cases.of(CaseRecord(VERSION, "x.py", 7, "2.6.0", "python3", lines, before=before,
                               **values), capture)


BIG = rows.capture(
    [rows.storage(400), rows.storage(64)],
    [rows.tensor((10, 10), requires_grad=True), rows.tensor((5, 10), base=0, storage_offset=50),
     rows.tensor((4, 4), storage=1, version_group=1, version=3)], {"a": 0, "b": 1, "c": 2})


def test_lines_go_first_and_tensors_follow():
    def fails(case):
        return any("mul_" in one.text for one in case.lines) and "c" in case.capture.names
    result = minimize.minimize(case_of(BIG), fails)
    assert [one.text for one in result.case.lines] == ["c.mul_(b)"]
    assert list(result.case.capture.names) == ["c"] and result.case.before == ()
    (row,) = result.case.capture.document.tensors
    assert row["size"] == [0] and row["version"] == 0 and result.case.bytes == 0
    assert result.one_minimal


def test_what_the_failure_needs_stays():
    def fails(case):
        names, document = case.capture.names, case.capture.document
        if not {"a", "b"} <= names.keys():
            return False
        first, second = (document.tensors[document.roots[names[name]]] for name in ("a", "b"))
        return (first["storage"] == second["storage"] and first["requires_grad"]
                and len(first["size"]) == 2 and min(first["size"]) > 0)
    result = minimize.minimize(case_of(BIG), fails)
    first, second = result.case.capture.document.tensors
    assert first["size"] == [1, 1] and first["requires_grad"]
    assert second["base"] is None and second["size"] == [0]
    assert result.case.lines == () and result.case.bytes == 4
    assert result.case.capture.data == (bytes(4),)


def test_every_case_that_is_kept_fails_and_the_budget_ends_the_search():
    tried = []

    def fails(case):
        tried.append(case)
        return len(case.lines) >= 2
    result = minimize.minimize(case_of(BIG), fails, runs_max=5)
    assert not result.one_minimal and result.runs == len(tried) == 5
    assert len(result.case.lines) >= 2


def test_no_case_runs_twice():
    keys = []

    def fails(case):
        keys.append(repr(case))
        return len(case.lines) > 1
    minimize.minimize(case_of(BIG), fails)
    assert len(keys) == len(set(keys))


def test_the_picture_has_bytes_bases_and_gradients():
    capture = rows.capture(
        [rows.storage(12), rows.storage(16)],
        [rows.tensor((4,), grad=2, requires_grad=True),
         rows.tensor((2,), base=0, stride=[2], storage_offset=1),
         rows.tensor((4,), storage=1, version_group=1)], {"a": 0, "b": 1, "also": 1})
    text = notes.picture(case_of(capture))
    assert "storage 0: 12 bytes" in text and "gradient (tensor 2)" in text
    assert "|############!!!!|" in text.replace("_", "")
    assert "|....####....!!!!|" in text and "also = b" in text and "view of a" in text


@pytest.mark.parametrize("function, end", [
    ("", "\nx = a + 1\ny = f(b)\ndel x\nc.mul_(b)\nprint(y)\n"),
    ("step", "\ndef step(a, b, c):\n    x = a + 1\n    y = f(b)\n    del x\n    c.mul_(b)\n"
             "    print(y)\n\nstep(a, b, c)\n")])
def test_a_script_ends_with_the_lines(function, end):
    case = case_of(BIG, function=function, values={"n": "3"})
    text = cases.text(case, "''", "title")
    assert text.endswith(end) and text.startswith(
        "# title\nimport base64, zlib\nimport torch\nimport math\ndef f(x):\n")
    assert "n = 3" not in text
    compile(text, "x", "exec")


def test_future_imports_come_first():
    case = case_of(BIG, before=("import torch", "from __future__ import annotations"))
    text = cases.text(case, "''", "title")
    assert text.startswith("# title\nfrom __future__ import annotations\n")
    compile(text, "x", "exec")


def test_what_no_case_keeps_is_named():
    case = case_of(BIG, others={"f": "function", "net": "Net"}, lines=("net(a)", "f(b)"))
    assert case.missing == {"net": "Net"}
    function = "def f(x):\n    return net(x)"
    assert case_of(BIG, others={"net": "Net"}, before=(function,)).missing == {"net": "Net"}
    assert "# not kept: net, a Net" in cases.text(case, "''", cases.title(case))


def test_a_value_with_a_name_that_the_script_mentions_comes_last():
    case = case_of(BIG, values={"torch": "5", "n": "3"}, lines=("print(torch, n)",))
    text = cases.text(case, "''", "title")
    assert text.index("n = 3") < text.index("torch = 5") < text.index("del ")
    assert "torch." not in text[text.index("torch = 5"):]


@pytest.mark.parametrize("values, words", [
    ({"values": {"torch": "5", "kind": "torch.int8"}, "lines": ("torch(kind)",)},
     "`kind` needs `torch`"),
    ({"holders": {"memory": "_storage(a)"}, "lines": ("_storage(memory)",)},
     "`memory` needs `_storage`"),
    ({"before": ("import numpy as torch",)}, "the script binds `torch`"),
])
def test_a_name_that_means_two_things_is_an_error_with_the_variable(values, words):
    with pytest.raises(Unrestorable, match=words):
        cases.text(case_of(BIG, **values), "''", "title")


def test_a_local_variable_hides_nothing():
    case = case_of(BIG, before=("import torch.nn as nn, torch", "def f():\n    torch = 1"))
    compile(cases.text(case, "''", "title"), "x", "exec")


@pytest.mark.parametrize("values, pointer", [
    ({"function": "1 x"}, "/function"), ({"function": "class"}, "/function"),
    ({"lines": ("print(a)", "return 5")}, "/lines/1"), ({"lines": ("break",)}, "/lines/0"),
    ({"before": ("return 5",), "function": "f"}, "/before/0"),
    ({"values": {"n": "1; import os; os.abort()"}}, "/values/n"),
    ({"values": {"n": "1\nimport os"}}, "/values/n"), ({"values": {"n": "f()"}}, "/values/n"),
    ({"values": {"n": "(" * 1000}}, "/values/n"), ({"values": {"class": "1"}}, "/values/class"),
    ({"values": {"\ufb01": "1"}}, "/values/\ufb01"), ({"values": {"a": "1"}}, "/values/a"),
    ({"values": {"n": "a"}}, "/values/n"), ({"holders": {"n": "[x]"}}, "/holders/n"),
    ({"holders": {"n": "a.zero_()"}}, "/holders/n"), ({"values": {"n": "9 ** 9"}}, "/values/n"),
    ({"values": {"n": "1"}, "holders": {"n": "[a]"}}, "/holders/n"),
    ({"parts": ("x",)}, "/parts/0"),
])
def test_what_no_capture_writes_is_refused_with_its_place(values, pointer):
    with pytest.raises(UserError) as caught:
        case_of(BIG, **values)
    assert f"case.json, {pointer}" in str(caught.value)


def test_what_a_capture_writes_is_taken():
    case_of(BIG, function="f", lines=("return 5",), parts=("c",), holders={
        "s": "[_storage(a), (b.storage(),), {'x': [torch.int8, -1, (1+2j)]}]"},
        values={"n": "{1: (torch.float32, -2.5), 'x': {b'a', None}}"})
