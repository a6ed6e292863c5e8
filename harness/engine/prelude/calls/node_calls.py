"""What calls give that are about Functions of several results, about nodes, and what they keep."""

#: calls_of_several_results: each result of a Function has its own number, hooks and gradient
calls_of_several_results = """
both = lambda c, x: (x * 1, x * 2), lambda c, g, h: g + h * 10
class Both(T.autograd.Function): forward, backward = map(staticmethod, both)
x, got = T.ones(2).requires_grad_(), []
p, q = Both.apply(x)
p.retain_grad(), p.retains_grad, q.retains_grad -> None, True, False
q.retain_grad(), p.retains_grad, q.retains_grad -> None, True, True
q.mul_(5) is q, p.retains_grad, q.retains_grad -> True, True, True
(p * 3 + q).sum().backward()
p.grad.tolist(), q.grad.tolist(), x.grad.tolist() -> [3.0, 3.0], [1.0, 1.0], [53.0, 53.0]
p, q = Both.apply(x)
q[:1].mul_(3).tolist(), q.grad_fn.name() -> [6.0], 'CopySlices'
T.autograd.grad(q.sum(), x)[0].tolist() -> [30.0, 10.0]
p, q = Both.apply(x)
q[:1].fill_(x[0] * 3).tolist(), q.tolist() -> [3.0], [3.0, 2.0]
T.autograd.grad(q.sum(), x)[0].tolist() -> [3.0, 10.0]
p, q = Both.apply(x)
(p * q).grad_fn.next_functions == ((p.grad_fn, 0), (p.grad_fn, 1)) -> True
q.view(-1).grad_fn.next_functions == fn().apply(q).grad_fn.next_functions -> RuntimeError
z = fn().apply(q)
z.grad_fn.next_functions == q.view(-1).grad_fn.next_functions == ((p.grad_fn, 1),) -> True
p.output_nr, q.output_nr, q.view(-1).output_nr, q.detach().output_nr -> 0, 1, 0, 0
h = q.register_hook(got.append)
(p * 3 + q).sum().backward(), got[0].tolist() -> None, [1.0, 1.0]
q.detach_() is q, q.output_nr, q.is_leaf -> True, 0, True
p, q = Both.apply(x)
h = q.register_hook(lambda g: T.ones(2, dtype=T.float64))
(p + q).sum().backward() -> RuntimeError
p, q = Both.apply(x)
h = q.register_hook(lambda g: T.ones(2, device='meta'))
(p + q).sum().backward() -> RuntimeError
p, q = Both.apply(x)
h = q.grad_fn.register_prehook(lambda g: (g[0], T.ones(2, dtype=T.float64)))
(p + q).sum().backward() -> RuntimeError
p, q = Both.apply(x)
h = q.register_hook(lambda g: T.ones(2))
p.sum().backward() -> RuntimeError
h.remove(), q.register_hook(got.append) is None -> None, False
p, q = Both.apply(x)
h = q.register_hook(got.append)
got.clear(), p.sum().backward(), got -> None, None, [None]
def ahead(c, x): y, z = x * 2, x * 3; c.save_for_backward(y, z); return y, z
class Saves(T.autograd.Function): forward, backward = staticmethod(ahead), staticmethod(both[1])
y, z = Saves.apply(x)
s, t = y.grad_fn.saved_tensors
s.output_nr, t.output_nr, s.requires_grad, t.requires_grad -> 0, 1, True, True
T.autograd.grad(t, x, T.ones(2))[0].tolist() -> [10.0, 10.0]
k = T.ones(2, device='meta').requires_grad_()
Both.apply(k)[0].sum().backward(), k.grad.device == k.device -> None, True
def ahead(c, x): y, n = x * 2, x * 3; c.mark_non_differentiable(n); hold(c, y, n); return y, n
def hold(c, *saved): c.save_for_backward(*saved)
ends = staticmethod(ahead), staticmethod(lambda c, g, h: g * c.saved_tensors[1])
class Marks(T.autograd.Function): forward, backward = ends
y, n = Marks.apply(x)
s = y.grad_fn.saved_tensors
s[0] is y, s[0].grad_fn is y.grad_fn, s[1] is n, s[1].requires_grad -> False, True, True, False
c = y.grad_fn
c.non_differentiable, c.dirty_tensors, c.to_save, c.saved_for_forward -> None, None, None, None
"""

