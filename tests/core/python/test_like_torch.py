"""Behaviour of torch that is easy to get wrong; a comparison of random programs found each case."""

import pytest
import slotcore as T


class Sub(T.Tensor):
    pass


class Mine(T.UntypedStorage):
    made = 0

    def __init__(self, size):
        Mine.made += 1


def test_view_of_a_dtype_shares_bytes_and_version_and_is_not_a_view():
    t = T.ones(2, 2)
    v = t.view(T.uint8)
    assert (v.shape, v.stride(), v.dtype) == ((2, 8), (8, 1), T.uint8)
    assert not v._is_view() and v._base is None
    v.zero_()
    assert t.sum().item() == 0 and t._version == 1
    wide = T.ones(4, dtype=T.uint8)[2:].view(T.bool)
    assert wide.tolist() == [True, True] and wide.storage_offset() == 2
    assert T.ones(2, 4).view(T.float64).stride() == (2, 1)
    r = T.ones(1).requires_grad_()
    assert not r.view(T.float32).requires_grad and r.view(T.float32).is_leaf


@pytest.mark.parametrize("make", [
    lambda: T.ones(()).view(T.uint8),  # no dimension
    lambda: T.ones(3).view(T.float64),  # an odd number of them
    lambda: T.ones(4)[1:3].view(T.float64),  # an odd offset
    lambda: T.ones(2, 3).t().view(T.uint8),  # a last stride that is not 1
    lambda: T.ones(3, 2).as_strided((2, 2), (3, 1)).view(T.float64),  # an odd stride
    lambda: T.ones(1)._neg_view().view(T.float32), lambda: T.view_as_real(T.ones(1)),
    lambda: T.view_as_real(T.ones(1, dtype=T.complex64).conj()),
])
def test_bytes_that_do_not_fit_are_not_read_as_another_dtype(make):
    with pytest.raises(RuntimeError):
        make()


def test_complex_numbers_are_seen_as_pairs():
    c = T.tensor([1 + 2j, 3j])
    v = T.view_as_real(c)
    assert v.tolist() == [[1.0, 2.0], [0.0, 3.0]] and v._base is c and v.stride() == (2, 1)
    v.zero_()
    assert c.tolist() == [0j, 0j]


def test_detach_in_place_makes_a_leaf():
    x = T.ones(1).requires_grad_()
    y = x.mul(2)
    assert y.detach_() is y and y.is_leaf and not y.requires_grad
    with pytest.raises(RuntimeError):
        x.view(1).detach_()


def test_a_view_requires_a_gradient_when_its_base_does():
    x = T.ones(1)
    v, early = x.view(1), x.view(1)
    early.zero_()
    x.requires_grad_()
    assert v.requires_grad and not v.is_leaf, "it was written since then"
    assert x.view(1).requires_grad_().requires_grad and not x.view(1).is_leaf
    for change in (lambda v: v.zero_(), lambda v: v.resize_(4), lambda v: v.set_()):
        with pytest.raises(RuntimeError):
            change(v)
    x = T.ones(1)
    v = x.view(1)
    x.requires_grad_()
    assert v.requires_grad and v.is_leaf
    v.requires_grad = False
    assert v.requires_grad, "its base still requires a gradient"


def test_a_leaf_may_be_a_view_itself():
    leaf = T.ones(1).as_subclass(Sub).requires_grad_()
    with pytest.raises(RuntimeError):
        leaf.view(1).zero_()


def test_set_takes_over_the_gradient_of_a_tensor():
    t, p = T.ones(1), T.nn.Parameter(T.ones(1))
    t.set_(p)
    assert t.requires_grad and not t.is_leaf
    t = T.ones(1).set_(T.ones(4, dtype=T.float64)[1:], 1, (1,), (1,))
    assert t.storage_offset() == 2 and t.dtype == T.float32 and not t.requires_grad
    with pytest.raises(RuntimeError):
        t.set_(T.ones(2, 2).t(), 0, (1,), (1,))


def test_a_resize_counts_as_a_write():
    t = T.ones(1)
    assert (t.resize_(1)._version, t.resize_(4)._version) == (0, 1)


def test_results_are_laid_out_as_their_operands():
    t = T.ones(2, 3).t()
    assert t.mul(t).stride() == t.clone().stride() == t.mul(2).stride() == (1, 3)
    assert t.mul(T.ones(3, 2)).stride() == (1, 3) and T.ones(3, 2).mul(t).stride() == (2, 1)
    assert t.narrow(0, 0, 1).clone().stride() == (1, 1)
    without_elements = t.narrow(0, 0, 0)
    assert without_elements.mul(2).stride() == (1, 0) and t.t()[:0].mul(2).stride() == (3, 1)
    assert T.ones(3).expand(2, 3).clone().stride() == (3, 1)


def test_without_elements_everything_is_contiguous_dense_and_apart():
    t = T.ones(0).expand(3, -1)
    assert t.t().is_contiguous() and t.clone().stride() == (0, 1)
    t.add_(t)
    assert T.ones(0, dtype=T.bool)._neg_view().tolist() == []


def test_copies_and_slices_of_a_storage_are_of_its_class():
    Mine.made = 0
    s = Mine(4)
    assert type(s.clone()) is Mine and Mine.made == 2
    part = s[:4]
    assert type(part) is Mine and Mine.made == 2 and not part.resizable() and s.resizable()


def test_a_byte_is_written_to_a_place_from_the_start():
    s = T.UntypedStorage(2)
    for index in (2, -1, 1 << 70):
        with pytest.raises(RuntimeError):
            s[index] = 1
    s[1] = 7
    assert s.tolist() == [0, 7] and s[-1] == 7


def test_a_parameter_of_a_subclass_needs_its_detach():
    with pytest.raises(RuntimeError):
        T.nn.Parameter(T.ones(1).as_subclass(Sub))
    with pytest.raises(AttributeError):
        T.nn.Parameter([1])

    class Own(Sub):
        def detach(self):
            return super().detach().as_subclass(Own)
    p = T.nn.Parameter(T.ones(1).as_subclass(Own))
    assert type(p) is Own and p._is_param and p.requires_grad
    q = T.nn.Parameter(T.nn.Parameter(T.ones(1)))
    assert type(q) is T.nn.Parameter and not hasattr(q, "_is_param")


def test_an_object_that_is_not_a_tensor_cannot_be_swapped():
    with pytest.raises(AttributeError):
        T.utils.swap_tensors(T.ones(1), None)
    assert T.ones(3, dtype=T.float64).nbytes == 24


def test_in_hermetic_mode_the_same_tensor_is_wrapped_again():  # H1
    t = T.ones(1)
    with T.hermetic():
        for same in (t.zero_(), t.conj(), t.resolve_neg(), t.requires_grad_(False), t.resize_(1)):
            assert same is not t and type(same) is T.Tensor and same._cdata == t._cdata
    assert t.zero_() is t and same.zero_() is t
