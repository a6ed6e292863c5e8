"""What views of tensors give: their layouts, their elements, and errors."""

#: calls_of_views: parts of a tensor and other shapes of it
calls_of_views = """
t = T.tensor([[0, 1, 2], [3, 4, 5]])
u = t.view(3, 2)
u.tolist(), u.stride(), u._base is t, u._is_view() -> [[0, 1], [2, 3], [4, 5]], (2, 1), True, True
t._is_view() -> False
t.view(-1).tolist(), t.view(6).stride() -> [0, 1, 2, 3, 4, 5], (1,)
t.view(1, -1, 3).shape -> (1, 2, 3)
t.view([3, -1]).shape, t.view((6,)).shape -> (3, 2), (6,)
t.view(2, 3, 1, 1).stride() -> (3, 1, 1, 1)
t.view(7) -> RuntimeError
t.view(-1, -1) -> RuntimeError
t.view(-2, -3) -> RuntimeError
t.view(-1, 4) -> RuntimeError
t.view(-1, 0) -> RuntimeError
t.view(5) -> RuntimeError
t.view() -> TypeError
t.view('x') -> TypeError
t.view(1 << 40, 1 << 40) -> RuntimeError
T.ones(0, 3).view(0, 9).shape, T.ones(0, 3).view(3, -1).shape -> (0, 9), (3, 0)
T.ones(()).view(1, 1).stride() -> (1, 1)
T.ones(0).view(-1, 0) -> RuntimeError
T.ones(1).view(()).shape, T.ones(1, 1).view(-1).shape -> (), (1,)
t.view_as(u).tolist(), t.view_as(T.ones(6)).shape -> [[0, 1], [2, 3], [4, 5]], (6,)
t.view_as(t)._base is t -> True
t.view_as(T.ones(5)) -> RuntimeError
t.view_as(3) -> TypeError
c = t.t()
c.tolist(), c.stride(), c.shape -> [[0, 3], [1, 4], [2, 5]], (1, 3), (3, 2)
t.transpose(0, 1).tolist() == c.tolist() -> True
t.transpose(-1, 0).shape, t.transpose(1, 1).shape -> (3, 2), (2, 3)
t.transpose(0, 0)._base is t -> True
t.transpose(0, 2) -> IndexError
t.transpose(-3, 0) -> IndexError
t.transpose(0) -> TypeError
t.transpose(0, 'x') -> TypeError
c.view(6) -> RuntimeError
c.view(3, 2, 1).stride(), c.view(1, 3, 2).stride() -> (1, 3, 3), (3, 1, 3)
c.view(3, 1, 2).stride() -> (1, 6, 3)
c.view(2, 3) -> RuntimeError
T.ones(4, 2)[:, 0] -> IndexError
T.ones(2, 2, 2).t() -> RuntimeError
T.ones(3).t().shape, T.ones(()).t().shape, T.ones(()).transpose(0, -1).shape -> (3,), (), ()
T.ones(()).transpose(0, 1) -> IndexError
n = t.narrow(1, 1, 2)
n.tolist(), n.stride(), n.storage_offset(), n._base is t -> [[1, 2], [4, 5]], (3, 1), 1, True
t.narrow(0, 1, 1).tolist(), t.narrow(-1, -2, 1).tolist() -> [[3, 4, 5]], [[1], [4]]
t.narrow(0, 2, 0).shape -> (0, 3)
t.narrow(0, -2, 2).tolist() == t.tolist(), t.narrow(1, 0, 3).shape -> True, (2, 3)
t.narrow(0, 0, 3) -> RuntimeError
t.narrow(0, 1, 2) -> RuntimeError
t.narrow(0, 0, -1) -> RuntimeError
t.narrow(0, 3, 0) -> IndexError
t.narrow(0, -3, 1) -> IndexError
t.narrow(2, 0, 1) -> IndexError
t.narrow(-3, 0, 1) -> IndexError
t.narrow(0, 0) -> TypeError
T.ones(()).narrow(0, 0, 1) -> RuntimeError
t.select(0, 1).tolist(), t.select(1, -1).tolist() -> [3, 4, 5], [2, 5]
t.select(-1, 0).stride() -> (3,)
t.select(0, 2) -> IndexError
t.select(0, -3) -> IndexError
t.select(2, 0) -> IndexError
T.ones(()).select(0, 0) -> IndexError
e = T.tensor([[1], [2]]).expand(-1, 3)
e.tolist(), e.stride(), e._base.shape -> [[1, 1, 1], [2, 2, 2]], (1, 0), (2, 1)
e.is_contiguous() -> False
T.ones(3).expand(2, 3).stride(), T.ones(3).expand(2, -1).shape -> (0, 1), (2, 3)
T.ones(1).expand(0).shape -> (0,)
T.ones(3).expand(3).stride(), T.ones(1).expand(1).stride() -> (1,), (1,)
T.ones(()).expand(2).stride() -> (0,)
T.ones(3).expand(2) -> RuntimeError
T.ones(3).expand(-1, 3) -> RuntimeError
T.ones(2, 3).expand(3) -> RuntimeError
T.ones(2, 3).expand(-1) -> RuntimeError
T.ones(1).expand(-2) -> RuntimeError
T.ones(1).expand(1 << 40, 1 << 40) -> RuntimeError
T.ones(1).expand() -> TypeError
"""