#: calls_of_node_hooks: hooks of a node run in their order, and as they are when a run begins
calls_of_node_hooks = """
log, x = [], T.ones(1).requires_grad_()
def note(i): return lambda *_: log.append(i)
y = x * 2
n = y.grad_fn
for i in range(3): n.register_prehook(note(i)), n.register_hook(note(i + 3))
y.backward(), log -> None, [0, 1, 2, 3, 4, 5]
y = x * 2
n = y.grad_fn
h = y.register_hook(lambda g: i.remove())
i = n.register_prehook(lambda g: log.append('pre') or j.remove())
j = n.register_hook(lambda *g: log.append('post'))
log.clear(), y.backward(retain_graph=True), log -> None, None, ['pre', 'post']
y.backward(), log -> None, ['pre', 'post']
i, j = n.register_prehook(note('pre')), n.register_hook(note('post'))
log.clear(), T.autograd.grad(y * 3, y)[0].tolist(), log -> None, [3.0], []
y = x * 2
n = y.grad_fn
i = n.register_prehook(note('first'))
def adds(g): n.register_prehook(note('late')), n.register_hook(note('late'))
j = y.register_hook(adds)
log.clear(), y.backward(retain_graph=True), log -> None, None, ['first']
j.remove(), y.backward(), log -> None, None, ['first', 'first', 'late', 'late']
y = x * 2
h = y.grad_fn.register_prehook(lambda g: (g[0], g[0]))
y.backward() -> RuntimeError
y = x * 2
h = y.grad_fn.register_prehook(lambda g: ())
y.backward() -> RuntimeError
y = x * 2
h = y.register_hook(lambda g: T.ones(1, device='meta'))
y.backward() -> RuntimeError
y = x * 2
h = y.grad_fn.register_prehook(lambda g: (T.ones(1, device='meta'),))
y.backward() -> RuntimeError
def of_leaf(u): return (u * 1).grad_fn.next_functions[0][0]
def by_hook(u, one): u.register_hook(lambda g: one); return (u * 1).backward(), u.grad.item()
by_hook(T.ones(1).requires_grad_(), T.ones(1) * 7) -> None, 7.0
by_hook(T.ones(1).requires_grad_(), T.ones(1, device='meta')) -> RuntimeError
by_hook(T.ones(1).requires_grad_(), T.ones(1, dtype=T.float64)) -> RuntimeError
by_hook(T.ones(1).requires_grad_(), T.ones(2)) -> RuntimeError
def ahead(y, n, one): n.register_prehook(lambda g: (one,)); return y.backward()
u, m = T.ones(1).requires_grad_(), T.ones(1, device='meta')
y = u * 1
ahead(y, of_leaf(u), m) -> RuntimeError
u.grad -> None
u = T.ones(1).requires_grad_()
y = u * 1
n = of_leaf(u)
ahead(y, n, T.ones(1, dtype=T.float64)) -> RuntimeError
u.grad -> None
with x.register_hook(len): {}[1] -> KeyError
with (x * 2).grad_fn.register_hook(len): {}[1] -> KeyError
with (x * 2).grad_fn.register_prehook(len): {}[1] -> KeyError
x._backward_hooks = None
h, i = x.register_hook(len), x.register_hook(repr)
list(x._backward_hooks.values()), len([*x._backward_hooks]) -> [len, repr], 2
h.remove(), list(x._backward_hooks.values()), len([*x._backward_hooks]) -> None, [repr], 1
T.ones(1).register_hook(len) -> RuntimeError
x._backward_hooks = None
h = x.register_hook(lambda g: g * 5)
x._backward_hooks = x.grad = None
(x * 1).backward(), x.grad.tolist() -> None, [1.0]
"""

