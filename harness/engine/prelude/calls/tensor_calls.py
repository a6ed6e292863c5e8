"""What calls on tensors give: making them, their layouts, and what gives them other bytes."""

#: calls_of_factories: what makes tensors from values
calls_of_factories = """
T.ones(2, 3).tolist(), T.ones(2).dtype -> [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], T.float32
T.ones(()).item(), T.ones([2, 1]).shape, T.ones((3,)).shape -> 1.0, (2, 1), (3,)
T.ones(0).tolist() -> []
T.zeros(2, dtype=T.int64).tolist(), T.empty(2, dtype=T.bool).tolist() -> [0, 0], [False, False]
[T.ones(1, dtype=d).item() for d in (T.float64, T.int64, T.uint8, T.bool)] -> [1.0, 1, 1, True]
T.ones(1, dtype=T.complex64).item() -> (1+0j)
[d.itemsize for d in (T.float32, T.float64, T.int64, T.uint8, T.bool)] -> [4, 8, 8, 1, 1]
T.complex64.itemsize, repr(T.complex64), type(T.uint8) is T.dtype -> 8, 'slotcore.complex64', True
T.dtype() -> TypeError
T.ones() -> TypeError
T.ones(-1) -> RuntimeError
T.ones(2, -1) -> RuntimeError
T.ones(1 << 40, 1 << 40) -> RuntimeError
T.ones(1 << 61) -> RuntimeError
T.ones(1 << 80) -> OverflowError
T.ones(1.5) -> TypeError
T.ones('x') -> TypeError
T.ones(*[1] * 8).dim() -> 8
T.ones(*[1] * 9) -> RuntimeError
T.ones(1, dtype=int) -> TypeError
T.ones(1, dtype=None) -> TypeError
T.ones(1, device='nowhere') -> RuntimeError
T.ones(1, device=3) -> TypeError
T.ones(1, other=3) -> TypeError
T.ones(1, device='cpu').is_meta, T.ones(1, device=None).is_meta -> False, False
m = T.ones(2, dtype=T.uint8, device='meta')
m.is_meta, str(m.device), m.dtype, m.shape, m.data_ptr() -> True, 'meta', T.uint8, (2,), 0
m.item() -> RuntimeError
m.tolist() -> NotImplementedError
T.ones(1, device=T.device('meta')).is_meta, T.device('meta') is m.device -> True, True
repr(m.device), m.device.type, m.device.index -> "device(type='meta')", 'meta', None
T.device('x') -> RuntimeError
T.device(3) -> TypeError
T.device() -> TypeError
T.tensor(3).item(), T.tensor(True).item(), T.tensor(1.5).item() -> 3, True, 1.5
T.tensor(2j).item() -> 2j
T.tensor([[1, 2], [3, 4]]).tolist(), T.tensor([[], []]).shape -> [[1, 2], [3, 4]], (2, 0)
[T.tensor(d).dtype for d in ([True], [True, 2], [2, 1.5])] -> [T.bool, T.int64, T.float32]
[T.tensor(d).dtype for d in ([1.5, 1j], [])] -> [T.complex64, T.float32]
T.tensor((1, (2, 3)[0])).tolist(), T.tensor(((1, 2),)).shape -> [1, 2], (1, 2)
T.tensor([1, 2], dtype=T.float64).tolist() -> [1.0, 2.0]
T.tensor([1.5], dtype=T.int64).tolist() -> [1]
T.tensor([-1, 255], dtype=T.uint8).tolist() -> [255, 255]
T.tensor([0.5, 0], dtype=T.bool).tolist() -> [True, False]
T.tensor([256], dtype=T.uint8) -> RuntimeError
T.tensor([-256], dtype=T.uint8) -> RuntimeError
T.tensor([1 << 63]) -> RuntimeError
T.tensor([(1 << 63) - 1, -1 << 63]).tolist() -> [9223372036854775807, -9223372036854775808]
T.tensor([1j], dtype=T.float32) -> TypeError
T.tensor([[1], [1, 2]]) -> ValueError
T.tensor([[1, 2], 3]) -> ValueError
T.tensor([1, [2]]) -> ValueError
T.tensor('ab') -> TypeError
T.tensor(['a']) -> TypeError
T.tensor([None]) -> TypeError
T.tensor() -> TypeError
T.tensor([1], dtype=3) -> TypeError
T.tensor([1], dtype=None).dtype -> T.int64
T.Tensor([1, 2]).tolist(), T.Tensor(2, 3).shape, T.Tensor().shape -> [1.0, 2.0], (2, 3), (0,)
T.Tensor((1, 2)).shape -> (2,)
T.Tensor(m).is_meta, T.Tensor(m)._base is m -> True, True
T.Tensor('x') -> TypeError
T.Tensor(2, dtype=T.uint8) -> TypeError
T.TensorBase() -> TypeError
"""

