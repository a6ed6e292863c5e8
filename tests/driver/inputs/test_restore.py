"""The lines that make tensors: their order, and what no line can make."""

import pytest

from slotfuzz.inputs import elements, restore
from slotfuzz.inputs.restore import Unrestorable
from tests.driver.inputs import rows


def lines(capture) -> list[str]:
    """The lines without helper functions and blank lines."""
    found = restore.lines(capture, "'inputs.capture'")
    last = max((at for at, line in enumerate(found) if not line), default=-1)
    return found[last + 1:]


@pytest.mark.parametrize("capture, line", [
    (rows.single((2, 3), data=bytes(24)), "a = torch.zeros((2, 3))"),
    (rows.single((0,)), "a = torch.zeros((0,))"),
    (rows.single((2,), "int64", data=bytes(16)), "a = torch.zeros((2,), dtype=torch.int64)"),
    (rows.single((2,), "int16", data=b"\1\0\1\0"), "a = torch.full((2,), 1, dtype=torch.int16)"),
    (rows.single((), "bool", data=b"\1"), "a = torch.full((), True, dtype=torch.bool)"),
    (rows.single((2, 2), "uint8", data=bytes(range(4))),
     "a = torch.tensor([[0, 1], [2, 3]], dtype=torch.uint8)"),
    (rows.single(data=bytes(8), requires_grad=True), "a = torch.zeros((2,), requires_grad=True)"),
    (rows.single(data=bytes(8), is_parameter=True),
     "a = torch.nn.Parameter(torch.zeros((2,)), requires_grad=False)"),
])
def test_a_plain_tensor_is_one_line(capture, line):
    assert restore.lines(capture, "''") == [line]


def test_views_come_after_bases_and_their_versions():
    found = lines(rows.viewed(version=0))
    assert found.index("b = a.as_strided((2,), (1,), 2)") > max(
        at for at, line in enumerate(found) if line.startswith("a"))
    capture = rows.capture([rows.storage(8)], [rows.tensor(version=3)], {"a": 0})
    assert lines(capture)[-2:] == ["_count_writes(a, 3)", "del _s0"]
    written = rows.capture([rows.storage(16)], [rows.tensor((4,), version=1), rows.tensor(
        base=0, version=1)], {"a": 0, "b": 1})
    found = lines(written)
    assert found.index("_count_writes(a, 1)") < found.index("b = a.as_strided((2,), (1,), 0)")


def test_no_name_of_the_user_is_bound():
    base = rows.tensor((4,), version=1)
    capture = rows.capture([rows.storage(16)], [base, rows.tensor(base=0, version=1)],
                           {"_s0": 1, "_window": 1})
    text = "\n".join(restore.lines(capture, "''", (), {"_t0", "_t1", "_count_writes"}))
    assert "_s0 = _t1_.as_strided((2,), (1,), 0)" in text or (
        "_s0 = _t0_.as_strided((2,), (1,), 0)" in text)
    assert "def _window_(" in text and "def _count_writes_(" in text and "del _s0_, _t" in text


def test_names_that_the_lines_mention_are_bound_at_the_end():
    capture = rows.capture([rows.storage(8)], [rows.tensor(version=1)], {"torch": 0},
                           grad_mode=False)
    found = restore.lines(capture, "''", (), frozenset(), ["bytes = 5"])
    assert found[-4:] == ["torch.set_grad_enabled(False)", "bytes = 5", "torch = _t0",
                          "del _s0, _t0"]


def test_a_leaf_view_of_a_leaf_is_made_before_the_leaf_requires_a_gradient():
    leaf = rows.tensor((4,), requires_grad=True)
    late = rows.tensor((2,), base=0, requires_grad=True, is_leaf=False)
    capture = rows.capture([rows.storage(16)], [leaf, rows.tensor((2,), base=0), late],
                           {"a": 0, "b": 1, "c": 2})
    made = [line[:1] for line in lines(capture) if "as_strided" in line or "requires" in line]
    assert made[-3:] == ["b", "a", "c"]
    untracked = rows.tensor((2,), base=0, creation_meta="no_grad_mode")
    capture = rows.capture([rows.storage(16)], [leaf, untracked], {"a": 0, "b": 1})
    assert "with torch.no_grad(): b = a.as_strided((2,), (1,), 0)" in lines(capture)


def test_a_window_beyond_the_end_is_made_before_the_storage_shrinks():
    capture = rows.capture([rows.storage(0)], [rows.tensor((4,))], {"a": 0})
    found = lines(capture)
    assert found[0] == "_s0 = torch.zeros(16, dtype=torch.uint8)"
    assert found.index("_storage(_s0).resize_(0)") > found.index(
        "a.data = _window(_s0, torch.float32, (4,), (1,), 0)")


def test_several_names_are_one_tensor_and_the_grad_mode_comes_last():
    capture = rows.capture([rows.storage(8)], [rows.tensor()], {"a": 0, "b": 0}, [bytes(8)],
                           grad_mode=False)
    assert lines(capture) == ["a = torch.zeros((2,))", "b = a", "torch.set_grad_enabled(False)"]


@pytest.mark.parametrize("capture, words", [
    (rows.capture([rows.storage(4, resizable=False)], [rows.tensor((4,))], {"a": 0}),
     "cannot be resized"),
    (rows.capture([rows.storage(8), rows.storage(4)],
                  [rows.tensor(grad=1), rows.tensor((1,), storage=1, version_group=1)], {"a": 0}),
     "gradient of another size"),
    (rows.capture([rows.storage(8)], [rows.tensor(version=4000000000)], {"a": 0}),
     "`a` has the version 4000000000; a script counts up to"),
    (rows.viewed(is_leaf=False, requires_grad=True), "its base was not"),
])
def test_what_no_line_makes_is_an_error_with_the_name(capture, words):
    with pytest.raises(Unrestorable, match=words):
        restore.lines(capture, "''")


@pytest.mark.parametrize("data", [
    b"", bytes(9), b"\7" * 99, bytes(range(40)), bytes(range(256)) * 3])
def test_bytes_are_an_expression_with_their_value(data):
    import base64
    import zlib
    text = elements.bytes_expression(data)
    assert eval(text, {"base64": base64, "zlib": zlib}) == data


def test_long_bytes_stay_in_the_file():
    import random
    data = random.Random(1).randbytes(1 << 16)
    assert elements.bytes_expression(data) is None
    capture = rows.capture([rows.storage(1 << 16)], [rows.tensor((1 << 14,))], {"a": 0}, [data])
    assert any("_bytes_at('inputs.capture', -65536, 65536)" in line for line in lines(capture))


@pytest.mark.parametrize("dtype, data", [
    ("float32", b"\0\0\xc0\x7f" * 2), ("float32", b"\0\0\x80\x7f" * 2), ("bfloat16", b"\1\1")])
def test_what_repr_cannot_say_is_written_as_bytes(dtype, data):
    capture = rows.single((len(data) // (4 if dtype == "float32" else 2),), dtype, data)
    assert any("bytearray" in line for line in lines(capture))