#: calls_of_owned_parts: what a graph owns, and what dies with a ctx, a pair and a tensor
calls_of_owned_parts = """
x = T.ones(1).requires_grad_()
def owned(one): return sorted(row[1] for row in one._owned_by_cpp() if row[1])
owned(T.ones(1).view(-1)) -> ['._base', 'impl', 'storage', 'storage', 'wrapper']
'.grad_fn' in owned(x.view(-1)), '._base' in owned(x.view(-1)) -> True, True
'buffer' in owned(T.frombuffer(bytearray(4), dtype=T.uint8).view(-1)) -> True
o = T.ones(1)
n = o * x
o.mul_(n) is o -> True
def cyclic(one): return sorted({row[1] for row in one._owned_by_cpp() if row[5]})
cyclic(o) -> ['.grad_fn', '.next_functions', 'saved tensor']
c = fn()._backward_cls()
c.save_for_backward(x), c.save_for_forward(x) -> None, None
c.mark_dirty(x), c.mark_non_differentiable(x) -> None, None
c.needs_input_grad = (True,)
owned(c)[:3] -> ['.dirty_tensors', '.needs_input_grad', '.non_differentiable']
owned(c)[3:] -> ['.saved_for_forward', '.to_save']
class Mark: pass
hooks = T.autograd.graph.saved_tensors_hooks
def call(m): return lambda p: m
def plain(of): m = Mark(); p = hooks(*of(call(m))); r = weakref.ref(m); del p, m; return r()
plain(lambda f: (f, len)), plain(lambda f: (len, f)), plain(lambda f: (f, f)) -> None, None, None
s = x * 2
y, r = fn('save_input').apply(s), weakref.ref(s)
c = y.grad_fn
del s, y
r() -> None
"""

#: calls_of_sums_in_grads: what a leaf gets of one or several gradients, and what it calls
calls_of_sums_in_grads = """
def leaf(*numbers): return T.tensor([float(one) for one in numbers]).requires_grad_()
def of(result, x): return T.autograd.grad(result.sum(), x, retain_graph=True)[0].tolist()
x, log = leaf(1, 2, 3), []
sizes = (), (1,), (1, 1), (2, 1), (1, 2), (3, 1, 2), (0,), (0, 2)
def kept(u): u.sum().backward(); return u.grad.stride(), u.grad.size()
{kept(u) == (u.stride(), u.size()) for u in (T.ones(s).requires_grad_() for s in sizes)} -> {True}
u = T.ones(9).as_strided((2, 1, 3), (1, 7, 2)).detach().requires_grad_()
kept(u), kept(u)[0], u.grad.tolist()[0] -> ((1, 7, 2), (2, 1, 3)), (1, 7, 2), [[2.0, 2.0, 2.0]]
bits = lambda t: t._neg_view(), lambda t: t.conj(), lambda t: t.conj()._neg_view()
def through(bit, u): bit(u).backward(T.ones(2) * 1j); return u.grad
found = [through(bit, T.ones(2, dtype=T.complex64).requires_grad_()) for bit in bits]
[one.is_neg() or one.is_conj() or one[0].item().imag for one in found] -> [-1.0, -1.0, 1.0]
parts = lambda g: g, lambda g: g[:], lambda g: g.detach(), lambda g: g.untyped_storage()
def noting(part): u = leaf(1); u.register_hook(lambda g: log.append(part(g))); return u
def zeroed(u): (u * 3).backward(); u.grad.zero_(); return log.pop().tolist()
[zeroed(noting(part)) for part in parts] -> [[3.0], [3.0], [3.0], [0, 0, 64, 64]]
g = x.grad = T.ones(3)
x.sum().backward(), x.grad is g, g.tolist(), g._version -> None, True, [2.0] * 3, 1
x.sum().backward(create_graph=True), x.grad is g, x.grad.requires_grad -> None, False, False
g.tolist(), x.grad.tolist(), x.grad.is_leaf -> [2.0] * 3, [3.0] * 3, True
k = x.grad = T.ones(3).requires_grad_()
x.sum().backward(), x.grad is k, k.tolist(), k.is_leaf -> None, True, [2.0] * 3, True
x.sum().backward(create_graph=True), of(x.grad, k) -> None, [1.0] * 3
x.grad = T.ones(1).expand(3)
x.sum().backward() -> RuntimeError
x.grad.tolist() -> [1.0] * 3
x.grad = None
n = (x * 1).grad_fn.next_functions[0][0]
def note(name): return lambda *_: log.append(name)
h, i = n.register_prehook(note('pre')), x.register_hook(note('leaf'))
j = n.register_hook(lambda i, o: log.append((i, o[0].tolist())))
x.sum().backward(), log -> None, ['leaf', 'pre', ((), [1.0] * 3)]
h.remove(), i.remove(), j.remove(), log.clear()
j = n.register_hook(lambda i, o: o)
x.sum().backward() -> RuntimeError
j.remove(), n._sequence_nr() == (1 << 64) - 1 -> None, True
x.grad = None
i = x.register_hook(log.append)
fn('nothing', 'y', 'none').apply(x).sum().backward(), log, x.grad -> None, [None], None
z = x * 1
o, p = fn('nothing', 'y', 'none').apply(z), z * 3
of(o + p, x), of(p + o, x), of(p + o + p, x) -> [3.0] * 3, [3.0] * 3, [6.0] * 3
log.clear(), i.remove()
h = x.register_hook(lambda g: i.remove())
i = x.register_hook(note('removed'))
x.sum().backward(), log, x.sum().backward(), log -> None, ['removed'], None, ['removed']
h.remove(), T.autograd.grad(x.sum(), x)[0].tolist() -> None, [1.0] * 3
def adds(g): x.register_hook(note('late'))
h = x.register_hook(adds)
log.clear(), T.autograd.grad(x.sum(), x)[0] is x, log, h.remove() -> None, False, [], None
T.autograd.grad(x.sum(), x)[0].tolist(), log -> [1.0] * 3, ['late']
g = T.ones(3, dtype=T.float64).requires_grad_()
r, = T.autograd.grad(x * 2, x, g, create_graph=True)
r.dtype, of(r, g), T.autograd.grad(r.sum(), g)[0].dtype -> T.float32, [2.0] * 3, T.float64
x.grad = None
(x * 2).sum().backward(inputs=[x, x, x]), x.grad.tolist() -> None, [2.0] * 3
T.autograd.grad(iter([x * 2]), iter([x]), iter([T.ones(3)]))[0].tolist() -> [2.0] * 3
T.autograd.backward(iter([x * 2]), iter([T.ones(3)]), inputs=iter([x]))
T.ones(0).requires_grad_().backward() -> RuntimeError
x.grad.tolist(), (x[:1].view(1, 1) * 2).backward(), x.grad[0].item() -> [4.0] * 3, None, 6.0
x.grad = None
"""

