"""What arithmetic gives: numbers, types, layouts of results, and errors."""

#: calls_of_arithmetic: sums, products and comparisons
calls_of_arithmetic = """
t = T.tensor([1.0, 2.0])
t.add(1).tolist(), (1 + t).tolist(), (t + t).tolist() -> [2.0, 3.0], [2.0, 3.0], [2.0, 4.0]
t.mul(3).tolist() -> [3.0, 6.0]
(t * T.tensor([[2.0], [3.0]])).tolist(), (2 * t).tolist() -> [[2.0, 4.0], [3.0, 6.0]], [2.0, 4.0]
t._version -> 0
t.sum().item(), t.sum().shape, T.ones(0).sum().item() -> 3.0, (), 0.0
T.ones(3, dtype=T.bool).sum().item() -> 3
T.ones(2, dtype=T.uint8).sum().dtype, T.ones(2, dtype=T.float64).sum().dtype -> T.int64, T.float64
T.tensor([1j, 2]).sum().item(), T.tensor([[1, 2], [3, 4]]).t().sum().item() -> (2+1j), 10
u = t
u += 1
u *= T.tensor(2.0)
u is t, t.tolist(), t._version -> True, [4.0, 6.0], 2
t.add_(t) is t, t.mul_(2) is t, t.tolist(), t._version -> True, True, [16.0, 24.0], 4
t.add_(T.tensor([[1.0]])) -> RuntimeError
t.add_(T.ones(1)).tolist(), t.mul_(T.ones(())).tolist() -> [17.0, 25.0], [17.0, 25.0]
T.tensor([(1 << 63) - 1]).add(1).tolist() -> [-9223372036854775808]
T.ones(1, dtype=T.uint8).add(300).tolist() -> [45]
T.tensor([200], dtype=T.uint8).mul(2).tolist(), T.tensor([1j]).mul(1j).tolist() -> [144], [(-1+0j)]
T.tensor([True, False]).add(True).tolist() -> [True, True]
T.tensor([True, False]).mul(True).tolist() -> [True, False]
t.relu() is t, T.tensor([-1.0, 0.0, 2.0]).relu().tolist() -> False, [0.0, 0.0, 2.0]
T.tensor([-1, 2]).relu().tolist() -> [0, 2]
r = T.tensor([-1.0, 2.0])
r.relu_() is r, r.tolist(), r._version -> True, [0.0, 2.0], 1
T.tensor([-1.0]).expand(2).relu_() -> RuntimeError
T.tensor([1j]).relu() -> RuntimeError
T.ones(1, dtype=T.bool).relu() -> RuntimeError
(t == t).tolist(), (t == t).dtype -> [True, True], T.bool
(t == T.tensor([17.0, 1.0])).tolist() -> [True, False]
(t != 17).tolist(), (25 == t).tolist() -> [False, True], [False, True]
(t == T.tensor([17, 25])).tolist() -> [True, True]
(t == None), (t == 'x'), (t != [1]), t.__eq__(None) -> False, False, True, NotImplemented
t < t -> TypeError
t == T.ones(3) -> RuntimeError
hash(t) == id(t), {t: 1}[t] -> True, 1
t + None -> TypeError
t.add('x') -> TypeError
t.mul(None) -> TypeError
t.add(T.ones(3)) -> RuntimeError
t.add(1 << 70) -> RuntimeError
t.add_('x') -> TypeError
t.add_(1j) -> RuntimeError
t.add_(T.ones(2, 2)) -> RuntimeError
T.ones(1, dtype=T.int64).add_(1.5) -> RuntimeError
T.ones(1, dtype=T.bool).mul_(2) -> RuntimeError
T.ones(1, dtype=T.uint8).add_(T.ones(1, dtype=T.int64)).dtype -> T.uint8
t.add(T.ones(2, device='meta')) -> RuntimeError
t.add_(T.ones((), device='meta')) -> RuntimeError
T.ones(2, device='meta').add(T.ones(())).is_meta -> True
T.ones(2, device='meta').mul(2).is_meta -> True
t.tolist(), t._version -> [17.0, 25.0], 6
"""

