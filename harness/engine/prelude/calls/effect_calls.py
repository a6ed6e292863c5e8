"""What calls leave: of arguments that they refuse, in the counts of the core, and of modes."""

#: calls_of_refused_changes: a call that raises changes none of its arguments (P8)
calls_of_refused_changes = """
t, m, v = T.ones(2), T.UntypedStorage(3, device='meta'), T.UntypedStorage(3)
t.set_(m, 0, (9,)) -> RuntimeError
T.ones(2, device='meta').set_(v, 0, (9,)) -> RuntimeError
m.nbytes(), v.nbytes(), t._version, m._use_count(), v._use_count() -> 3, 3, 0, 1, 1
t.set_(v, stride=(2,)) -> TypeError
t.set_(T.ones(4), stride=(2,)) -> TypeError
t.set_(stride=(2,)) -> TypeError
t.set_(v, stride=None).shape, t._version -> (0,), 1
p = T.UntypedStorage(4)[1:3]
p.resize_(2) -> RuntimeError
T.frombuffer(bytearray(4), dtype=T.uint8).untyped_storage().resize_(4) -> RuntimeError
b = memoryview(v)
v.resize_(3) -> BufferError
b.release()
v.resize_(3) is v -> True
o = T.UntypedStorage(0)
b = memoryview(o)
o.resize_(4) -> BufferError
o.resize_(0) -> BufferError
b.release()
o.resize_(4).tolist() -> [0, 0, 0, 0]
T.ones(2).requires_grad_().resize_(2) -> RuntimeError
str(T.UntypedStorage(device='meta').device) -> 'meta'
T.UntypedStorage(0, device='meta').nbytes() -> 0
T.Tensor([1], device='cpu') -> TypeError
"""

#: calls_of_ledgers: the core's counts of what lives (P5)
calls_of_ledgers = """
def added(count, make): n = count(); made = make(); return count() - n, made
def adds(number, count, make): return number in {added(count, make)[0] for _ in range(9)}
x, s, b = T.ones(2).requires_grad_(), T.UntypedStorage(4), bytearray(8)
y, p = x * x, s[1:]
adds(1, T._live_impls, lambda: T.UntypedStorage(4)) -> True
adds(2, T._live_impls, lambda: T.ones(2)) -> True
adds(3, T._live_impls, lambda: x * x) -> True
adds(2, T._live_impls, lambda: x[:1]) -> True
adds(1, T._live_impls, lambda: x.detach()) -> True
adds(1, T._live_wrappers, lambda: T.UntypedStorage(4)) -> True
adds(1, T._live_wrappers, lambda: (x * x).grad_fn) -> True
adds(1, T._live_blocks, lambda: T.UntypedStorage(4)) -> True
adds(0, T._live_blocks, lambda: T.UntypedStorage(0)) -> True
adds(0, T._live_blocks, lambda: T.UntypedStorage(4, device='meta')) -> True
adds(2, T._live_blocks, lambda: T.UntypedStorage(4)[1:]) -> True
adds(0, T._live_blocks, lambda: s[2:]) -> True
adds(1, T._live_blocks, lambda: T.frombuffer(b, dtype=T.uint8)) -> True
adds(2, T._live_blocks, lambda: T.frombuffer(b, dtype=T.uint8, offset=4)) -> True
adds(1, T._live_contexts, lambda: fn().apply(x)) -> True
adds(2, T._live_saved_tensors, lambda: x * x) -> True
adds(1, T._live_saved_tensors, lambda: x.relu()) -> True
adds(0, T._live_saved_tensors, lambda: x + 1) -> True
adds(1, T._live_modes, lambda: T._subclasses.FakeTensorMode()) -> True
adds(1, c10.live_storages, lambda: T.UntypedStorage(4)) -> True
adds(0, c10.live_storages, lambda: x[:1]) -> True
adds(1, c10.live_tensors, lambda: x.detach()) -> True
adds(0, c10.live_tensors, lambda: T.UntypedStorage(4)) -> True
refused = unless(RuntimeError)
adds(0, T._live_blocks, refused(lambda: T.UntypedStorage(1 << 40))) -> True
adds(0, T._live_blocks, refused(lambda: T.ones(1 << 40))) -> True
adds(0, T._live_blocks, refused(lambda: s.resize_(1 << 40))) -> True
adds(0, T._live_impls, refused(lambda: T.ones(1 << 40))) -> True
adds(0, T._live_impls, refused(lambda: x.expand(3, 3))) -> True
adds(0, T._live_wrappers, refused(lambda: T.UntypedStorage(1 << 40))) -> True
adds(0, T._live_blocks, refused(lambda: T.UntypedStorage([1, 300]))) -> True
adds(0, T._live_impls, refused(lambda: x.as_strided((9,), (1,)))) -> True
def links(one): return sorted(row[1] for row in one._owned_by_cpp() if row[1])
links(s), links(p), links(T.UntypedStorage(1)) -> ['impl'], ['impl'], ['impl']
t = T.frombuffer(b, dtype=T.uint8).untyped_storage()
links(t) -> ['buffer', 'impl']
q = t[1:]
links(t), links(q) -> ['buffer', 'data', 'impl'], ['buffer', 'data', 'impl']
def owner(one): return next(row[0] for row in one._owned_by_cpp() if row[1] == 'buffer')
owner(t) == owner(q), owner(t) in (t._cdata, q._cdata) -> True, False
with T.hermetic(): u = x.detach()
'hermetic' in links(u), 'impl' in links(u) -> True, False
n = TensorSlotted(1)
n.tag, n.held = [1], [2]
def owned(one): return {row[2] for row in one._owned_by_cpp()}
def owns(one, *parts): return [id(part) in owned(one) for part in parts]
owns(n, TensorSlotted, n.tag, n.__dict__, n.held) -> [True, True, True, False]
owns(s, T.UntypedStorage), owns(y.grad_fn, type(y.grad_fn)) -> [True], [True]
"""