#: calls_of_refused_calls: what an error of a Function, a later call, and a written factor leave
calls_of_refused_calls = """
import warnings, weakref
refuses = []
def squared(self, x): return {}[x] if refuses else self.save_for_backward(x) or x * x
def slope(self, g): return g * self.saved_tensors[0] * 2
class Squared(T.autograd.Function): forward, backward = squared, slope
x, p = T.ones(2).requires_grad_(), Squared()
quiet = warnings.catch_warnings()
quiet.__enter__(), warnings.simplefilter('ignore')
y, z = p(x), p(x)
del y
z.sum().backward(retain_graph=True), x.grad.tolist() -> None, [2.0, 2.0]
refuses.append(1)
p(x) -> KeyError
quiet.__exit__(None, None, None)
z.grad_fn is p, p.saved_tensors[0] is x, len(p.next_functions) -> True, True, 1
z.sum().backward(), x.grad.tolist() -> None, [4.0, 4.0]
saves = []
def marked(ctx, a, b): return ctx.mark_dirty(a, b) or ctx.save_for_backward(*saves) or (a, b)
class Marked(T.autograd.Function): forward, backward = marked, lambda ctx, g, h: (g, h)
y, z = x * 1, x * 1
Marked.apply(y, x) -> RuntimeError
saves.append(7)
Marked.apply(y, z) -> TypeError
y.grad_fn.name(), z.grad_fn.name() -> 'MulBackward0', 'MulBackward0'
def freed(y, v): return v.mul_(y) is v, y.mul_(v) is y, weakref.ref(y)
freed(y := x * 1, y.view(-1))[2]() is y, y.sum().backward() -> RuntimeError
k = freed(y := x * 1, y.view(-1))[2]
del y
k() -> None
y = x * x
h, x.grad = y.register_hook(lambda g: T.set_grad_enabled(True)), None
y.sum().backward() -> TypeError
h.remove()
h = y.register_hook(lambda g: T.set_grad_enabled(True) and None)
y.sum().backward(), x.grad.requires_grad, x.grad.grad_fn -> None, False, None
"""
