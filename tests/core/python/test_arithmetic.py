"""The results of arithmetic and the promotion of dtypes are the same as in torch."""

import fractions

import pytest
import slotcore as T

DTYPES = (T.float32, T.float64, T.int64, T.uint8, T.bool, T.complex64)


@pytest.fixture(params=DTYPES, ids=repr)
def dtype(request):
    return request.param


def test_every_dtype_makes_tensors(dtype):
    assert T.ones(2, dtype=dtype).tolist() == [1, 1] and T.ones(2, dtype=dtype).dtype is dtype
    assert T.zeros(2, dtype=dtype).tolist() == [0, 0] == T.empty(2, dtype=dtype).tolist()
    assert T.tensor([[0], [1]], dtype=dtype).tolist() == [[0], [1]]
    data = bytearray(16)
    t = T.frombuffer(data, dtype=dtype)
    assert t.numel() == 16 // dtype.itemsize and t.element_size() == dtype.itemsize
    t.fill_(1)
    assert sum(data) > 0 and t[0].item() == 1


def test_the_numbers_give_the_dtype():
    for data, dtype in [([True], T.bool), ([True, 2], T.int64), ([2, 1.5], T.float32),
                        ([1.5, 1j], T.complex64), ([], T.float32)]:
        assert T.tensor(data).dtype is dtype
    assert T.tensor([-1], dtype=T.uint8).tolist() == [255]
    assert T.Tensor([1, 2]).tolist() == [1.0, 2.0] and T.Tensor(2, 3).shape == (2, 3)
    assert T.Tensor().shape == (0,)
    t = T.ones(1)
    assert T.Tensor(t)._base is t
    half = fractions.Fraction(1, 2)
    assert T.tensor([T.tensor(1.5), 1]).tolist() == [1.5, 1.0]
    assert T.tensor([half], dtype=T.float32).tolist() == [0.5]
    with pytest.raises(TypeError, match="Fraction does not decide it"):
        T.tensor(half)


def test_a_tensor_of_a_tensor_is_a_copy_without_a_graph():
    x = T.ones(2, 3).requires_grad_()
    for dtype in (T.float32, T.float64, T.int64):
        c = T.tensor(x * 2, dtype=dtype)
        assert c.tolist() == [[2] * 3] * 2 and c.dtype is dtype and not c.requires_grad
        c.zero_()
    assert x.sum().item() == 6


def test_an_in_place_operator_asks_the_reflected_method():
    class Right:
        __radd__ = __rmul__ = lambda self, other: other

    t = x = T.ones(1)
    t += Right()
    t *= Right()
    assert t is x and t._version == 0
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+="):
        t += "x"


def test_sums_and_products():
    t = T.tensor([1.0, 2.0])
    assert t.add(1).tolist() == (1 + t).tolist() == [2.0, 3.0] and t._version == 0
    assert t.mul(T.tensor([[2.0], [3.0]])).tolist() == [[2.0, 4.0], [3.0, 6.0]]
    u = t
    u += 1
    u *= T.tensor(2.0)
    assert u is t and t.tolist() == [4.0, 6.0] and t._version == 2
    assert t.sum().item() == 10.0 and t.sum().shape == () and T.ones(3, dtype=T.bool).sum() == 3
    assert T.tensor([(1 << 63) - 1]).add(1).tolist() == [-1 << 63]
    assert T.ones(2, dtype=T.uint8).add(300).tolist() == [45, 45]
    assert T.tensor([1j]).mul(1j).tolist() == [-1] and T.tensor(2j).__complex__() == 2j


@pytest.mark.parametrize("a, b, dtype", [
    (T.bool, 1, T.int64), (T.uint8, 1, T.uint8), (T.int64, 1.5, T.float32),
    (T.float64, 1.5, T.float64), (T.float32, 1j, T.complex64), (T.uint8, T.int64, T.int64),
    (T.float32, T.float64, T.float64), (T.int64, T.complex64, T.complex64),
])
def test_promotion(a, b, dtype):
    a = T.ones(2, dtype=a)
    b = T.ones(2, dtype=b) if isinstance(b, T.dtype) else b
    assert a.add(b).dtype is a.mul(b).dtype is dtype


def test_equality_is_by_element_and_hash_by_identity():
    t = T.tensor([1, 2])
    assert (t == t).tolist() == [True, True] and (t == t).dtype is T.bool
    assert (t == T.tensor([1.0, 3.0])).tolist() == [True, False]
    assert (t != 1).tolist() == [False, True] and (2 == t).tolist() == [False, True]
    assert (t == None) is False and (t == "x") is False and (t != [1]) is True  # noqa: E711
    assert t.__eq__(None) is NotImplemented and {t: 1}[t] == 1 and hash(t) == id(t)
    with pytest.raises(RuntimeError):
        bool(t == t)
    with pytest.raises(TypeError):
        t < t  # noqa: B015