#: calls_of_types: the types of results
calls_of_types = """
def both(a, b): return T.ones(2, dtype=a).add(T.ones(2, dtype=b)).dtype
both(T.bool, T.uint8), both(T.uint8, T.int64) -> T.uint8, T.int64
both(T.int64, T.float32) -> T.float32
both(T.float64, T.float32), both(T.complex64, T.float32) -> T.float64, T.complex64
both(T.bool, T.bool) -> T.bool
both(T.float64, T.complex64) -> RuntimeError
def beside(a, number): return T.ones(2, dtype=a).mul(number).dtype
beside(T.bool, 1), beside(T.uint8, 1), beside(T.int64, 1.5) -> T.int64, T.uint8, T.float32
beside(T.float64, 1.5) -> T.float64
beside(T.float32, 1j), beside(T.bool, True), beside(T.uint8, True) -> T.complex64, T.bool, T.uint8
beside(T.float32, 1) -> T.float32
T.ones(2, dtype=T.uint8).add(T.tensor(1)).dtype -> T.uint8
T.ones((), dtype=T.uint8).add(T.tensor(1)).dtype -> T.int64
T.ones(2).add(T.ones((), dtype=T.float64)).dtype -> T.float32
T.ones(()).add(T.ones((), dtype=T.float64)).dtype -> T.float64
T.ones((), dtype=T.int64).add(1.5).dtype -> T.float32
T.ones(2, dtype=T.int64).add(T.ones(())).dtype -> T.float32
"""

