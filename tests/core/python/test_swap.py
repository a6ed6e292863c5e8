"""swap_tensors exchanges impls, slots, classes and attributes; identities stay."""

import gc
import weakref

import pytest
import slotcore as T


class Sub(T.Tensor):
    pass


class Slotted(T.Tensor):
    __slots__ = ("left", "right")


def test_slots_go_with_impls():  # P1, bug #116955
    a, b = T.ones(1), T.zeros(2)
    first, second = a._cdata, b._cdata
    T._swap_tensor_impl(a, b)
    assert (a._cdata, b._cdata) == (second, first) and a.shape == (2,) and b.shape == (1,)
    assert a.fill_(3) is a and a.view(2)._base is a and b.view(1)._base is b
    owner = T.ones(2)
    owner.grad = a
    assert owner.grad is a


def test_a_swapped_wrapper_is_preserved_with_its_new_impl():  # P2, P3
    log = []

    class Noting(T.Tensor):
        def __del__(self):
            log.append(self.tolist())

    a, b = Noting([1.0]), Noting([2.0])
    T._swap_tensor_impl(a, b)
    v = a.view(1)
    a.attribute = "kept"
    del a
    gc.collect()
    assert log == [] and v._base.attribute == "kept"
    del b
    assert log == [[1.0]]
    del v
    assert log == [[1.0], [2.0]]


def test_everything_but_identity_is_swapped():
    a, b = Sub([1.0]), T.ones(2)
    a.only_a, b.only_b = 1, 2
    T.utils.swap_tensors(a, b)
    assert type(a) is T.Tensor and type(b) is Sub and b.tolist() == [1.0]
    assert a.__dict__ == {"only_b": 2} and b.__dict__ == {"only_a": 1}
    x, y = Slotted(1), Slotted(2)
    x.left, y.left, y.right = 1, 2, 3
    T.utils.swap_tensors(x, y)
    assert (x.left, x.right, y.left) == (2, 3, 1) and not hasattr(y, "right")
    T.utils.swap_tensors(x, x)
    assert (x.left, x.right) == (2, 3)


def test_hooks_of_leaves_go_with_impls():  # A3f
    log = []
    a, b = T.ones(1).requires_grad_(), T.ones(2).requires_grad_()
    handle = a.register_hook(lambda gradient: log.append("first"))
    T.utils.swap_tensors(a, b)
    assert a._backward_hooks is None and len(b._backward_hooks) == 1
    b.register_hook(lambda gradient: log.append("second"))
    (b * 1).sum().backward()
    assert log == ["first", "second"]
    T._swap_tensor_impl(a, b)
    handle.remove()
    assert b._backward_hooks is None and len(a._backward_hooks) == 1


def test_a_tensor_that_others_hold_is_not_swapped():
    a, b = T.ones(1), T.ones(1)
    v = a.view(1)
    for swap in (T._swap_tensor_impl, T.utils.swap_tensors):
        with pytest.raises(RuntimeError, match="use_count"):
            swap(b, a)
    del v
    handle = a._weak_ref()
    with pytest.raises(RuntimeError, match="weak references"):
        T._swap_tensor_impl(a, b)
    T.Tensor._free_weak_ref(handle)
    ref = weakref.ref(b)
    with pytest.raises(RuntimeError, match="weak references"):
        T.utils.swap_tensors(a, b)
    assert ref() is b
    with T.hermetic():
        h = v = b.view(1)._base
    with pytest.raises(RuntimeError):
        T._swap_tensor_impl(a, h)
    with pytest.raises(RuntimeError):
        T._swap_tensor_impl(a, b)
    del h, v
    with pytest.raises(TypeError):
        T._swap_tensor_impl(a, 3)
    with pytest.raises(RuntimeError, match="different slots"):
        T.utils.swap_tensors(a, Slotted(1))
    assert a._use_count() == b._use_count() == 1


def test_an_index_that_swaps_does_not_use_the_former_impl():
    class Index:
        def __index__(self):
            other = T.zeros(3)
            T._swap_tensor_impl(t, other)
            return 0

    t = T.ones(1)
    assert t[Index()].item() == 0.0
    t = T.ones(1)
    assert t.narrow(0, Index(), 2).tolist() == [0.0, 0.0]
    t = T.ones(1)
    assert t.set_(T.UntypedStorage(4), Index(), (1,)).shape == (1,)


def test_a_leaf_of_a_graph_is_swapped_and_its_graph_then_refuses_to_run():
    a, b = Sub([1.0]).requires_grad_(), T.ones(2)
    y = a * 2
    T.utils.swap_tensors(a, b)
    assert type(b) is Sub and b.requires_grad and not a.requires_grad and a.shape == (2,)
    assert y.grad_fn.next_functions[0][0].variable is b
    with pytest.raises(RuntimeError, match="swap_tensors"):
        y.backward()
    assert a.grad is b.grad is None
    del y
    (b * 3).backward()
    assert b.grad.tolist() == [3.0]
    (b * 3).backward(T.ones(1))
    y = b * 2
    T.utils.swap_tensors(b, b)
    with pytest.raises(RuntimeError, match="swap_tensors"):
        y.backward()


def test_a_leaf_that_more_than_its_node_owns_is_not_swapped():
    a, b = T.ones(1).requires_grad_(), T.ones(1)
    y, view = a * 2, a.view(1)
    square = y * y
    for first, second in ((a, b), (b, a), (y, b)):
        with pytest.raises(RuntimeError, match="use_count"):
            T.utils.swap_tensors(first, second)
    with pytest.raises(RuntimeError, match="use_count"):
        T._swap_tensor_impl(a, b)
    del view
    square.backward()  # no refused swap has poisoned the node
    assert a.grad.tolist() == [8.0]


def test_a_graph_keeps_the_wrapper_that_its_leaf_has_after_the_swap():  # P2, P3, A4b
    log = []

    class Noting(T.Tensor):
        def __del__(self):
            log.append(self.name)

    a, b = Noting([1.0]).requires_grad_(), Noting([2.0]).requires_grad_()
    a.name, b.name = "a", "b"
    y, z = a * 2, b * 3
    T.utils.swap_tensors(a, b)
    assert (a.name, b.name) == ("b", "a")
    first, second = id(a), id(b)
    del a, b
    gc.collect()
    assert log == []
    leaves = [one.grad_fn.next_functions[0][0].variable for one in (y, z)]
    assert [id(leaf) for leaf in leaves] == [second, first]
    assert [leaf.name for leaf in leaves] == ["a", "b"]
    del leaves
    assert log == []
    del y
    assert log == ["a"]
    del z
    assert log == ["a", "b"]
