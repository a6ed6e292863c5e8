"""The module slotcore_c10: tags, slots, the hermetic flag, the trace switch, C++ owners."""

import pytest
import slotcore as T
import slotcore_c10 as c10
from slotcore_c10 import PyInterpreterStatus as Status


@pytest.fixture
def first():
    return c10.PyInterpreter("first")


@pytest.fixture
def second():
    return c10.PyInterpreter("second")


def test_the_statuses_are_the_four_of_c10():  # T3
    assert set(Status.__members__) == {
        "DEFINITELY_UNINITIALIZED", "MAYBE_UNINITIALIZED", "TAGGED_BY_US", "TAGGED_BY_OTHER"}


@pytest.mark.parametrize("status", [
    Status.DEFINITELY_UNINITIALIZED, Status.MAYBE_UNINITIALIZED])
def test_an_empty_slot_can_be_claimed(first, status):  # T1, T3
    slot, thing = c10.PyObjectSlot(), object()
    assert not slot.tagged() and slot.check(first) is None
    slot.init(first, thing, status)
    assert slot.tagged() and slot.check(first) is thing


@pytest.mark.parametrize("status", [Status.MAYBE_UNINITIALIZED, Status.TAGGED_BY_US])
def test_the_owner_of_a_slot_may_store_again(first, status):  # T1, T3
    slot, later = c10.PyObjectSlot(), object()
    slot.init(first, object(), Status.DEFINITELY_UNINITIALIZED)
    slot.init(first, later, status)
    assert slot.check(first) is later


@pytest.mark.parametrize("status", [Status.MAYBE_UNINITIALIZED, Status.TAGGED_BY_OTHER])
def test_of_two_interpreters_the_second_is_refused(first, second, status):  # T2, T3
    slot, thing = c10.PyObjectSlot(), object()
    slot.init(first, thing, Status.MAYBE_UNINITIALIZED)
    with pytest.raises(RuntimeError, match="first.*second"):
        slot.init(second, object(), status)
    with pytest.raises(RuntimeError, match="first.*second"):
        slot.check(second)
    assert slot.check(first) is thing


def test_a_cleared_slot_keeps_its_tag(first, second):  # T1
    slot = c10.PyObjectSlot()
    slot.init(first, object(), Status.MAYBE_UNINITIALIZED)
    slot.set_owns(True)
    slot.clear()
    assert slot.tagged() and slot.check(first) is None and not slot.owns()
    with pytest.raises(RuntimeError):
        slot.init(second, object(), Status.MAYBE_UNINITIALIZED)


def test_the_owns_bit_leaves_the_object_alone(first):
    slot, thing = c10.PyObjectSlot(), object()
    with pytest.raises(RuntimeError):
        slot.set_owns(True)
    slot.init(first, thing, Status.MAYBE_UNINITIALIZED)
    for owns in (False, True, True, False):
        slot.set_owns(owns)
        assert slot.owns() is owns and slot.check(first) is thing


def test_an_interpreter_that_ended_is_still_a_tag(first, second):  # T5
    slot = c10.PyObjectSlot()
    slot.init(first, object(), Status.MAYBE_UNINITIALIZED)
    assert first.is_armed() and first.name() == "first"
    first.disarm()
    assert not first.is_armed() and first.name() != "first"
    with pytest.raises(RuntimeError, match="ended.*second"):
        slot.check(second)


def test_a_guard_restores_the_former_mode_when_an_exception_passes():  # H4
    with pytest.raises(KeyError):
        with c10.HermeticGuard():
            assert T._is_hermetic() and c10.HermeticPyObjectTLS.get_state()
            raise KeyError
    assert not c10.HermeticPyObjectTLS.get_state()
    with T.hermetic():
        with c10.HermeticGuard():
            pass
        assert c10.HermeticPyObjectTLS.get_state()


def test_a_guard_cannot_be_entered_twice():  # H4
    guard = c10.HermeticGuard()
    with guard:
        with pytest.raises(RuntimeError):
            guard.__enter__()
        assert c10.HermeticPyObjectTLS.get_state()
    assert not c10.HermeticPyObjectTLS.get_state()


def test_the_trace_can_be_switched(capfd):
    former = c10.trace_is_on()
    try:
        c10.set_trace(True)
        assert c10.trace_is_on()
        T.UntypedStorage(1)
        c10.set_trace(False)
        assert not c10.trace_is_on()
        traced = capfd.readouterr().err
        T.UntypedStorage(1)
    finally:
        c10.set_trace(former)
    assert "impl created" in traced and "impl freed" in traced
    assert "impl" not in capfd.readouterr().err


def test_live_counts_are_those_of_the_ledger():  # P5
    before = c10.live_storages(), c10.live_tensors()
    keep = [T.ones(1), T.UntypedStorage(1)]
    assert (c10.live_storages(), c10.live_tensors()) == (before[0] + 2, before[1] + 1)
    assert c10.live_storages() + c10.live_tensors() == T._live_impls()
    del keep


def test_an_owner_counts_and_releases(kind):  # P7
    x = kind.make(kind.base)
    handle = x._weak_ref()
    owner = c10.Owner(handle)
    assert owner.use_count() == x._use_count() == 2
    owner.drop()
    assert owner.use_count() == 0 and x._use_count() == 1
    del x
    with pytest.raises(RuntimeError):
        c10.Owner(handle)
    kind.base._free_weak_ref(handle)
    with pytest.raises(RuntimeError):
        c10.Owner(0)