#: calls_of_places: a fake keeps its mode, and meets no other (M7, M8, M15)
calls_of_places = """
M, E = T._subclasses.FakeTensorMode, T.fx.experimental.symbolic_shapes.ShapeEnv
m, n, o = M(), M(), M(shape_env=E())
f, g, i = (one.from_tensor(T.ones(4)) for one in (m, n, m))
s = f.untyped_storage()
f.set_(s[:8]).shape, f.fake_mode is m, f.set_(s[4:8], 0, (1,)).fake_mode is m -> (2,), True, True
f.set_(g) -> RuntimeError
f.set_(g.untyped_storage(), 0, (1,)) -> RuntimeError
f.data = g -> RuntimeError
f.grad = g -> RuntimeError
f.copy_(g) -> RuntimeError
f.set_(T.UntypedStorage(4, device='meta')) -> RuntimeError
T.ones(1, device='meta').set_(s) -> RuntimeError
f.shape, f.set_(s).shape, f.set_().shape, f.fake_mode is m -> (1,), (4,), (0,), True
with m: b, h = T.frombuffer(bytearray(16), dtype=T.float32), T.ones(4, device='meta')
b.untyped_storage().resizable(), b.shape, b.untyped_storage()[4:].resizable() -> False, (4,), False
b.untyped_storage().resize_(16) -> RuntimeError
b.resize_(9) -> RuntimeError
i.copy_(h) -> NotImplementedError
h.copy_(i) is h, i._version, h._version -> True, 0, 1
p, q = o.from_tensor(T.ones(3)), o.from_tensor(T.ones(5, 2))
r = o.from_tensor(T.ones(7), static_shapes=True)
r.data = p
str(r.shape[0]) == str(p.shape[0]), r.numel() is None -> True, False
p.data = q
str(p.shape) == str(q.shape), p.dim(), str(p.numel()) == str(q.numel()) -> True, 2, True
q.data = o.from_tensor(T.ones(6), static_shapes=True)
q.shape, q.stride(), q.nbytes, q.numel() -> (6,), (1,), 24, 6
z = o.from_tensor(T.ones(3, dtype=T.int64), static_shapes=True)
w, k = z.untyped_storage(), str(z.nonzero().shape[0])
w[99] = 1 -> RuntimeError
w[0] = 256 -> RuntimeError
w[::2] = 1 -> RuntimeError
w['x'] = 1 -> TypeError
w.fill_(256) -> RuntimeError
w.copy_(T.UntypedStorage(4)) -> RuntimeError
str(z.nonzero().shape[0]) == k, w.fill_(1) is w, str(z.nonzero().shape[0]) == k -> True, True, False
"""