#: calls_of_layouts: sizes, strides and places
calls_of_layouts = """
t = T.ones(2, 3, dtype=T.float64)
t.size(), t.shape, t.stride(), t.storage_offset(), t.dim() -> (2, 3), (2, 3), (3, 1), 0, 2
t.numel() -> 6
t.size(0), t.size(1), t.size(-1), t.size(-2), len(t) -> 2, 3, 3, 2, 2
t.element_size(), t.nbytes, t.dtype, t.is_contiguous() -> 8, 48, T.float64, True
T.ones(3).size(0), T.ones(3).size(-1) -> 3, 3
t.size(2) -> IndexError
t.size(-3) -> IndexError
t.size(0, 1) -> TypeError
t.size('x') -> TypeError
e = T.ones(())
e.size(), e.stride(), e.dim(), e.numel(), e.nbytes, e.is_contiguous() -> (), (), 0, 1, 4, True
e.size(0) -> IndexError
e.size(-1) -> IndexError
len(e) -> TypeError
z = T.ones(2, 0, 3)
z.stride(), z.numel(), z.nbytes, z.is_contiguous(), z.tolist() -> (3, 3, 1), 0, 0, True, [[], []]
z.data_ptr() -> 0
c = t.t()
c.size(), c.stride(), c.is_contiguous(), c.numel() -> (3, 2), (1, 3), False, 6
t.as_strided((2, 1), (3, 7)).is_contiguous() -> False
t.as_strided((1, 3), (7, 1)).is_contiguous() -> True
t[1].storage_offset(), t[1].data_ptr() - t.data_ptr(), t[1][1:].storage_offset() -> 3, 24, 4
t.is_set_to(t), t.is_set_to(t.detach()), t.is_set_to(t.view(2, 3)) -> True, True, True
t.is_set_to(c) -> False
t.is_set_to(t.clone()), t.is_set_to(t[:1]), t[:1].is_set_to(t[1:]) -> False, False, False
t.is_set_to(3) -> TypeError
f = T.ones(2, dtype=T.complex64)
f.is_set_to(f.conj()), f.conj().is_set_to(f), f.is_set_to(f.conj().conj()) -> False, False, True
"""

