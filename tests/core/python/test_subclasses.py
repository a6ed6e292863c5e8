"""Subclasses of Tensor, Parameter, and the flags of gradients."""

import gc
import weakref

import pytest
import slotcore as T

CREATIONS = {
    "call": lambda cls: cls(2),
    "make_subclass": lambda cls: T.Tensor._make_subclass(cls, T.ones(2)),
    "as_subclass": lambda cls: T.ones(2).as_subclass(cls),
    "view": lambda cls: T.ones(2).view(2).as_subclass(cls),
}


@pytest.fixture(params=CREATIONS.values(), ids=CREATIONS.keys())
def create(request):
    return request.param


def _owner_of(tensor):
    owner = T.empty(2)
    owner.grad = tensor
    return owner


def test_dict_slots_and_class_are_preserved(create):  # P2
    class Meta(type(T.Tensor)):
        def answer(cls):
            return 42

    class Sub(T.Tensor, metaclass=Meta):
        __slots__ = ("slot",)

    t = create(Sub)
    t.slot, t.attribute = [1], [2]
    owner = _owner_of(t)
    cycle = [t]
    cycle.append(cycle)
    del t, cycle
    gc.collect()
    t = owner.grad
    assert type(t) is Sub and Sub.answer() == 42 and t.slot == [1] and t.attribute == [2]
    t.attribute = t
    del t, owner
    gc.collect()


def test_finalizers_run_once_for_each(create):  # P3
    log = []

    class Sub(T.Tensor):
        def __del__(self):
            log.append((self._use_count(), self._is_view()))

    t = create(Sub)
    is_view, owner = t._is_view(), _owner_of(t)
    del t
    assert log == []
    del owner
    assert log == [(1, is_view)]


def test_weakrefs_follow_the_impl(create):  # P4
    class Sub(T.Tensor):
        pass

    t = create(Sub)
    ref, owner = weakref.ref(t), _owner_of(t)
    del t
    gc.collect()
    assert type(ref()) is Sub
    del owner
    assert ref() is None


def test_a_finalizer_may_resurrect_a_view():  # P3
    kept = []

    class Sub(T.Tensor):
        def __del__(self):
            kept.append(self)

    base = T.ones(2)
    v = base.as_subclass(Sub)
    del v
    v = kept.pop()
    assert v._base is base and v.add_(1) is v and base.tolist() == [2.0, 2.0]
    del v
    assert not kept


def test_make_subclass_gives_a_new_impl_over_the_same_elements():
    class Sub(T.Tensor):
        def __init__(self):
            raise AssertionError("not called")

    t = T.ones(2).fill_(3)
    s = T.Tensor._make_subclass(Sub, t)
    assert type(s) is Sub and s._base is None and s.is_leaf and not s.requires_grad
    assert s.untyped_storage() is t.untyped_storage() and s._version == 1
    s.fill_(4)
    assert t.tolist() == [4.0, 4.0] and t._version == 2
    assert T.Tensor._make_subclass(Sub, t, True).requires_grad
    v = t.as_subclass(Sub)
    assert type(v) is Sub and v._base is t and t.as_subclass(T.Tensor) is not t
    assert type(v.detach()) is T.Tensor


@pytest.mark.parametrize("error, call", [
    (RuntimeError, lambda t: T.Tensor._make_subclass(int, t)),
    (TypeError, lambda t: T.Tensor._make_subclass(3, t)),
    (TypeError, lambda t: T.Tensor._make_subclass(T.Tensor, 3)),
    (RuntimeError, lambda t: t.as_subclass(int)), (TypeError, lambda t: t.as_subclass(3)),
    (RuntimeError, lambda t: T.nn.Parameter(T.ones(1, dtype=T.int64))),
    (AttributeError, lambda t: T.nn.Parameter(3)),
    (RuntimeError, lambda t: T.nn.Parameter(t).fill_(1)),
    (RuntimeError, lambda t: T.nn.Parameter(t).view(2).add_(1)),
    (RuntimeError, lambda t: T.nn.Parameter(t).__setitem__(0, 1)),
    (RuntimeError, lambda t: T.nn.Parameter(t).set_()),
    (RuntimeError, lambda t: T.nn.Parameter(t).resize_(1)),
    (RuntimeError, lambda t: setattr(T.nn.Parameter(t), "data", T.ones(1, dtype=T.uint8))),
    (RuntimeError, lambda t: setattr(t, "requires_grad", 1)),
    (RuntimeError, lambda t: delattr(t, "requires_grad")),
    (RuntimeError, lambda t: setattr(T.nn.Parameter(t).add(1), "requires_grad", False)),
    (RuntimeError, lambda t: T.ones(1, dtype=T.int64).requires_grad_()),
    (TypeError, lambda t: t.requires_grad_(3)),
    (AttributeError, lambda t: setattr(t, "is_leaf", 1)),
])
def test_errors(error, call):
    t = T.ones(2)
    with pytest.raises(error):
        call(t)
    assert t.tolist() == [1.0, 1.0] and t._version == 0 and not t.requires_grad


def test_a_parameter_is_a_leaf_over_the_same_elements():
    t = T.ones(2)
    p = T.nn.Parameter(t)
    assert isinstance(p, T.nn.Parameter) and isinstance(p, T.Tensor) and p._base is None
    assert p.requires_grad and p.is_leaf and p.data_ptr() == t.data_ptr()
    p.data.fill_(2)
    p.detach().add_(1)
    assert t.tolist() == [3.0, 3.0] and type(p.data) is T.Tensor
    assert not T.nn.Parameter(t, requires_grad=False).requires_grad
    assert T.nn.Parameter().shape == (0,)
    p.grad = T.ones(2)
    owner = _owner_of(p)
    del p
    assert type(owner.grad) is T.nn.Parameter and owner.grad.grad.tolist() == [1.0, 1.0]


def test_a_subclass_of_parameter():
    class Weight(T.nn.Parameter):
        def __new__(cls, *args):
            return super().__new__(cls, *args)

        def __init__(self, *args):
            self.seen = len(args)

    w = Weight(T.ones(1))
    assert type(w) is Weight and w.seen == 1 and w.requires_grad


def test_results_inherit_requires_grad():
    p = T.nn.Parameter(T.ones(2))
    for result in (p.view(2), p[0], p.add(1), p.mul(p), p.sum(), p.clone(),
                   p.as_subclass(T.Tensor)):
        assert result.requires_grad and not result.is_leaf
    for result in (p == 1, p.detach(), p.data):
        assert not result.requires_grad and result.is_leaf
    t = T.ones(2)
    t[:1].copy_(p[:1])
    assert t.requires_grad and not t.is_leaf and t.add_(1) is t