#: calls_of_writes: copies, fills, conversions, and memory that overlaps
calls_of_writes = """
t = T.zeros(2, 2)
t.copy_(T.tensor([1, 2])) is t, t.tolist() -> True, [[1.0, 2.0], [1.0, 2.0]]
t.copy_(t)._version, t.copy_(3).tolist() -> 2, [[3.0, 3.0], [3.0, 3.0]]
t.copy_(T.tensor([[5.0, 6.0], [7.0, 8.0]]).t()).tolist() -> [[5.0, 7.0], [6.0, 8.0]]
t.copy_(t.t()) -> RuntimeError
v = T.tensor([[1.0, 2.0, 0.0], [3.0, 4.0, 0.0]]).narrow(1, 0, 2)
v.copy_(v.t()).tolist() -> [[1.0, 3.0], [2.0, 4.0]]
v.add_(v.t()).tolist() -> [[2.0, 5.0], [5.0, 8.0]]
u = T.ones(4)
u[1:].add_(u[3:]) -> RuntimeError
u[:3].add_(u[:1]) -> RuntimeError
c = t.t().clone()
c.stride(), c._base, c._version, c.tolist() -> (1, 2), None, 0, [[5.0, 6.0], [7.0, 8.0]]
c.data_ptr() == t.data_ptr() -> False
t.expand(2, 2, 2).clone().stride(), t.as_strided((2,), (2,)).clone().stride() -> (4, 2, 1), (1,)
t.t().add(1).stride(), t.add(t.t()).stride(), t.t().mul(t.t()).stride() -> (1, 2), (2, 1), (1, 2)
t.t().add(T.ones(2)).stride(), T.ones(2).add(t.t()).stride() -> (1, 2), (1, 2)
t[:1].add(t).stride() -> (2, 1)
t.zero_() is t, t.fill_(2.5) is t, t.tolist() -> True, True, [[2.5, 2.5], [2.5, 2.5]]
t.fill_(T.tensor(1)).tolist() -> [[1.0, 1.0], [1.0, 1.0]]
t._version -> 7
T.zeros(2, dtype=T.bool).copy_(T.tensor([0.5, 0.0])).tolist() -> [True, False]
T.zeros(1, dtype=T.uint8).copy_(T.tensor([-1.5])).tolist() -> [255]
T.zeros(1, dtype=T.int64).copy_(T.tensor([1e30])).item() -> -9223372036854775808
T.zeros(1).copy_(T.tensor([2 + 3j])).item() -> 2.0
T.zeros(1, dtype=T.complex64).copy_(T.tensor([2])).item() -> 2+0j
T.zeros(1).fill_(True).item() -> 1.0
T.zeros(1).fill_(1e300) -> RuntimeError
z = T.zeros(1, dtype=T.complex64)
z.fill_(-1e300) -> RuntimeError
z.fill_(complex(0, 1e300)) -> RuntimeError
z[0] = 1e300j -> RuntimeError
z.item(), z.fill_(float('-inf')).item() -> 0j, complex(float('-inf'), 0)
T.zeros(1, dtype=T.int64).fill_((1 << 62) + 1).item() -> 4611686018427387905
T.zeros(1, dtype=T.uint8).fill_(-1).item() -> 255
T.zeros(1, dtype=T.int64).fill_(2.7).item(), T.zeros(1).fill_(2 + 0j).item() -> 2, 2.0
T.zeros(1, dtype=T.int64).fill_(1e30) -> RuntimeError
T.zeros(1, dtype=T.uint8).fill_(256) -> RuntimeError
T.zeros(1, dtype=T.uint8).fill_(-256) -> RuntimeError
t.fill_(1e300) -> RuntimeError
t.fill_(1j) -> RuntimeError
t.fill_(float('inf')).tolist()[0][0] -> float('inf')
t.fill_(1 << 70) -> RuntimeError
t.fill_('x') -> TypeError
t.fill_(None) -> TypeError
t.fill_(T.ones(1)) -> RuntimeError
f = T.tensor([3.0, 1.0])
f[0:1] = f[0]
f.tolist(), f.fill_(f[1]).tolist(), f._version -> [3.0, 1.0], [1.0, 1.0], 2
f[0:1].copy_(f[0]) -> RuntimeError
t.copy_('x') -> TypeError
t.copy_(T.ones(3)) -> RuntimeError
t.copy_(T.ones(1, 2, 2)) -> RuntimeError
t.copy_(T.ones(2, 2, device='meta')) -> NotImplementedError
t._version -> 8
v = T.tensor([1.0, 2.0, 3.0, 4.0])
v[1:].add_(v[:3]) -> RuntimeError
v[1:].copy_(v[:3]) -> RuntimeError
v.add_(v[0]) -> RuntimeError
v[:2].copy_(v[2:]).tolist(), v[::2].add_(v[1::2]).tolist() -> [3.0, 4.0], [7.0, 7.0]
v.tolist() -> [7.0, 4.0, 7.0, 4.0]
v.expand(2, 4).add_(1) -> RuntimeError
v.expand(2, 4).copy_(T.ones(4)) -> RuntimeError
v.expand(1, 4).add_(1).tolist() -> [[8.0, 5.0, 8.0, 5.0]]
v[:1].expand(3).fill_(9).tolist(), v.tolist() -> [9.0, 9.0, 9.0], [9.0, 5.0, 8.0, 5.0]
i = T.ones(2, 3, 4).nonzero()
i[4].tolist(), i[23].tolist() -> [0, 1, 0], [1, 2, 3]
w = T.tensor([3 - 1j]).requires_grad_()
T.autograd.grad(w * T.tensor([1 + 2j]).conj(), w, T.tensor([1 + 0j]))[0].tolist() -> [(1+2j)]
w = v.as_strided((2, 2), (1, 2))
w.add_(v.as_strided((2, 2), (1, 2))).tolist() -> [[18.0, 16.0], [10.0, 10.0]]
v.as_strided((2, 2), (1, 2)).add_(v.as_strided((2, 2), (2, 1))) -> RuntimeError
T.ones(2, device='meta').copy_(T.ones(2)).is_meta -> True
T.ones(2, device='meta').zero_().is_meta -> True
q = T.tensor([1.0, 2.0, 3.0, 4.0])
q[::2].add_(q[:2]).tolist(), q.tolist() -> [2.0, 5.0], [2.0, 2.0, 5.0, 4.0]
q[:2].add_(q[::2]).tolist(), q.tolist() -> [4.0, 7.0], [4.0, 7.0, 5.0, 4.0]
q[:2].add_(q[:2]).tolist(), q[:2].copy_(q[2:]).tolist(), q._version -> [8.0, 14.0], [5.0, 4.0], 4
w = T.ones(4)
w.untyped_storage().resize_(4).nbytes(), w.numel() -> 4, 4
w.tolist() -> RuntimeError
w.zero_() -> RuntimeError
w.clone() -> RuntimeError
w.sum() -> RuntimeError
w.add(1) -> RuntimeError
w == w -> RuntimeError
T.ones(4).copy_(w) -> RuntimeError
w.narrow(0, 0, 1).tolist(), w.select(0, 0).item() -> [1.0], 1.0
w.narrow(0, 1, 1) -> RuntimeError
w.resize_(2).tolist() -> [1.0, 0.0]
"""