#: calls_of_set: what gives a tensor other bytes and sizes
calls_of_set = """
t, u = T.ones(2), T.tensor([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
s = u.untyped_storage()
t.set_(u) is t, t.is_set_to(u), t._version, u._version -> True, True, 1, 0
t.set_(u, 1, (2,), (2,)).tolist(), t.stride(), t.storage_offset() -> [1.0, 3.0], (2,), 1
t.set_(u[1:], 1, (2,)).tolist(), t.set_(s).tolist() -> [2.0, 3.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
t.set_(s, 4, (2,)).tolist() -> [4.0, 5.0]
t.set_(s, 0, (2, 2), (1, 2)).tolist() -> [[0.0, 2.0], [1.0, 3.0]]
t.set_(s, 0, (2, 2), None).stride() -> (2, 1)
t.set_(source=s, storage_offset=5, size=()).item() -> 5.0
t._version -> 8
t.set_(u.t().view(2, 3).t(), 0, (1,)) -> RuntimeError
t.set_(T.ones(1, dtype=T.int64)) -> RuntimeError
t.set_(T.ones(1, device='meta')) -> RuntimeError
t.set_(s, -1, (1,), (1,)) -> RuntimeError
t.set_(s, 0, (-1,), (1,)) -> RuntimeError
t.set_(s, 0, (1,), (-1,)) -> RuntimeError
t.set_(s, 0, (1,), (1, 1)) -> RuntimeError
t.set_(s, 1 << 61, (0,), (1,)) -> RuntimeError
t.set_(s, 1 << 40, (1,), (1,)) -> RuntimeError
t.set_(s, 0, (1 << 40, 1 << 40), (1, 1)) -> RuntimeError
t.set_(s, 0) -> TypeError
t.set_(s, size=(1,)) -> TypeError
t.set_(3) -> TypeError
t.set_(None) -> TypeError
t.set_(s, 'x', (1,)) -> TypeError
t.tolist(), t.storage_offset(), t._version, s.nbytes() -> 5.0, 5, 8, 24
t.set_(s, 4, (4,)).tolist(), s.nbytes() -> [4.0, 5.0, 0.0, 0.0], 32
u.tolist() -> [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
t.set_(T.UntypedStorage(7)).shape, t.set_().shape, t.untyped_storage().nbytes() -> (1,), (0,), 0
v = u[1:]
v.resize_(2) is v, v.tolist(), v.storage_offset(), v._base is u -> True, [1.0, 2.0], 1, True
v._version -> 1
v.resize_(2)._version, v.resize_(8).tolist() -> 1, [1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0, 0.0]
s.nbytes(), v._version -> 36, 2
v.resize_(2, 2).stride(), v.resize_((1,)).shape, v.resize_(()).shape -> (2, 1), (1,), ()
s.nbytes() -> 36
T.ones(2, 2).t().resize_(2, 2).stride(), T.ones(2, 2).t().resize_(4).stride() -> (1, 2), (1,)
u.resize_(-1) -> RuntimeError
u.resize_() -> TypeError
u.resize_(1.5) -> TypeError
u.resize_(1 << 60) -> RuntimeError
u.resize_(1 << 80) -> OverflowError
T.ones(2).requires_grad_().resize_(3) -> RuntimeError
T.frombuffer(bytearray(8), dtype=T.uint8).resize_(9) -> RuntimeError
u.shape, u._version -> (6,), 5
"""

#: calls_of_data: `.data`, which shares bytes and no version
calls_of_data = """
t = T.ones(2)
d = t.data
d is t, d._base, d.untyped_storage() is t.untyped_storage() -> False, None, True
d.tolist() -> [1.0, 1.0]
d.fill_(3).tolist(), t.tolist(), t._version, d._version -> [3.0, 3.0], [3.0, 3.0], 0, 1
t.data = t
t.tolist(), t.untyped_storage()._use_count() -> [3.0, 3.0], 3
v = t.view(1, 2)
v.data = T.zeros(3, dtype=T.int64)
v.tolist(), v.dtype, v._base is t, t.tolist() -> [0, 0, 0], T.int64, True, [3.0, 3.0]
t.data = T.ones(2, dtype=T.complex64).conj()
t.is_conj(), t.dtype, t.numel() -> True, T.complex64, 2
t.data = 3 -> TypeError
t.data = None -> TypeError
del t.data -> RuntimeError
t.data = T.ones(1, device='meta') -> RuntimeError
T.ones(1, device='meta').data.is_meta -> True
r = T.ones(2).requires_grad_()
r.data = T.ones(1, dtype=T.int64) -> RuntimeError
r.data.requires_grad, r.data.grad_fn, r.numel() -> False, None, 2
r.data = T.zeros(5)
r.requires_grad, r.tolist() -> True, [0.0, 0.0, 0.0, 0.0, 0.0]
"""

