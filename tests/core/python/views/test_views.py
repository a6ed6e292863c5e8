"""Views: which tensor owns the base, and what views share."""

import gc
import sys
import weakref

import pytest
import slotcore as T


def test_a_view_shows_the_base_and_its_elements(make_view):  # P1
    t = T.tensor([1.0, 2.0, 3.0, 4.0])
    v = make_view(t)
    assert v._is_view() and not t._is_view() and t._base is None
    assert v._base is t and v is not t and v.untyped_storage() is t.untyped_storage()
    assert make_view(t) is not v
    v.fill_(9)
    assert 9.0 in t.tolist() and t._version == v._version == 1


def test_a_view_keeps_what_python_dropped(make_view):  # P1, P2, P4
    class Sub(T.Tensor):
        pass

    t = Sub([1.0, 2.0, 3.0, 4.0])
    t.attribute = [1]
    ref, address, v = weakref.ref(t), id(t), make_view(t)
    del t
    gc.collect()
    t = v._base
    assert id(t) == address and ref() is t and type(t) is Sub and t.attribute == [1]


def test_the_base_dies_with_its_last_view():  # P3, P4
    log = []

    class Noting(T.Tensor):
        def __del__(self):
            log.append(self.tolist())

    t = Noting(2).fill_(7)
    v, w = t[0], t[1]
    handle = t._weak_ref()
    del t
    del v
    assert log == [] and not T.Tensor._expired(handle)
    del w
    assert log == [[7.0, 7.0]] and T.Tensor._expired(handle)
    T.Tensor._free_weak_ref(handle)


def test_a_view_of_a_view_has_the_first_base():  # P7
    t = T.ones(4)
    v = t.view(2, 2)
    w = v[0]
    assert w._base is t and v._use_count() == 1 and t._use_count() == 3
    del v, w
    assert t._use_count() == 1


def test_a_detached_view_is_not_a_view_and_shares_the_version():
    t = T.ones(4)
    d = t.view(2, 2).detach()
    assert d._base is None and not d._is_view() and t._use_count() == 1
    d.add_(1)
    assert t._version == d._version == 1 and t.tolist() == [2.0] * 4


def test_counts_stay_over_many_views(make_view):  # P7
    t = T.ones(4)
    v = make_view(t)
    references = sys.getrefcount(t)
    for _ in range(5):
        assert v._base is t
        make_view(t)
    assert sys.getrefcount(t) == references and t._use_count() == 2


@pytest.mark.parametrize("view, is_refused", [
    (lambda tensor: tensor.narrow(0, 0, 1), True),
    (lambda tensor: tensor.select(0, 0), True),
    (lambda tensor: tensor.transpose(0, 1), True),
    (lambda tensor: tensor.expand(3, -1, -1), True),
    (lambda tensor: tensor[:1], True),
    (lambda tensor: tensor[:0], False),
    (lambda tensor: tensor.transpose(1, 1), False),
    (lambda tensor: tensor.view(-1), False),
    (lambda tensor: tensor.detach(), False),
])
def test_a_view_by_strides_must_fit_a_storage_that_shrank(view, is_refused):
    tensor = T.ones(4).view(2, 2)
    storage = tensor.untyped_storage()
    storage.resize_(4)
    if not is_refused:
        assert view(tensor).untyped_storage() is storage
        return
    with pytest.raises(RuntimeError, match="needs a storage of"):
        view(tensor)


def test_indexing():
    t = T.tensor([[1, 2, 3], [4, 5, 6]])
    assert t[1].tolist() == t[-1].tolist() == [4, 5, 6] and t[0][2].item() == 3
    assert t[1:].tolist() == [[4, 5, 6]] and t[0][::2].tolist() == [1, 3] and t[5:].shape == (0, 3)
    t[0] = 7
    t[1][1:] = T.tensor([8, 9])
    t[1][:1] = T.tensor([[True]])
    assert t.tolist() == [[7, 7, 7], [1, 8, 9]] and t._version == 3
    assert t.t().tolist() == [[7, 1], [7, 8], [7, 9]] and T.tensor(1).t().item() == 1
    assert t.expand(2, -1, 3)[1].tolist() == t.tolist()


@pytest.mark.parametrize("error, call", [
    (IndexError, lambda t: t[4]), (IndexError, lambda t: t[-5]), (IndexError, lambda t: t[1.0]),
    (IndexError, lambda t: t[0][0]), (IndexError, lambda t: t[0][1:]),
    (ValueError, lambda t: t[::-1]), (ValueError, lambda t: t[::0]),
    (RuntimeError, lambda t: t.view(3)), (TypeError, lambda t: t.view()),
    (TypeError, lambda t: t.view("x")), (RuntimeError, lambda t: t.view(2, 2).t().view(4)),
    (RuntimeError, lambda t: t.narrow(0, 3, 2)), (IndexError, lambda t: t.narrow(1, 0, 1)),
    (RuntimeError, lambda t: t.narrow(0, 0, -1)), (TypeError, lambda t: t.narrow(0, 1, 2.0)),
    (IndexError, lambda t: t.select(0, 4)), (TypeError, lambda t: t.select(0)),
    (RuntimeError, lambda t: t.as_strided((8,), (1,))),
    (RuntimeError, lambda t: t.as_strided((2,), (-1,))),
    (RuntimeError, lambda t: t.as_strided((2,), (1, 1))),
    (RuntimeError, lambda t: t.as_strided((2,), (1,), -1)),
    (IndexError, lambda t: t.transpose(0, 1)), (RuntimeError, lambda t: t.view(2, 2, 1).t()),
    (RuntimeError, lambda t: t.expand(3)), (RuntimeError, lambda t: t.expand(-1, 4)),
    (RuntimeError, lambda t: t.expand(())), (TypeError, lambda t: t.expand()),
    (TypeError, lambda t: t.__delitem__(0)), (TypeError, lambda t: t.__setitem__(0, "x")),
    (RuntimeError, lambda t: t.__setitem__(slice(1, 3), T.ones(3))),
    (AttributeError, lambda t: setattr(t, "_base", t)),
    (AttributeError, lambda t: setattr(t, "_version", 1)),
])
def test_errors(error, call):
    t = T.ones(4)
    with pytest.raises(error):
        call(t)
    assert t.tolist() == [1.0] * 4


def test_an_index_that_changes_the_tensor_is_used_on_the_new_one():
    class Index:
        def __index__(self):
            t.set_()
            return 0

    t = T.ones(4)
    with pytest.raises(IndexError):
        t[Index()]
    t = T.ones(4)
    assert t[Index():].shape == (0,)
