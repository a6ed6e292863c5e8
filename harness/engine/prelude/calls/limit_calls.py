"""What calls give at limits: sizes of 0, bytes that are gone, numbers that are not exact."""

#: calls_of_shrunk_storages: elements that the storage no longer has, on each device (M15)
calls_of_shrunk_storages = """
def half(t): t.untyped_storage().resize_(t.nbytes // 2); return t
c, m = half(T.ones(2, 2)), half(T.ones(2, 2, device='meta'))
c[0].tolist(), m[0].shape, c.view(-1).shape, m.detach().shape -> [1.0, 1.0], (2,), (4,), (2, 2)
c.t() -> RuntimeError
m.t() -> RuntimeError
c.expand(3, 2, 2) -> RuntimeError
m.expand(3, 2, 2) -> RuntimeError
c[1:] -> RuntimeError
m[1:] -> RuntimeError
c[1] -> RuntimeError
m[1] -> RuntimeError
c[1:] = 3 -> RuntimeError
c.as_strided((4,), (1,)) -> RuntimeError
m.as_strided((4,), (1,)) -> RuntimeError
m.clone() -> RuntimeError
m.sum() -> RuntimeError
m.relu() -> RuntimeError
m.relu_() -> RuntimeError
m.add(1) -> RuntimeError
m == m -> RuntimeError
m.zero_() -> RuntimeError
m.mul_(2) -> RuntimeError
m.add_(m) -> RuntimeError
m.copy_(T.ones(2, 2)) -> RuntimeError
def full(): return T.ones(2, 2, device='meta')
full().add(m) -> RuntimeError
full().mul_(m) -> RuntimeError
full().copy_(m) -> RuntimeError
full() != m -> RuntimeError
c.relu() -> RuntimeError
c.relu_() -> RuntimeError
c.fill_(7) -> RuntimeError
T.ones(2, 2).mul_(c) -> RuntimeError
c[0].tolist(), c._version, m._version -> [1.0, 1.0], 0, 0
"""

#: calls_of_numbers_on_meta: numbers and types that a tensor refuses, also without bytes (M15)
calls_of_numbers_on_meta = """
def on(d, size=2): return T.ones(size, dtype=d, device='meta')
on(T.float32).fill_(1e300) -> RuntimeError
on(T.int64).fill_(float('nan')) -> RuntimeError
on(T.uint8).fill_(256) -> RuntimeError
on(T.uint8)[0] = -256 -> RuntimeError
on(T.float32)[:1] = 1j -> RuntimeError
on(T.int64).add_(1.5) -> RuntimeError
on(T.complex64).relu() -> RuntimeError
on(T.bool).relu_() -> RuntimeError
on(T.bool)._neg_view().clone() -> RuntimeError
on(T.bool, 0)._neg_view().clone().shape -> (0,)
on(T.float32).copy_(on(T.float32, 3)) -> RuntimeError
m, z = on(T.float32), on(T.float32, ())
T.ones(()).add(m).is_meta, m.add(T.ones(())).is_meta, z.mul(T.ones(())).is_meta -> True, True, True
T.ones(()).mul(z).is_meta, (T.ones(()) == m).is_meta, (2 * m).is_meta -> True, True, True
T.ones(2).add(z) -> RuntimeError
z.add(T.ones(2)) -> RuntimeError
m.set_() is m, m.shape, m.is_meta, m.untyped_storage().nbytes() -> True, (0,), True, 0
b = on(T.uint8, 16)
f = T.empty(0, device='meta').set_(b.untyped_storage())
f[1:3].copy_(b[0:2]) is not None, f[:1].copy_(b[4:5]) is not None -> True, True
f[1:3].copy_(b[3:5]) -> RuntimeError
f[1:3].copy_(b[11:13]) -> RuntimeError
b[4:6].copy_(f[0:2]) -> RuntimeError
b[2:4].copy_(f[0:2]) -> RuntimeError
b[8:10].copy_(f[0:2]).shape -> (2,)
b = T.zeros(16, dtype=T.uint8)
f = T.empty(0).set_(b.untyped_storage())
f[1:3].copy_(b[0:2]).tolist(), f[:1].copy_(b[4:5]).tolist() -> [0.0, 0.0], [0.0]
f[1:3].copy_(b[3:5]) -> RuntimeError
f[1:3].copy_(b[11:13]) -> RuntimeError
b[4:6].copy_(f[0:2]) -> RuntimeError
b[2:4].copy_(f[0:2]) -> RuntimeError
b[8:10].copy_(f[0:2]).tolist() -> [0, 0]
"""