#: calls_of_grads: `.grad`, the flags of leaves, and what detaches
calls_of_grads = """
t = T.ones(2)
g = T.zeros(2)
t.grad, t.requires_grad, t.is_leaf, t.grad_fn, t.output_nr -> None, False, True, None, 0
t.retains_grad -> False
t.grad = g
t.grad is g, g._use_count() -> True, 2
t.grad = t -> RuntimeError
t.grad = T.ones(3) -> RuntimeError
t.grad = T.ones(2, dtype=T.int64) -> RuntimeError
t.grad = T.ones(2, device='meta') -> RuntimeError
t.grad = 1 -> TypeError
t.grad is g -> True
t.grad = None
t.grad, g._use_count() -> None, 1
t.grad = g
del t.grad
t.grad -> None
t.requires_grad_() is t, t.requires_grad -> True, True
t.requires_grad_(False).requires_grad -> False
t.requires_grad_(requires_grad=True).requires_grad -> True
t.requires_grad = False
t.requires_grad = 1 -> RuntimeError
del t.requires_grad -> RuntimeError
t.requires_grad_(1) -> TypeError
T.ones(1, dtype=T.int64).requires_grad_() -> RuntimeError
T.ones(1, dtype=T.bool).requires_grad_(False).requires_grad -> False
T.ones(1, dtype=T.complex64).requires_grad_().requires_grad -> True
t.retain_grad() -> RuntimeError
t.register_hook(print) -> RuntimeError
t.backward() -> RuntimeError
t.requires_grad -> False
t.requires_grad = True
y = t * 2
y.requires_grad, y.is_leaf, y.grad_fn.name(), y.output_nr -> True, False, 'MulBackward0', 0
y.requires_grad_() is y -> True
y.requires_grad_(False) -> RuntimeError
y.requires_grad = False -> RuntimeError
y.requires_grad = True -> RuntimeError
d = y.detach()
d.requires_grad, d.is_leaf, d._base, d.tolist(), d._version -> False, True, None, [2.0, 2.0], 0
d.add_(1)._version, y._version, y.data.add_(1)._version, y._version -> 1, 1, 1, 1
y.detach_() is y, y.requires_grad, y.is_leaf, y.grad_fn -> True, False, True, None
(t * 2).view(2).detach_() -> RuntimeError
t.register_hook(3) -> TypeError
t.is_leaf = True -> AttributeError
t.grad_fn = None -> AttributeError
t.shape = (1,) -> AttributeError
"""