#: calls_of_modes_met: every operation asks each of its operands for its mode (M7, M14)
calls_of_modes_met = """
x, z, M = T.ones(2, 2), T.ones(2, 2, device='meta'), T._subclasses.FakeTensorMode
m, n = M(), M()
f, g = m.from_tensor(x), n.from_tensor(x)
one = uses('t.view(-1); t.view_as(t); t.expand(2, 2); t[...]; t[0]; t[:1]; t.narrow(0, 0, 1)')
one += uses('t.t(); t.select(0, 0); t.transpose(0, 1); t.transpose(0, 0); t.as_strided((1,), (1,))')
one += uses('t.detach(); t.data; t._neg_view(); t.view(T.uint8); t.view(T.int64)')
one += uses('t.as_subclass(TensorSub); T.Tensor(t); T.nn.Parameter(t); TensorSub(t)')
one += uses('T.Tensor._make_subclass(TensorSub, t); t.clone(); t.sum(); t.relu(); t.nonzero()')
one += uses('t + 1; 2 * t; t == t; t != 1; t.add_(1); t.mul_(t); t.fill_(1); t.zero_(); t.copy_(t)')
one += uses('t.relu_(); t.resize_(3); t.set_(t.untyped_storage()); t.__setitem__(0, 1)')
one += uses('t.__setitem__(..., t); t.tolist(); t[0][0].item(); bool(t[0][0])')
def inside(f, t): m.__enter__(); r = raised(f, t); m.__exit__(None, None, None); return r
[i for i, o in enumerate(one) for t in (x, g, z) if inside(o, t) is not RuntimeError] -> []
two = uses('t + u; t.mul(u); t == u; t != u; t.add_(u); t.mul_(u); t.copy_(u)', 't, u')
two += uses('t.__setitem__(..., u); t.__setitem__(0, u[0]); t.__setitem__(0, u[0][0])', 't, u')
two += uses('t.fill_(u[0][0]); t + u[0][0]; u[0][0] * t; t.add_(u[0][0])', 't, u')
two += uses('t[0][0] + u[0][0]; t.set_(u); t.set_(u.untyped_storage()); t.set_(u, 0, (1,))', 't, u')
two += [lambda t, u, k=k: setattr(t, k, u) for k in ('data', 'grad')]
pairs = [(a, b) for a in (x, f, g) for b in (x, f, g) if a is not b]
[i for i, o in enumerate(two) for p in pairs if raised(o, *p) is not RuntimeError] -> []
{(t._version, t.grad, t.shape) for t in (x, f, g, z)} -> {(0, None, (2, 2))}
x.tolist() -> [[1.0, 1.0], [1.0, 1.0]]
T.ones(1).add(1).item() -> 2.0
"""

#: calls_of_more_classes: what is made of a class, and what an exchange takes along (P2, P8)
calls_of_more_classes = """
x, made, P = T.ones(2).requires_grad_(), [], T.nn.Parameter
x.grad, y = T.ones(2), x * 2
class Made(T.Tensor): __init__ = lambda self, *given: made.append(given)
class Own(P): pass
class Bad(T.Tensor): detach = lambda self: {}[1]
k = y.as_subclass(Made), T.Tensor._make_subclass(Made, y)
[type(one) is Made for one in k], made, k[0]._base is y -> [True, True], [], True
Made(y)._base is y, Made(2).shape, made == [(y,), (2,)] -> True, (2,), True
p = [P(y), P(x), Own(x), T.Tensor._make_subclass(P, y, True)]
{(one.requires_grad, one.grad, one.grad_fn, one._base) for one in p} -> {(True, None, None, None)}
with T.no_grad(): x.zero_()
[one._version for one in p + [P(x)]], p[1].tolist() -> [0, 1, 1, 0, 1], [0.0, 0.0]
P(None, False).requires_grad, P(None).shape, type(p[2]) is Own -> False, (0,), True
P(Own(x)) -> RuntimeError
P(Bad(2)) -> KeyError
T.Tensor(T.tensor(3)).item(), T.Tensor(T.tensor(3), 2).shape, T.Tensor([]).shape -> 3, (3, 2), (0,)
a, b, log = T.ones(1).requires_grad_(), T.ones(2).requires_grad_(), []
h, i = [one.register_hook(lambda g, n=n: log.append(n)) for n, one in enumerate((a, b))]
T.utils.swap_tensors(a, b)
j = a.register_hook(lambda g: log.append(2))
(a * 1).sum().backward(), log, len(a._backward_hooks), len(b._backward_hooks) -> None, [1, 2], 2, 1
h.remove(), (b * 1).sum().backward(), log, len(b._backward_hooks) -> None, None, [1, 2], 0
T._swap_tensor_impl(a, b)
i.remove(), len(a._backward_hooks), (b * 1).sum().backward(), log -> None, 0, None, [1, 2, 2]
c, b = a * 2, T.ones(3)
T.utils.swap_tensors(c, b)
c.grad_fn, b.grad_fn.name(), b.sum().backward() -> None, 'MulBackward0', None
T._swap_tensor_impl(a, c) -> RuntimeError
T._swap_tensor_impl(c, a) -> RuntimeError
b, g = T.ones(2), a.grad
T._swap_tensor_impl(a, c)
c.grad is g, a.grad, a.requires_grad, a.shape, g.tolist() -> True, None, False, (3,), [3.0]
"""