#: calls_of_strides: views by strides
calls_of_strides = """
t = T.tensor([0, 1, 2, 3, 4, 5])
t.as_strided((2, 2), (3, 1)).tolist() -> [[0, 1], [3, 4]]
t.as_strided((2, 2), (3, 1), 1).tolist() -> [[1, 2], [4, 5]]
t[1:].as_strided((2,), (2,)).tolist(), t[1:].as_strided((2,), (2,), 0).tolist() -> [1, 3], [0, 2]
t.as_strided((), ()).item(), t.as_strided((), (), 5).item() -> 0, 5
t.as_strided(size=(1,), stride=(9,)).tolist() -> [0]
t.as_strided((3, 2), (0, 1)).tolist() -> [[0, 1], [0, 1], [0, 1]]
t.as_strided((2, 3), (1, 1)).tolist() -> [[0, 1, 2], [1, 2, 3]]
t.as_strided((6,), (1,), 0)._base is t, t.as_strided((0,), (9,), 6).shape -> True, (0,)
t.as_strided((1,), (1,), storage_offset=None).item() -> 0
t.as_strided((7,), (1,)) -> RuntimeError
t.as_strided((1,), (1,), 6) -> RuntimeError
t.as_strided((2,), (6,)) -> RuntimeError
t.as_strided((1,), (1,), -1) -> RuntimeError
t.as_strided((2,), (-1,), 3) -> RuntimeError
t.as_strided((-1,), (1,)) -> RuntimeError
t.as_strided((1,), (1, 1)) -> RuntimeError
t.as_strided((1,), ()) -> RuntimeError
t.as_strided((2,), (1 << 62,)) -> RuntimeError
t.as_strided((1 << 40, 1 << 40), (0, 0)) -> RuntimeError
t.as_strided((0,), (1,), 1 << 61) -> RuntimeError
t.as_strided((1,) * 9, (1,) * 9) -> RuntimeError
t.as_strided((1,)) -> TypeError
t.as_strided(1, 1) -> TypeError
t.as_strided((1,), (1,), 'x') -> TypeError
"""