#: calls_of_more_storages: slices of slices, their exports, and numbers that raise or are tensors
calls_of_more_storages = """
s, k, t = T.UntypedStorage(range(8)), T.tensor(2), T.ones(2)
p, q = s[2:7], s[2:7][1:4]
q.data_ptr() - s.data_ptr(), q[1:].tolist(), q.fill_(9) is q -> 3, [4, 5], True
v, w = memoryview(q), memoryview(p)
s.tolist(), p.tolist(), s.resize_(1).tolist() -> [0, 1, 2, 9, 9, 9, 6, 7], [2, 9, 9, 9, 6], [0]
v[1], p = 8, None
w.tolist(), v.release(), w.release(), q.clone().resizable() -> [2, 9, 8, 9, 6], None, None, True
q.tolist(), q[:].resizable(), s.resize_(3).tolist() -> [9, 8, 9], False, [0, 0, 0]
o, m = Sub([1, 2, 3]), Sub(3, device='meta')
{type(one) for one in (o[1:][:1], m[1:], m.clone(), o[1:].clone(), m[1:].clone())} == {Sub} -> True
[(str(one.device), len(one)) for one in (m[1:][:1], m[1:].clone())] -> [('meta', 1), ('meta', 2)]
i = iter(o)
next(i), o.resize_(2) is o, list(i), [*reversed(o)], 3 in o -> 1, True, [2], [2, 1], False
len(T.UntypedStorage(k)), o[T.tensor(1)], len(s[k:]), s.fill_(k).tolist() -> 2, 2, 1, [2, 2, 2]
s[T.tensor(0)] = T.tensor(5)
s[k:] = T.tensor(True)
def bad(self): raise KeyError
class Bad: __index__ = __int__ = __float__ = __bool__ = __complex__ = bad
def uses(text, made=uses): return made(text, 'b')
calls = uses('T.UntypedStorage([1, b]); T.UntypedStorage(b); s[b]; s[b:]; s.__setitem__(0, b)')
calls += uses('s.fill_(b); s.__setitem__(b, 1); s.resize_(b); T.ones(b); t.view(1, b)')
calls += uses('t.resize_(b); t.size(b); t[b]; t.set_(s, b, (1,)); t.set_(s, 0, (1, b))')
calls += uses('t.set_(s, 0, (1,), (b,)); t.narrow(0, 0, b); t[0:b]; t.as_strided((1,), (1,), b)')
calls += uses('t.select(b, 0); t.transpose(0, b); T.Tensor([b]); T.tensor(b)')
types = T.bool, T.uint8, T.int64, T.float32, T.float64, T.complex64
calls += [lambda b, d=d: T.tensor([0, b], dtype=d) for d in types]
[i for i, f in enumerate(calls) if raised(f, Bad()) is not KeyError] -> []
{raised(f, T.ones(1)) for f in calls[:8]}, s.tolist(), t._version -> {TypeError}, [5, 2, 1], 0
class Drops: __int__ = __float__ = lambda self: l.clear() or 2.0
l = [Drops(), 3.0]
T.tensor(l, dtype=T.float64).tolist(), l.append(l) -> [2.0, 3.0], None
T.tensor(l) -> RuntimeError
l.clear()
"""

#: calls_of_owners_beside: several owners and handles of one impl, of each kind (T6, P7)
calls_of_owners_beside = """
t, s = TensorSlotted(1), Sub(4)
t.tag, s.held = [1], [2]
both = [(T.Tensor, t), (T.UntypedStorage, s)]
def read(k, h, one): return k._expired(h), k._new_with_weak_ptr(h) is one
def frees(k, a, b, one): k._free_weak_ref(a); return read(k, b, one), k._free_weak_ref(b)
[frees(k, one._weak_ref(), one._weak_ref(), one) for k, one in both] -> [((False, True), None)] * 2
handles = [one._weak_ref() for _, one in both]
first, second = [[c10.Owner(h) for h in handles] for _ in range(2)]
[o.use_count() for o in first + second], [o.drop() for o in first] -> [3] * 4, [None, None]
[o.use_count() for o in first + second], [o.drop() for o in first] -> [0, 0, 2, 2], [None, None]
del t, s, both
l = [T.Tensor._new_with_weak_ptr(handles[0]), T.UntypedStorage._new_with_weak_ptr(handles[1])]
[type(one) for one in l] == [TensorSlotted, Sub], l[0].tag, l[1].held -> True, [1], [2]
[(o.start_copying(), o.start_copying(), o.start_locking()) for o in second] -> [(None,) * 3] * 2
[o.join() for o in second], [one._use_count() for one in l] -> [None, None], [2, 2]
second[0].drop_on_thread(), second[1].drop_under_lock() -> None, None
[one._use_count() for one in l], l.clear(), T._live_impls() >= 0 -> [1, 1], None, True
def ends(k, h): return k._expired(h), k._new_with_weak_ptr(h), k._free_weak_ref(h)
[ends(*p) for p in zip((T.Tensor, T.UntypedStorage), handles)] -> [(True, None, None)] * 2
"""

#: check_tensor_calls [slotcore]: the calls of tensors (P8)
#> check_tensor_calls: checks
def check_tensor_calls():
    with T.enable_grad():
        for text in (calls_of_factories, calls_of_layouts, calls_of_set, calls_of_data,
                     calls_of_grads, calls_of_refused_changes, calls_of_more_storages):
            assert_calls("P8", text)