#: calls_of_numbers: elements as numbers of Python
calls_of_numbers = """
t = T.tensor([[1.5]])
t.item(), float(t), int(t), bool(t), complex(t), t.tolist() -> 1.5, 1.5, 1, True, (1.5+0j), [[1.5]]
T.tensor(2j).__complex__(), complex(T.tensor(2)), float(T.tensor(2 + 0j)) -> 2j, 2+0j, 2.0
int(T.tensor(True)) -> 1
bool(T.tensor(0.0)), bool(T.tensor(0j)), bool(T.tensor(1j)) -> False, False, True
bool(T.zeros(1, 1)) -> False
float(T.tensor(-1.0)), int(T.tensor(-1)), complex(T.tensor(-1.0)) -> -1.0, -1, -1+0j
T.tensor(-1.0).item() -> -1.0
float(T.tensor(1j)) -> RuntimeError
float(T.tensor(1 - 1j)) -> RuntimeError
int(T.tensor(2 - 1j)) -> RuntimeError
int(T.tensor(3 + 1j)) -> RuntimeError
int(T.tensor(3 - 0j)), float(T.tensor(complex(-2, 0))) -> 3, -2.0
int(T.tensor(1j)) -> RuntimeError
T.ones(2).item() -> RuntimeError
T.ones(0).item() -> RuntimeError
float(T.ones(2)) -> RuntimeError
bool(T.ones(2)) -> RuntimeError
bool(T.ones(0)) -> RuntimeError
complex(T.ones(2)) -> RuntimeError
T.ones(2, device='meta').sum().item() -> NotImplementedError
T.tensor([-1], dtype=T.int64)._neg_view().item() -> 1
T.tensor([5], dtype=T.uint8)._neg_view().item() -> 251
T.ones(1, dtype=T.bool)._neg_view().item() -> RuntimeError
"""

#: calls_of_made_from_data: T.tensor(data), whose dtype is the data's
calls_of_made_from_data = """
x = T.tensor([[1.5], [2.0]]).requires_grad_()
class Index: __index__ = lambda self: 3
class Float: __float__ = lambda self: 2.5
class Right: __radd__, __rmul__ = lambda self, other: 'radd', lambda self, other: 'rmul'
one = x[0][0]
T.tensor(one).item(), T.tensor([one]).tolist() -> 1.5, [1.5]
T.tensor([T.tensor(True)]).dtype, T.tensor([T.tensor(True), 2]).dtype -> T.bool, T.int64
T.tensor([one, 1]).tolist() -> [1.5, 1.0]
T.tensor([T.ones(1, dtype=T.float64)]).dtype -> T.float64
c = T.tensor(x)
c.tolist(), c.requires_grad, c.grad_fn, c._base -> [[1.5], [2.0]], False, None, None
c.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() -> False
T.tensor(x, dtype=T.int64).tolist(), T.tensor(x.detach().t()).shape -> [[1], [2]], (1, 2)
T.tensor(Index()).item(), T.tensor([Index(), 1.5]).tolist() -> 3, [3.0, 1.5]
T.tensor(Float()) -> TypeError('no dtype was given, and Float does not decide it')
T.tensor([1, Float()]) -> TypeError
T.tensor([Float()], dtype=T.float64).tolist() -> [2.5]
d = e = c = T.ones(1)
d += Right()
e *= Right()
d, e, c.__iadd__('x'), c.__imul__(None) -> 'radd', 'rmul', NotImplemented, NotImplemented
c.tolist(), c._version -> [1.0], 0
c.add_(Right()) -> TypeError('add_: expected a Tensor or a number, got Right')
"""

#: check_number_calls [slotcore]: the calls of arithmetic (P9)
#> check_number_calls: checks
def check_number_calls():
    with T.enable_grad():
        for text in (calls_of_arithmetic, calls_of_types, calls_of_writes, calls_of_numbers,
                     calls_of_exact_numbers, calls_of_shared_bytes, calls_of_shrunk_storages,
                     calls_of_numbers_on_meta, calls_of_made_from_data):
            assert_calls("P9", text)
    for pairs in (pairs_of_each_type, pairs_of_every_layout, pairs_of_parts_of_each_other):
        ask_pairs(pairs)