def test_relu_keeps_the_strides_of_dense_elements():
    turned = T.ones(2, 3).transpose(0, 1)
    assert turned.relu().stride() == turned.stride() == (1, 3)
    repeated = T.ones(3).as_strided((2, 3), (0, 1))
    assert repeated.relu().stride() == repeated.clone().stride() == (3, 1)
    spread = T.ones(24).as_strided((4, 1, 3), (1, 24, 4))
    assert spread.relu().stride() == spread.clone().stride() == (1, 24, 4)
    for size, strides, expected in (((2, 1), (1, 6), (1, 1)), ((2, 0), (3, 6), (1, 1))):
        contiguous = T.ones(8).as_strided(size, strides)
        assert contiguous.clone().stride() == strides
        assert contiguous.relu().stride() == expected


def test_copy_and_clone():
    t = T.zeros(2, 2)
    assert t.copy_(T.tensor([1, 2])) is t and t.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    u = t.t().clone()
    assert u.stride() == (1, 2) and u._base is None and u._version == 0
    assert t.expand(2, 2, 2).clone().stride() == (4, 2, 1)
    u.zero_()
    assert t.tolist() == [[1.0, 2.0], [1.0, 2.0]] and t._version == 1
    repeated = T.ones(1).expand(3)
    with pytest.raises(RuntimeError, match="may share memory"):
        repeated.copy_(repeated)
    assert t.copy_(t) is t and t._version == 2 and repeated._version == 0
    assert T.zeros(2, dtype=T.bool).copy_(T.tensor([0.5, 0.0])).tolist() == [True, False]
    assert T.zeros(1, dtype=T.uint8).copy_(T.tensor([-1.5])).tolist() == [255]
    assert T.zeros(2).copy_(1).tolist() == T.zeros(2).fill_(T.tensor(1)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("error, call", [
    (RuntimeError, lambda t: t.add(T.ones(3))), (TypeError, lambda t: t.add("x")),
    (TypeError, lambda t: t + None), (RuntimeError, lambda t: t.add_(T.ones(2, 4))),
    (RuntimeError, lambda t: T.ones(4, dtype=T.int64).add_(1.5)),
    (RuntimeError, lambda t: T.ones(4, dtype=T.bool).mul_(2)), (RuntimeError, lambda t: t.add_(1j)),
    (RuntimeError, lambda t: t[1:].add_(t[:3])), (RuntimeError, lambda t: t.add_(t[0])),
    (RuntimeError, lambda t: t[1:].copy_(t[:3])), (RuntimeError, lambda t: t == T.ones(3)),
    (RuntimeError, lambda t: t.expand(2, 4).add_(1)), (RuntimeError, lambda t: t.copy_(T.ones(2))),
    (RuntimeError, lambda t: t.copy_(T.ones(1, 4))), (TypeError, lambda t: t.copy_("x")),
    (TypeError, lambda t: t.fill_("x")), (TypeError, lambda t: t.fill_(None)),
    (RuntimeError, lambda t: t.fill_(1j)), (RuntimeError, lambda t: t.fill_(1e300)),
    (RuntimeError, lambda t: t.fill_(T.ones(2))), (RuntimeError, lambda t: t.fill_(1 << 70)),
    (RuntimeError, lambda t: T.ones(1, dtype=T.uint8).fill_(300)),
    (RuntimeError, lambda t: T.ones(1, dtype=T.uint8).fill_(-0.5)),
    (RuntimeError, lambda t: t.__setitem__(0, 1j)),
    (RuntimeError, lambda t: t.__setitem__(0, 1e300)),
    (RuntimeError, lambda t: T.ones(1, dtype=T.uint8).__setitem__(0, 300)),
    (RuntimeError, lambda t: float(T.tensor(1j))), (TypeError, lambda t: T.ones()),
    (TypeError, lambda t: T.tensor([1j], dtype=T.float32)), (RuntimeError, lambda t: t.item()),
    (TypeError, lambda t: t.is_set_to(1)),
])
def test_errors(error, call):
    t = T.ones(4)
    with pytest.raises(error):
        call(t)
    assert t.tolist() == [1.0] * 4 and t._version == 0


@pytest.mark.parametrize("nbytes", [0, 4])
def test_a_shrunken_storage_is_an_error_for_all_arithmetic(nbytes):
    t = T.ones(4)
    t.untyped_storage().resize_(nbytes)
    for call in (lambda: t.add(1), lambda: t.add_(1), t.sum, t.clone, t.zero_, lambda: t == t,
                 lambda: T.ones(4).copy_(t), lambda: t.copy_(T.ones(4))):
        with pytest.raises(RuntimeError):
            call()


def test_a_result_of_broadcasting_that_is_too_large_is_an_error():  # it would take seconds
    row = T.ones(8192)
    column = row.as_strided((8192, 1), (1, 1))
    assert column.numel() == 8192
    with pytest.raises(RuntimeError, match=f"cannot allocate {8192 * 8192 * 4} bytes"):
        column.add(row)
