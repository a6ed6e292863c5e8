"""P5 to P7 of docs/contract.md: cycles are collected, chains are freed, and counts stay."""

import gc
import sys
import weakref

import pytest
import slotcore as T


def test_cycles_are_collected(kind):  # P5
    class Sub(kind.base):
        __slots__ = ("slot",)

    x, y = kind.make(Sub), kind.make(kind.base)
    x.slot, x.other, y.other = x, y, x
    handle = x._weak_ref()
    del x, y
    gc.collect()
    assert kind.base._expired(handle)
    kind.base._free_weak_ref(handle)


def test_a_cycle_through_the_impl_is_collected(kind):  # P5
    x = kind.make(kind.base)
    owner = kind.own(x)
    x.owner = owner
    handle = x._weak_ref()
    del x, owner
    gc.collect()
    assert kind.base._expired(handle)
    kind.base._free_weak_ref(handle)


class Buffer(bytearray):
    """Memory that can hold a tensor over it."""


@pytest.mark.parametrize("offset", [0, 4])
def test_a_cycle_through_a_buffer_is_collected(offset):  # P5
    buffer = Buffer(8)
    buffer.tensor = T.frombuffer(buffer, dtype=T.uint8, offset=offset)
    ref = weakref.ref(buffer)
    del buffer
    gc.collect()
    assert ref() is None


@pytest.mark.parametrize("part", [slice(None), slice(4, 8)])
def test_a_cycle_through_a_memoryview_is_collected(part):  # P5
    buffer = Buffer(range(8))
    buffer.tensor = T.frombuffer(memoryview(buffer)[part], dtype=T.uint8)
    assert buffer.tensor.tolist() == list(range(8))[part]
    ref = weakref.ref(buffer)
    del buffer
    gc.collect()
    assert ref() is None


def test_a_memoryview_may_be_released_while_a_tensor_has_its_bytes():  # P9
    bytes_of_numbers = memoryview(Buffer(range(8))).cast("H")
    tensor = T.frombuffer(bytes_of_numbers, dtype=T.uint8)
    bytes_of_numbers.release()
    assert tensor.tolist() == list(range(8))


def test_a_slice_that_has_died_shares_no_buffer():  # P5, P2
    buffer = Buffer(b"abcd")
    buffer.storage = T.frombuffer(buffer, dtype=T.uint8).untyped_storage()
    part, ref = buffer.storage[1:], weakref.ref(buffer)
    del buffer
    gc.collect()
    assert ref() is not None and bytes(part) == b"bcd"
    del part
    gc.collect()
    assert ref() is None


@pytest.mark.parametrize("preserved", [False, True])
def test_a_million_links_are_freed_without_recursion(preserved):  # P6
    head = link = T.empty(0)
    for _ in range(1_000_000):
        following = T.empty(0)
        link.grad = following
        if preserved:
            following.attribute = None
        link = following
    handle = link._weak_ref()
    del link, following
    del head
    assert T.Tensor._expired(handle)
    T.Tensor._free_weak_ref(handle)


def test_a_long_chain_of_attributes_is_freed(kind):  # P6
    link = kind.make(kind.base)
    for _ in range(100_000):
        following = kind.make(kind.base)
        following.attribute = link
        link = following


def test_wraps_and_drops_change_no_count(kind):  # P7
    x = kind.make(kind.base)
    owner = kind.own(x)
    assert x._use_count() == 2
    for _ in range(5):
        x = kind.rewrap(owner)
        references = sys.getrefcount(x)
        x._fix_weakref()
        assert sys.getrefcount(x) == references and x._use_count() == 2
        del x
    x = kind.rewrap(owner)
    ref = weakref.ref(x)
    del x
    x = ref()
    assert x._use_count() == (1 if T._preservation == "resurrection" else 2)
    x._fix_weakref()
    assert x._use_count() == 2 and kind.rewrap(owner) is x


def test_pending_exceptions_pass_through_a_deallocation(kind):
    class Sub(kind.base):
        def __del__(self):
            try:
                raise KeyError
            except KeyError:
                pass

    def fail():
        x = kind.make(Sub)  # noqa: F841
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        fail()


def test_the_collector_ends_in_a_circle_of_grads():  # P5: C++ owns every part, so it stays
    a, b = T.ones(1), T.ones(1)
    a.grad, b.grad = b, a
    del b
    assert gc.collect() >= 0
    a.grad.grad = None