#: calls_of_shared_bytes: a write reads what was there before it, whatever shares the bytes (P9)
calls_of_shared_bytes = """
v = T.tensor([[1.0, 2.0, 0.0], [3.0, 4.0, 0.0]]).narrow(1, 0, 2)
def beside(t): return T.empty(0).set_(t.untyped_storage()[:], 0, t.size(), t.stride())
w = beside(v)
v.copy_(w.t()).tolist(), w.tolist() -> [[1.0, 3.0], [2.0, 4.0]], [[1.0, 3.0], [2.0, 4.0]]
w.add_(v.t()).tolist(), v.copy_(w).tolist() -> [[2.0, 5.0], [5.0, 8.0]], [[2.0, 5.0], [5.0, 8.0]]
s = T.UntypedStorage(48)
def over(d): return T.empty(0, dtype=d).set_(s, 0, (3,), (2,))
over(T.float32).copy_(T.tensor([1.0, 2.0, 3.0])).tolist() -> [1.0, 2.0, 3.0]
over(T.complex64).copy_(over(T.float32)).tolist() -> [(1+0j), (2+0j), (3+0j)]
over(T.float32).copy_(over(T.complex64)).tolist() -> [1.0, 2.0, 3.0]
over(T.float64).copy_(over(T.int64).fill_(7)).tolist() -> [7.0, 7.0, 7.0]
"""

#: calls_of_exact_numbers: numbers that a detour through another type would change (P9)
calls_of_exact_numbers = """
a, b, n = (1 << 62) + 1, 1 << 62, float('nan')
i, j, x = T.tensor([a]), T.tensor([b]), T.tensor([n, -0.0, 1.0])
(i == j).tolist(), (i != j).tolist() -> [False], [True]
(i == b).tolist(), (i != a).tolist() -> [False], [False]
i.item() == a, i.clone().item() == a -> True, True
T.zeros(1, dtype=T.int64).copy_(i).item() == a -> True
i.mul(1).item() == a, i.add(-1).item() == b, T.tensor([a, -b]).sum().item() -> True, True, 1
int(i) == a, [*range(3)][T.tensor([[1]])], i.relu().item() == a -> True, 1, True
(x == x).tolist(), (x != x).tolist(), bool(x[0]) -> [False, True, True], [True, False, False], True
x.relu().tolist(), x.clone().relu_().tolist() -> [n, -0.0, 1.0], [n, -0.0, 1.0]
x._neg_view().relu().tolist() -> [n, 0.0, 0.0]
T.zeros(3, dtype=T.bool).copy_(x).tolist(), T.tensor([n]).sum().item() -> [True, False, True], n
T.zeros(2, dtype=T.bool).copy_(T.tensor([1j, 0j])).tolist() -> [True, False]
(T.tensor([1j, 1 + 1j]) == 1j).tolist() -> [True, False]
(T.tensor([1j]) == T.tensor([0.0])).tolist() -> [False]
T.tensor([complex(-0.0, -0.0)]).add(complex(-0.0, -0.0)).item() -> complex(0, -0.0)
T.tensor([-1 + 2j, -1.0]).tolist(), T.tensor([-1, True]).tolist() -> [(-1+2j), (-1+0j)], [-1, 1]
T.tensor(complex(-1, -1)).item(), T.tensor([-1.0], dtype=T.complex64).item() -> -1-1j, -1+0j
T.zeros(1, dtype=T.uint8).fill_(-255).item(), T.tensor([-255], dtype=T.uint8).item() -> 1, 1
[*range(3)][T.ones(2, dtype=T.int64)] -> TypeError
[*range(3)][T.ones(1)] -> TypeError
[*range(3)][T.tensor(True)] -> 1
u = T.ones((), dtype=T.uint8)
u[...] = T.tensor(300)
u.item(), u._version, u.fill_(T.tensor(7)).item() -> 44, 1, 7
u.fill_(300) -> RuntimeError
T.zeros(2, dtype=T.uint8)[0:1].copy_(T.tensor(300)).tolist() -> [44]
"""

#: calls_of_no_elements: sizes of 0, and of 1 beside them (P8, P9)
calls_of_no_elements = """
T.ones(0, -1) -> RuntimeError
T.empty(0, 3, -1) -> RuntimeError
T.Tensor(0, -1) -> RuntimeError
T.ones(0).resize_(0, -1) -> RuntimeError
T.ones(0).as_strided((0, -1), (1, 1)) -> RuntimeError
T.ones(0).set_(T.UntypedStorage(0), 0, (0, -1), (1, 1)) -> RuntimeError
T.ones(0).view(0, -2) -> RuntimeError
T.ones(0, 1).expand(0, -2) -> RuntimeError
T.ones(1).add(T.ones(0)).shape, T.ones(0).mul(T.ones(1)).shape -> (0,), (0,)
T.ones(0).add_(T.ones(1)).shape -> (0,)
T.ones(0, 1).add(T.ones(3)).shape, T.ones(3, 1).add(T.ones(0)).shape -> (0, 3), (3, 0)
T.ones(0).add(T.ones(2)) -> RuntimeError
T.ones(1).add_(T.ones(0)) -> RuntimeError
e = T.ones(0, 3).t()
e.view(3, 0).stride(), e.view(3, -1, 0) -> RuntimeError
e.view(3, 0).stride(), e.view(0, 3).stride() -> (1, 3), (3, 1)
e.clone().stride(), e.relu().stride() -> (1, 3), (1, 1)
e.add(T.ones(3, 1)).stride(), e.data_ptr() -> (1, 3), 0
e.sum().item(), e.is_contiguous() -> 0.0, True
z = T.ones(2, 0, 3).transpose(0, 2)
z.add(T.ones(3, 1, 1)).stride(), z.stride(), z.nonzero().shape -> (1, 3, 0), (1, 3, 3), (0, 3)
T.tensor([[], [1]]) -> ValueError
T.tensor([[], 1]) -> ValueError
T.tensor([[1], []]) -> ValueError
T.tensor([[[]], [[], []]]) -> ValueError
T.tensor([], dtype=T.int64).dtype, T.tensor([[[]]]).shape -> T.int64, (1, 1, 0)
T.tensor(((), ())).shape -> (2, 0)
T.zeros(0, dtype=T.bool)._neg_view().tolist() -> []
T.zeros(0, dtype=T.bool)._neg_view().sum().item() -> 0
"""