#: calls_of_indices: items and slices, read and written
calls_of_indices = """
t = T.tensor([[0, 1], [2, 3], [4, 5]])
t[0].tolist(), t[-1].tolist(), t[1][0].item() -> [0, 1], [4, 5], 2
t[True:].tolist() -> [[2, 3], [4, 5]]
t[1:].tolist(), t[:-1].tolist() -> [[2, 3], [4, 5]], [[0, 1], [2, 3]]
t[::2].tolist(), t[5:].tolist() -> [[0, 1], [4, 5]], []
t[::2].stride(), t[1::2].storage_offset(), t[-2:2].tolist() -> (4, 1), 2, [[2, 3]]
t[2:1].shape -> (0, 2)
t[...].tolist() == t.tolist(), t[...]._base is t, t[:]._base is t -> True, True, True
t[3] -> IndexError
t[-4] -> IndexError
t[1 << 80] -> IndexError
t[True] -> IndexError
t['x'] -> IndexError
t[None] -> IndexError
t[0, 0] -> IndexError
t[::-1] -> ValueError
t[::0] -> ValueError
t['x':] -> TypeError
T.ones(())[0] -> IndexError
T.ones(())[:] -> IndexError
T.ones(())[...].shape -> ()
t[0] = 9
t[1:] = 7
t.tolist(), t._version -> [[9, 9], [7, 7], [7, 7]], 2
t[1] = T.tensor([1, 2])
t[::2] = T.tensor([[5, 6]])
t.tolist() -> [[5, 6], [1, 2], [5, 6]]
t[0] = T.tensor([[[3, 4]]])
t[...] = t.clone()
t[2][1:] = True
t.tolist(), t._version -> [[3, 4], [1, 2], [5, 1]], 7
t[0] = T.ones(3) -> RuntimeError
t[0] = T.ones(2, 2) -> RuntimeError
t[0] = 'x' -> TypeError
t[0] = None -> TypeError
t[3] = 1 -> IndexError
t['x'] = 1 -> IndexError
del t[0] -> TypeError
t.tolist(), t._version -> [[3, 4], [1, 2], [5, 1]], 7
"""

#: calls_of_bytes_as_numbers: the same bytes as numbers of another type
calls_of_bytes_as_numbers = """
t = T.tensor([1, 256])
b = t.view(T.uint8)
b.shape, b[:9].tolist(), b._base, b.dtype -> (16,), [1, 0, 0, 0, 0, 0, 0, 0, 0], None, T.uint8
b[0] = 2
t.tolist(), t._version, b._version, b.view(T.int64).tolist() -> [2, 256], 1, 1, [2, 256]
T.ones(2).view(T.float32).tolist(), T.zeros(2, 3).view(T.uint8).stride() -> [1.0, 1.0], (12, 1)
T.zeros(2, 4).view(T.float64).shape, T.zeros(2, 4).view(T.float64).stride() -> (2, 2), (2, 1)
T.zeros(4)[2:].view(T.float64).storage_offset() -> 1
T.zeros(4)[1:2].view(T.uint8).storage_offset() -> 4
T.zeros(4)[1:3].view(T.float64) -> RuntimeError
T.zeros(3).view(T.float64) -> RuntimeError
T.zeros(2, 3).view(T.float64) -> RuntimeError
T.zeros(2, 2).t().view(T.uint8) -> RuntimeError
T.zeros(()).view(T.uint8) -> RuntimeError
T.zeros(()).view(T.float32).item() -> 0.0
T.ones(1, dtype=T.complex64).conj().view(T.float32) -> RuntimeError
c = T.tensor([1 + 2j, 3 - 4j])
r = T.view_as_real(c)
r.tolist(), r.stride(), r.dtype, r._base is c -> [[1.0, 2.0], [3.0, -4.0]], (2, 1), T.float32, True
T.view_as_real(c[1:]).storage_offset(), T.view_as_real(c.view(2, 1)).shape -> 2, (2, 1, 2)
T.view_as_real(c[1].view(())).tolist() -> [3.0, -4.0]
T.view_as_real(T.ones(1)) -> RuntimeError
T.view_as_real(c.conj()) -> RuntimeError
T.view_as_real(3) -> TypeError
T.view_as_real(T.ones(*[1] * 8, dtype=T.complex64)) -> RuntimeError
r[0][1:] = 9
c.tolist() -> [(1+9j), (3-4j)]
"""

