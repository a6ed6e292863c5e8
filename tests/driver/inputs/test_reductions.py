"""Reductions of tensors: capture before, captures after; each is pure and comes to an end."""

import copy

import pytest

from slotfuzz.inputs import document, reductions
from tests.driver.inputs import rows

LEAF = {"requires_grad": True}
COMPUTED = {"requires_grad": True, "is_leaf": False}
PAIR = rows.capture(
    [rows.storage(16)], [rows.tensor((4,)), rows.tensor((2,), version_group=1)], {"a": 0, "b": 1})
WITH_GRAD = rows.capture(
    [rows.storage(16), rows.storage(16)],
    [rows.tensor((2, 2), grad=1), rows.tensor((2, 2), storage=1, version_group=1)], {"a": 0})
EVERY = [
    rows.single((3,), requires_grad=True, is_leaf=False), rows.viewed(), PAIR, WITH_GRAD,
    rows.viewed(creation_meta="no_grad_mode"), rows.single((), "complex64", is_conj=True),
    rows.capture([rows.storage(32, resizable=False)],
                 [rows.tensor((2, 2), stride=[1, 2], storage_offset=1, version=2,
                              is_parameter=True, **LEAF)], {"a": 0, "b": 0}, grad_mode=False)]


def after(name: str, capture):
    """All that the pass NAME makes of CAPTURE."""
    (one,) = [one for one in reductions.PASSES if one.__name__ == name]
    return list(one(capture))


def fields(capture, name: str) -> list:
    """The field NAME of each tensor."""
    return [row[name] for row in capture.document.tensors]


@pytest.mark.parametrize("name, capture, field, values", [
    ("drop_grad", WITH_GRAD, "grad", [[None]]),
    ("drop_base", rows.viewed(), "base", [[None, None]]),
    ("drop_requires_grad", rows.single(**LEAF), "requires_grad", [[False]]),
    ("drop_history", rows.single(**COMPUTED), "is_leaf", [[True]]),
    ("drop_bits", rows.single((), "complex64", is_conj=True, is_neg=True), "is_conj", [[False]]),
    ("drop_class", rows.single(is_parameter=True), "is_parameter", [[False]]),
    ("drop_creation_meta", rows.viewed(creation_meta="no_grad_mode"), "creation_meta",
     [["default", "default"]]),
    ("drop_version", rows.single(version=4), "version", [[0]]),
    ("part_versions", rows.capture([rows.storage(8)], [rows.tensor(), rows.tensor()],
                                   {"a": 0, "b": 1}), "version_group", [[0, 1], [0, 1]]),
    ("part_storage", PAIR, "storage", [[0, 1], [0, 1]]),
    ("first_element", rows.viewed(), "storage_offset", [[0, 0]]),
    ("contiguous", rows.single((2, 2), stride=[1, 2]), "stride", [[[2, 1]]]),
    ("shrink", rows.single((3,)), "size", [[[0]], [[1]], [[2]]]),
    ("shrink", rows.single((1, 1)), "size", [[[0, 1]], [[1, 0]]]),
    ("drop_dimensions", rows.single((1, 2)), "size", [[[2]]]),
    ("drop_names", rows.viewed(), "size", [[[4]], [[2], [4]]]),
])
def test_a_pass_makes_one_change(name, capture, field, values):
    assert [fields(one, field) for one in after(name, capture)] == values


def test_a_gradient_keeps_the_size_of_its_tensor():
    for name in ("shrink", "drop_dimensions"):
        for one in after(name, WITH_GRAD):
            first, second = fields(one, "size")
            assert first == second


def test_views_lose_what_their_base_no_longer_has():
    capture = rows.capture([rows.storage(16)],
                           [rows.tensor((4,), **LEAF), rows.tensor((2,), base=0, **COMPUTED)],
                           {"a": 0, "b": 1})
    first = after("drop_requires_grad", capture)[0]
    assert fields(first, "requires_grad") == [False, False]
    assert fields(first, "is_leaf") == [True, True]


@pytest.mark.parametrize("nbytes, data", [(40, bytes(range(16))), (4, bytes(range(4)) + bytes(12))])
def test_a_storage_gets_the_bytes_that_are_reached(nbytes, data):
    capture = rows.capture([rows.storage(nbytes)], [rows.tensor((4,))], {"a": 0},
                           [bytes(range(nbytes))])
    (one,) = after("fit_storages", capture)
    assert one.document.storages[0]["nbytes"] == 16 and one.data == (data,)
    assert after("fit_storages", one) == []


def test_bytes_become_zeros_then_ones_then_less():
    capture = rows.single((2,), data=bytes(range(1, 9)))
    found = [one.data[0] for one in after("constant_bytes", capture)]
    assert found[:2] == [bytes(8), b"\0\0\x80\x3f" * 2]
    assert found[2:4] == [bytes(4) + bytes(range(5, 9)), bytes(range(1, 5)) + bytes(4)]
    assert after("constant_bytes", rows.single((2,), data=bytes(8))) == []


def test_a_storage_owns_its_bytes_and_gradients_are_recorded():
    assert after("make_resizable", EVERY[-1])[0].document.storages[0]["resizable"]
    assert after("record_gradients", EVERY[-1])[0].grad_mode
    assert after("record_gradients", PAIR) == []


@pytest.mark.parametrize("capture", EVERY)
def test_reductions_are_pure_and_what_they_make_is_valid(capture):
    before = copy.deepcopy(capture)
    made = [one for step in reductions.PASSES for one in step(capture)]
    assert capture == before and made
    for one in made:
        assert one != capture
        assert document.loads(document.dumps(one.document).encode()) == one.document
        assert [len(data) for data in one.data] == [
            row["nbytes"] for row in one.document.storages]


@pytest.mark.parametrize("capture", EVERY)
def test_reductions_come_to_an_end(capture):
    for _ in range(200):
        smaller = next((one for step in reductions.PASSES for one in step(capture)), None)
        if smaller is None:
            break
        capture = smaller
    assert smaller is None
    (row,) = capture.document.tensors
    assert row["size"] in ([], [0]) and not row["requires_grad"] and capture.grad_mode