#: calls_of_strides_of_results: the order of elements in what is computed (P9, M4)
calls_of_strides_of_results = """
t, u = T.ones(2, 3).t(), T.ones(1, 2, 3)[...]
t.relu().stride(), t.clone().stride() -> (1, 3), (1, 3)
(t == t).stride(), t.mul(2).stride() -> (1, 3), (1, 3)
def by(sizes, strides): return T.ones(40).as_strided(sizes, strides).clone().stride()
by((1, 2, 2), (3, 3, 2)), by((2, 1, 2), (3, 3, 2)) -> (2, 2, 1), (2, 2, 1)
by((2, 2), (1, 1)), by((3, 2), (1, 1)) -> (2, 1), (2, 1)
by((2, 3), (1, 1)), by((2, 3), (4, 2)) -> (1, 2), (3, 1)
by((2, 2, 2), (0, 2, 8)), by((2, 2), (2, 0)) -> (4, 1, 2), (2, 1)
by((2, 1, 3), (1, 9, 2)) -> (1, 9, 2)
T.ones(20).as_strided((2, 2), (1, 1)).add_(1) -> RuntimeError
T.ones(20).as_strided((3, 2), (1, 2)).mul_(2) -> RuntimeError
T.ones(20).as_strided((2, 2), (1, 1)).copy_(T.ones(2, 2)) -> RuntimeError
T.ones(20).as_strided((2, 2), (2, 1)).relu_().stride() -> (2, 1)
T.ones(2, 2).transpose(5, 5) -> IndexError
T.ones(2, 2).transpose(-3, -3) -> IndexError
T.ones(()).transpose(1, 1) -> IndexError
T.ones(3).narrow(0, 0, 2)._neg_view().view(T.uint8) -> RuntimeError
T.ones(2, dtype=T.complex64)._neg_view().view(T.float32) -> RuntimeError
c = T.tensor([1 + 2j])
r = T.view_as_real(c._neg_view())
r.tolist(), r.is_neg() -> [[-1.0, -2.0]], True
r._base is c, c._neg_view().resolve_conj().is_neg() -> True, True
n = c._neg_view()
n.resolve_conj() is n, n.conj().resolve_neg().is_conj() -> True, False
n.conj().resolve_conj().tolist() -> [(-1+2j)]
n.is_set_to(c), c.is_set_to(n) -> False, False
n.is_set_to(n), n.is_set_to(c._neg_view()) -> False, False
"""

#: calls_of_every_slice: each start, stop and step gives what it gives of a list (P9)
calls_of_every_slice = """
import itertools
some = None, -6, -5, -1, 0, 1, 4, 5
l, a = [5, 6, 7, 8, 9], list(itertools.product(some, some, (None, 1, 2, 9)))
t, s, b = T.tensor(l), T.UntypedStorage(l), [c for c in a if c[2] == 1]
[c for c in a if t[slice(*c)].tolist() != l[slice(*c)]] -> []
[c for c in a if t[1::2][slice(*c)].tolist() != l[1::2][slice(*c)]] -> []
[c for c in b for i in (0, 1) if s[i:][slice(*c)].tolist() != l[i:][slice(*c)]] -> []
def put(to, c): to[slice(*c)] = 1; return to.tolist()
def model(c): k = l[:]; k[slice(*c)] = [1] * len(k[slice(*c)]); return k
[c for c in a if put(T.tensor(l), c) != model(c)] -> []
[c for c in b if put(T.UntypedStorage(l), c) != model(c)] -> []
def narrow(i, n): return t.narrow(0, i, n).tolist() == l[i % 5 if i < 5 else 5:][:n]
[i for i in range(-5, 6) for n in range(6 - (i % 5 if i < 5 else 5)) if not narrow(i, n)] -> []
"""
