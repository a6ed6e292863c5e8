"""Views and the collector: which cycles through a base it collects."""

import gc
import weakref

import pytest
import slotcore as T


def test_a_cycle_through_a_base_is_collected(make_view):  # P5
    t = T.ones(4)
    handle = t._weak_ref()
    v = make_view(t)
    t.view_of_mine = v
    del t, v
    gc.collect()
    assert T.Tensor._expired(handle)
    T.Tensor._free_weak_ref(handle)


def test_a_cycle_through_the_storage_of_a_base_is_collected():  # P5
    v = T.ones(4).view(2, 2)  # the base, which has no wrapper any more, owns the storage too
    v.untyped_storage().mine = v
    ref = weakref.ref(v)
    del v
    gc.collect()
    assert ref() is None


def test_a_cycle_through_the_grad_of_a_base_is_collected():  # P5
    base = T.ones(4)
    base.grad = T.ones(4)
    v = base[0]
    base.grad.mine = v
    ref = weakref.ref(v)
    del v, base
    gc.collect()
    assert ref() is None


def test_an_impl_that_a_grad_and_a_base_own_is_collected():  # P5
    base = T.ones(4)
    base.note = box = []
    v = base.view(4)
    v.grad = base.view(4)  # its base is the same tensor, without another owner
    box.append(v)
    ref = weakref.ref(v)
    del v, base, box
    gc.collect()
    assert ref() is None


def test_a_base_that_cpp_shares_is_not_collected(make_view):  # P2, P5
    t = T.ones(4)
    t.attribute = "kept"
    v, owner = make_view(t), T.empty(4)
    owner.grad = t
    t.view_of_mine = v
    del t, v
    gc.collect()
    assert owner.grad.attribute == "kept" and owner.grad.view_of_mine._base is owner.grad
    del owner.grad.view_of_mine


def test_a_storage_that_another_tensor_shares_is_not_collected():  # P2, P5
    v = T.ones(4).view(2, 2)
    storage, other = v.untyped_storage(), T.empty(0)
    other.set_(storage)
    storage.mine, storage.attribute = v, "kept"
    del v, storage
    gc.collect()
    assert other.untyped_storage().attribute == "kept"
    del other.untyped_storage().mine


def test_a_dead_cycle_does_not_empty_a_base():  # P2
    t = T.ones(4)
    v, t.attribute, t.me = t[0], "kept", t
    del t
    gc.collect()
    assert v._base.attribute == "kept" and v._base.me is v._base
    del v._base.me


def test_a_circle_of_grads_with_views_ends_the_walk():  # P5
    a, b = T.ones(1), T.ones(1)
    a.grad, b.grad = b.view(1), a.view(1)
    v = a.view(1)
    del b
    assert gc.collect() >= 0
    del v
    a.grad = None


@pytest.mark.parametrize("preserved", [False, True])
def test_a_long_chain_of_views_and_grads_is_freed_without_recursion(preserved):  # P6
    head = T.empty(0)
    handle = head._weak_ref()
    gc.disable()  # the collector would walk the chain again and again
    for _ in range(30_000):
        base = T.empty(0)
        base.grad = head
        if preserved:
            base.attribute = None
        head = base.view(0)
    del base
    gc.enable()
    del head
    assert T.Tensor._expired(handle)
    T.Tensor._free_weak_ref(handle)


def test_the_collector_walks_a_long_chain():  # P6, R2
    head = T.empty(0)
    for _ in range(2_000):
        base = T.empty(0)
        base.grad = head
        head = base.view(0)
    del base
    ref, head.me = weakref.ref(head), head
    del head
    gc.collect()
    assert ref() is None


@pytest.mark.xfail(T._preservation == "resurrection", strict=True,
                   reason="a wrapper that Python and C++ hold hides its references")
def test_a_cycle_of_a_tensor_and_its_view_is_collected():  # P5
    t = T.ones(4)
    v = t[0]
    t.view_of_mine, v.tensor = v, t
    ref = weakref.ref(t)
    del t, v
    gc.collect()
    gone = ref() is None
    if not gone:
        del ref().view_of_mine.tensor
    gc.collect()
    assert gone


def test_a_base_that_python_refers_to_keeps_what_it_owns():  # P2
    base = T.ones(4)
    storage, v = base.untyped_storage(), base[0]
    storage.attribute, storage.mine = "kept", v
    gc.collect()  # now only later objects are young
    young = base[1]
    young.me = young
    storage.young = young
    del storage, v, young
    gc.collect(0)
    gc.collect()
    assert base.untyped_storage().attribute == "kept"
    assert base.untyped_storage().young.me._base is base
    base.untyped_storage().__dict__.clear()
    gc.collect()