#: calls_of_bits_as_bytes: bits cannot be read as another type, whatever its width
calls_of_bits_as_bytes = """
def seen(t, d): return t.view(d) is not None
d, seen = (T.uint8, T.bool, T.float32, T.int64, T.float64, T.complex64), unless(RuntimeError)(seen)
n = [(T.ones(8, dtype=a)._neg_view(), b) for a in d for b in d if a not in (b, T.bool)]
[(t.dtype, b) for t, b in n if seen(t, b) or not seen(t._neg_view().detach().clone(), b)] -> []
[b for b in d[:-1] if seen(T.ones(8, dtype=T.complex64).conj(), b)] -> []
"""

#: calls_of_written_views: gradients of what was written through a view
calls_of_written_views = """
x = T.ones(5).requires_grad_()
t = T.ones(6)[1:].detach()
t.mul_(x)._base, t.storage_offset(), t[0:2].mul_(3).tolist() -> None, 1, [3.0, 3.0]
T.autograd.grad(t.sum(), x)[0].tolist() -> [3.0, 3.0, 1.0, 1.0, 1.0]
t = T.ones(2, 6).narrow(1, 2, 2).detach()
t.mul_(x.narrow(0, 0, 2)) is t, t[1].mul_(3).tolist() -> True, [3.0, 3.0]
t.t()[0].mul_(5).tolist() -> [5.0, 15.0]
T.autograd.grad(t.sum(), x)[0].tolist() -> [20.0, 4.0, 0.0, 0.0, 0.0]
"""

#: calls_of_bits: numbers that are read conjugated or negated
calls_of_bits = """
c = T.tensor([1 + 2j, 3 - 4j])
d, n = c.conj(), c._neg_view()
d.tolist(), d.is_conj(), d.is_neg(), d._base is c -> [(1-2j), (3+4j)], True, False, True
n.tolist(), n.is_conj(), n.is_neg(), n._base is c -> [(-1-2j), (-3+4j)], False, True, True
d.conj().is_conj(), d.conj().tolist() == c.tolist(), n._neg_view().is_neg() -> False, True, False
d._neg_view().tolist(), d._neg_view().is_conj() -> [(-1+2j), (-3-4j)], True
n.conj().is_neg() -> True
c.is_conj(), c.is_neg(), T.ones(1).is_conj() -> False, False, False
r = d.resolve_conj()
r.is_conj(), r.tolist() == d.tolist(), r is d, r._base -> False, True, False, None
r.data_ptr() == c.data_ptr() -> False
c.resolve_conj() is c, c.resolve_neg() is c, n.resolve_conj() is n -> True, True, True
n.resolve_neg().is_neg(), n.resolve_neg().tolist() == n.tolist() -> False, True
d.resolve_neg() is d -> True
f = T.ones(2)
f.conj() is f, f._neg_view().tolist(), f._neg_view()._base is f -> True, [-1.0, -1.0], True
d.clone().is_conj(), d.clone().tolist() == d.tolist(), d[1:].is_conj() -> False, True, True
d[1].item() -> 3+4j
d.fill_(1j).tolist(), c.tolist() == [-1j, -1j], n.tolist() == [1j, 1j] -> [1j, 1j], True, True
n.fill_(2).tolist(), c.tolist() == [-2, -2] -> [(2+0j), (2+0j)], True
d.add(1j).tolist(), d.mul(1j).tolist(), d.sum().item() -> [(-2+1j), (-2+1j)], [-2j, -2j], (-4-0j)
f._neg_view().copy_(T.tensor([5.0, 6.0])).tolist(), f.tolist() -> [5.0, 6.0], [-5.0, -6.0]
f._neg_view().detach().is_neg(), f._neg_view().data.is_neg() -> True, True
"""

#: check_view_calls [slotcore]: the calls that make views (P9)
#> check_view_calls: checks
def check_view_calls():
    with T.enable_grad():
        for text in (calls_of_views, calls_of_strides, calls_of_indices,
                     calls_of_bytes_as_numbers, calls_of_written_views, calls_of_bits,
                     calls_of_bits_as_bytes, calls_of_no_elements, calls_of_strides_of_results,
                     calls_of_every_slice):
            assert_calls("P9", text)
    ask_pairs(pairs_of_each_view)
