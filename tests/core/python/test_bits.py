"""Conjugated and negated views, and the hooks that a wrapper holds."""

import gc
import weakref

import pytest
import slotcore as T


def test_conj_is_a_view_of_complex_numbers():
    c = T.tensor([1 + 2j, 3j])
    d = c.conj()
    assert d.is_conj() and d._base is c and d.data_ptr() == c.data_ptr()
    assert d.tolist() == [1 - 2j, -3j] and d.sum().item() == 1 - 5j
    assert (d == d).tolist() == [True, True]
    assert d[0].is_conj() and d.detach().is_conj() and d.data.is_conj() and d.view(2, 1).is_conj()
    assert not d.conj().is_conj() and not d.clone().is_conj() and not d.add(1).is_conj()
    d.fill_(1j)
    assert c.tolist() == [-1j, -1j] and c._version == 1
    d.copy_(T.tensor([1j, 2j]))
    assert c.tolist() == [-1j, -2j]
    assert c.resolve_conj() is c and d.resolve_conj() is not d and d.resolve_conj()._base is None
    assert not d.is_set_to(c) and c.is_set_to(c.view(2))
    t = T.ones(1)
    assert t.conj() is t and not t.is_conj()


def test_a_sum_of_conjugates_has_the_zero_that_torch_has():  # its alpha is a complex number
    z = T.ones(1, dtype=T.complex64).conj()
    assert z.clone().untyped_storage().tolist()[4:] == [0, 0, 0, 128]
    assert z.add(z).untyped_storage().tolist()[4:] == [0, 0, 0, 0]


def test_neg_view():
    t = T.tensor([1.0, -2.0])
    n = t._neg_view()
    assert n.is_neg() and n._base is t and n.tolist() == [-1.0, 2.0] and not n._neg_view().is_neg()
    n.fill_(2)
    assert t.tolist() == [-2.0, -2.0] and n.resolve_neg().tolist() == [2.0, 2.0]
    assert t.resolve_neg() is t and T.ones(1, dtype=T.uint8)._neg_view().tolist() == [255]
    with pytest.raises(RuntimeError):
        T.ones(1, dtype=T.bool)._neg_view().tolist()


def test_bits_go_with_data_but_not_with_set():
    c = T.tensor([1 + 2j])
    e, f = T.zeros(1, dtype=T.complex64), T.zeros(1, dtype=T.complex64)
    e.set_(c.conj())
    f.data = c.conj()
    assert e.tolist() == [1 + 2j] and not e.is_conj()
    assert f.tolist() == [1 - 2j] and f.is_conj()


def test_hooks_are_held_as_they_are_set():
    t = T.ones(1)
    assert t._backward_hooks is None
    hooks = t._backward_hooks = {0: print}
    assert t._backward_hooks is hooks and t.detach()._backward_hooks is None
    t._backward_hooks = None
    assert t._backward_hooks is None
    with pytest.raises(RuntimeError):
        del t._backward_hooks


def test_hooks_live_as_long_as_the_impl():  # P2
    t = T.ones(1)
    t._backward_hooks = {0: "kept"}
    v, cycle = t.view(1), [t]
    cycle.append(cycle)
    del t, cycle
    gc.collect()
    assert v._base._backward_hooks == {0: "kept"}


def test_a_cycle_through_hooks_is_collected():  # P5
    t = T.ones(1)
    t._backward_hooks = {0: t}
    ref = weakref.ref(t)
    del t
    gc.collect()
    assert ref() is None


def test_former_hooks_may_look_at_the_tensor_when_they_die():
    class Hook:
        def __del__(self):
            seen.append(t._backward_hooks)

    seen, t = [], T.ones(1)
    t._backward_hooks = Hook()
    t._backward_hooks = {}
    assert seen == [{}]


def conjugated_base():
    base = T.tensor([1 + 2j, 3 - 1j]).conj().detach()
    assert base.is_conj() and base._base is None
    return base, T.view_as_real(base.conj())


WEIGHTS = T.tensor([[1.0, 10.0], [100.0, 1000.0]])


def test_pairs_that_are_written_pass_the_gradient_of_a_conjugated_base():
    base, pairs = conjugated_base()
    factor = T.ones(2, 2).requires_grad_()
    pairs.mul_(factor)
    result = T.view_as_real(base.resolve_conj())
    assert result.tolist() == [[1, -2], [3, 1]]
    gradient, = T.autograd.grad(result, factor, WEIGHTS)
    assert gradient.tolist() == [[1, -20], [300, 1000]]


@pytest.mark.parametrize("create_graph", [False, True])
def test_pairs_of_a_conjugated_base_pass_its_gradient_when_the_base_is_written(create_graph):
    base, pairs = conjugated_base()
    factor = T.ones(2, dtype=T.complex64).requires_grad_()
    weights = WEIGHTS.clone().requires_grad_()
    base.mul_(factor)
    gradient, = T.autograd.grad(pairs, factor, weights, create_graph=create_graph)
    assert gradient.tolist() == [21 - 8j, -700 - 3100j]
    if create_graph:  # the gradient is linear in the weights
        again, = T.autograd.grad(gradient, weights, T.tensor([1, 1j]))
        assert again.tolist() == [[1, 2], [-1, -3]]
