"""The cache of a mode: results come back with what they share, and hold nothing (M15, M8)."""

import gc

import pytest
import slotcore as T

FakeTensorMode = T._subclasses.FakeTensorMode
ShapeEnv = T.fx.experimental.symbolic_shapes.ShapeEnv


@pytest.fixture(autouse=True)
def impls():
    """A cache keeps no tensor and no mode alive (P5, M8)."""
    before = T._live_impls(), T._live_modes(), T._live_table_entries()
    yield
    gc.collect()
    assert (T._live_impls(), T._live_modes(), T._live_table_entries()) == before


def layout_of(one):
    return (one.size(), one.stride(), one.storage_offset(), one.dtype, one.is_conj(), one.is_neg(),
            one.untyped_storage().nbytes(), one.device)


OPERATIONS = [
    lambda a: a.view(2, 1, 3), lambda a: a[...], lambda a: a.t(), lambda a: a[1:],
    lambda a: a.select(0, 1),
    lambda a: a.as_strided((2,), (1,), 1), lambda a: a.expand(2, 2, 3), lambda a: a.narrow(1, 1, 1),
    lambda a: a._neg_view(), lambda a: a.detach(), lambda a: a.data,
    lambda a: a.as_strided((2, 2), (2, 1)).view(T.uint8),
    lambda a: a.add(a), lambda a: a * 2.5, lambda a: a == a, lambda a: a.clone(), lambda a: a.sum(),
    lambda a: a.relu(), lambda a: T.ones(2), lambda a: T.zeros(0, 8),
]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("made", [lambda: T.ones(2, 3), lambda: T.ones(3, 2).t()])
def test_a_result_from_the_cache_is_as_the_first_one(operation, made):
    mode = FakeTensorMode()
    with mode:
        one, other = made(), made()
        first = operation(one)
        hits = mode.cache_info()[0]
        again = operation(other)
        assert mode.cache_info()[0] > hits
        assert layout_of(again) == layout_of(first) and again.fake_mode is mode

        def relation(result, operand):
            shares = result.untyped_storage()._cdata == operand.untyped_storage()._cdata
            before = result._version
            operand.zero_()
            return shares, result._base is operand, result._is_view(), result._version - before
        assert relation(again, other) == relation(first, one)


def test_a_view_of_a_view_has_the_base_of_its_own_operand():
    with FakeTensorMode():
        bases = [T.ones(2, 3) for _ in range(2)]
        views = [base.view(-1)[1:] for base in bases]
    assert all(view._base is base for view, base in zip(views, bases))


@pytest.mark.parametrize("change", [
    lambda a: a.view(3, 2), lambda a: a.t(), lambda a: T.ones(2, 3, dtype=T.float64),
    lambda a: a._neg_view(), lambda a: T.ones(4, 3)[2:], lambda a: T.ones(3, 3)[:2],
])
def test_what_differs_has_an_entry_of_its_own(change):
    mode = FakeTensorMode()
    with mode:
        one = T.ones(2, 3)
        other = change(one)
        results = [one.mul(2)]
        hits = mode.cache_info()[0]
        results.append(other.mul(2))
        assert mode.cache_info()[0] == hits
    assert layout_of(results[0])[:1] == ((2, 3),) and results[1].size() == other.size()
    assert results[1].dtype is other.dtype


def test_numbers_of_a_call_are_told_apart():
    mode = FakeTensorMode()
    with mode:
        one = T.ones(2, dtype=T.int64)
        types = [one.mul(number).dtype for number in (2, 2.0, True, 2j, (1 << 62) + 1, 1 << 62)]
        assert types == [T.int64, T.float32, T.int64, T.complex64, T.int64, T.int64]
        assert mode.cache_info()[0] == 0
        assert [one.narrow(0, 0, n).shape for n in (1, 2)] == [(1,), (2,)]


def test_an_error_is_not_remembered():
    mode = FakeTensorMode()
    with mode:
        one = T.ones(2)
        one.untyped_storage().resize_(0)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="reaches"):
                one.clone()
        one.untyped_storage().resize_(8)
        assert one.clone().shape == (2,)


def test_a_real_tensor_finds_no_entry():
    mode = FakeTensorMode()
    with mode:
        T.ones(2).mul(2)
    real, other = T.ones(2), FakeTensorMode().from_tensor(T.ones(2))
    with mode:
        for one in (real, other):
            with pytest.raises(RuntimeError, match="an operand is a"):
                one.mul(2)


def test_symbols_are_those_of_the_operands():
    env = ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    one, other = (mode.from_tensor(T.ones(size, 3), kind="dynamic") for size in (4, 5))
    with mode:
        shapes = [str(one.mul(2).shape[0]) for one in (one, other, one)]
        guards = list(env.guards)
        assert shapes[0] == shapes[2] != shapes[1] and mode.cache_info()[0] == 1
        assert str(one.mul(2).shape[0]) == shapes[0] and env.guards == guards
        rows = one.nonzero(), one.clone().nonzero()
        assert str(rows[0].size(0)) != str(rows[1].size(0))


def test_a_cache_is_bounded_and_can_be_cleared():
    mode = FakeTensorMode()
    with mode:
        one = T.ones(2000)
        for size in range(1500):
            one.narrow(0, 0, size)
        assert 0 < mode.cache_info()[2] <= 1024
        mode.cache_clear()
        assert mode.cache_info()[2] == 0
        assert one.narrow(0, 0, 3).shape == (3,) and mode.cache_info()[2] == 1
