"""What calls give that are about histories: sums in `.grad`, bits that are written, and roots."""

#: calls_of_grads_kept: what becomes of `.grad`, and of the wish to keep it
calls_of_grads_kept = """
def leaf(*numbers): return T.tensor([float(one) for one in numbers]).requires_grad_()
def of(result, x): return T.autograd.grad(result, x, retain_graph=True)[0].tolist()
x, y = leaf(1), leaf(3)
(x * y).backward(create_graph=True)
g = x.grad
x.sum().backward(create_graph=True)
x.grad is g, g.tolist(), x.grad.tolist(), of(x.grad, y) -> False, [3.0], [4.0], [1.0]
(x * 2).backward(create_graph=True)
x.grad.tolist(), x.grad.requires_grad, of(x.grad, y) -> [6.0], True, [1.0]
x.grad = T.ones(1)
(x * y).backward(create_graph=True)
x.grad.tolist(), of(x.grad, y) -> [4.0], [1.0]
x = T.ones(2, 2).select(1, 0).detach().requires_grad_()
(x * y).sum().backward(create_graph=True)
x.grad.stride(), of(x.grad.sum(), y) -> (1,), [2.0]
x = T.ones(1).expand(2).detach().requires_grad_()
(x * y).sum().backward(create_graph=True)
x.grad.stride(), of(x.grad.sum(), y) -> (1,), [2.0]
x, u = leaf(1), leaf(1)
z = x * 2
x.requires_grad_(False) is x, z.backward(), x.grad -> True, None, None
v = T.ones(2).view(-1)
v.requires_grad_().requires_grad, v.requires_grad_(False).requires_grad -> True, False
x = leaf(1, 1)
a = x * 2
v = a[1:]
v.retain_grad(), a.mul_(3) is a, v.retains_grad -> None, True, True
v.grad_fn.name(), v.retains_grad -> 'AsStridedBackward0', True
(v * 5).sum().backward(), v.grad.tolist(), x.grad.tolist() -> None, [5.0], [0.0, 30.0]
a = x * 2
v, w = a[1:], a[:1]
v.retain_grad(), w.mul_(3) is w, v.grad_fn.name() -> None, True, 'AsStridedBackward0'
v.retains_grad -> True
(a * 7).sum().backward(), v.grad -> None, None
z = x * 2
z.sum().backward(inputs=[z, T.ones(1)]) -> RuntimeError
z.sum().backward(inputs=[z, 3]) -> TypeError
T.autograd.backward([z.sum()], inputs=(z, T.ones(1))) -> RuntimeError
z.retains_grad, z.grad -> False, None
x = leaf(1)
z = x * x
(z * z).backward(inputs=[z]), x.grad -> None, None
z.backward() -> RuntimeError
z = x * x
T.autograd.grad(z * z, z)[0].item(), z.backward(), x.grad.item() -> 2.0, None, 2.0
x = leaf(1)
z = x * 2
T.autograd.backward([z, z]), x.grad.tolist() -> None, [4.0]
z = x * 2
g, = T.autograd.grad([z, z, x], [x], [None, T.tensor([10.0]), None])
g.tolist() -> [23.0]
x = leaf(1)
r, m = x._weak_ref(), Sub(1)
k = weakref.ref(m)
h = x.register_hook(lambda g, m=m: g)
x.grad = T.ones(1)
n, m = weakref.ref(x.grad), None
del x
k(), n() -> None, None
T.Tensor._free_weak_ref(r)
x = T.ones(3, 4).t()[::2].detach().requires_grad_()
y = x.detach().requires_grad_()
(x * 2).backward(T.ones(3, 2).t()), x.stride(), x.grad.stride() -> None, (2, 4), (3, 1)
(y * y).backward(T.ones(3, 2).t(), create_graph=True), y.grad.stride() -> None, (3, 1)
y.grad.grad_fn.name() -> 'CloneBackward0'
"""

#: calls_of_saved_factors: an operation saves what a gradient needs, and nothing else
calls_of_saved_factors = """
x, w = T.ones(1).requires_grad_(), T.tensor([2.0])
def of(result): return T.autograd.grad(result, x, retain_graph=True)[0].tolist()
a = x * 1
b, d, e = a * w, w * a, a * 2
a.add_(1) is a, of(b), of(d), of(e) -> True, [2.0], [2.0], [2.0]
a, t = x * 1, T.tensor([5.0])
t.mul_(a) is t, a.add_(1) is a, of(t) -> True, True, [5.0]
a, t = x * 1, T.tensor([5.0])
a.mul_(t) is a, a.add_(1) is a, of(a) -> True, True, [5.0]
t.add_(1) is t
of(a) -> RuntimeError
a = x * 3
r = weakref.ref(a)
a.mul_(a) is a, a.tolist() -> True, [9.0]
del a
r() -> None
a = x * 3
r = weakref.ref(a)
a.relu_() is a, a.add_(a) is a, a.copy_(a) is a, a.fill_(a[0]) is a -> True, True, True, True
del a
r() -> None
y = x * w
w.set_(T.ones(1)) is w
y.backward() -> RuntimeError
T.zeros(1).set_(x).requires_grad, T.zeros(1).set_(x.detach()).requires_grad -> True, False
log = []
p = T.autograd.graph.saved_tensors_hooks(lambda t: log.append(t.item()) or t, lambda t: t)
a, t, w = x * 3, T.tensor([5.0]), T.tensor([7.0])
with p: b, d, e = a * w, w * a, a * 2
log -> [7.0, 7.0, 2]
with p: a.mul_(w), t.mul_(a), a.add_(t), t.copy_(a), a.view(-1), a + t
log[3:] -> [7.0, 5.0]
with p: a.relu_(), a.relu(), a.clone(), a.sum(), a.fill_(1)
len(log) -> 7
with p, T.no_grad(): a * w, a.relu(), w.mul_(2)
with p: w * w, w.relu(), w.mul_(2), w.relu_()
len(log) -> 7
"""

#: calls_of_what_hooks_return: the graph leaves what a hook has unpacked as it is
calls_of_what_hooks_return = """
k, x, w = [], T.ones(1).requires_grad_(), T.tensor([2.0])
p = T.autograd.graph.saved_tensors_hooks(lambda t: k.append(t.detach()) or k[-1], lambda t: t)
with p: fn().apply((x * x).relu() * w).sum().backward()
len(k) > 3, {(t.requires_grad, t.grad_fn, t.grad) for t in k} -> True, {(False, None, None)}
"""

#: calls_of_toggled_leaves: a leaf keeps its AccumulateGrad when it requires no gradient for a while
calls_of_toggled_leaves = """
l = T.ones(1).requires_grad_(), T.ones(()).requires_grad_(), T.nn.Parameter(T.ones(1))
a = [(t * 1).grad_fn.next_functions[0][0] for t in l]
[t.requires_grad_(False) is t and t.requires_grad_(True) is t for t in l] -> [True] * 3
[(t * 2).grad_fn.next_functions[0][0] is n for t, n in zip(l, a)] -> [True] * 3
"""

#: calls_of_written_bits: gradients of writes through a conjugated or negative view
calls_of_written_bits = """
x, y = T.tensor([1.0, 2.0]).requires_grad_(), T.tensor([3.0, 5.0]).requires_grad_()
w = T.tensor([1.0, 10.0])
def grad(base, one): return T.autograd.grad((base * w).sum(), one, retain_graph=True)[0].tolist()
def of(base, one): return [number + 0 for number in grad(base, one)]
b = x * 1
b._neg_view().copy_(y).tolist(), b.tolist() -> [3.0, 5.0], [-3.0, -5.0]
of(b, y), of(b, x) -> [-1.0, -10.0], [0.0, 0.0]
b = x * 1
b._neg_view()[1:].add_(y[1:]).tolist(), b.tolist() -> [3.0], [1.0, -3.0]
of(b, y), of(b, x) -> [0.0, -10.0], [1.0, 10.0]
b = x * 1
b._neg_view()[:1].mul_(y[:1]).tolist(), of(b, y), of(b, x) -> [-3.0], [1.0, 0.0], [3.0, 10.0]
b = x * 1
b._neg_view()[:1].fill_(y[1]).tolist(), of(b, y), of(b, x) -> [5.0], [0.0, -1.0], [0.0, 10.0]
b = x * 1
b._neg_view().relu_().tolist(), of(b, x) -> [0.0, 0.0], [0.0, 0.0]
b = x * -1
b._neg_view().relu_().tolist(), b.tolist(), of(b, x) -> [1.0, 2.0], [-1.0, -2.0], [-1.0, -10.0]
b = x * 1
b._neg_view()[0] = y[0]
b.tolist(), of(b, y), of(b, x) -> [-3.0, 2.0], [-1.0, 0.0], [0.0, 10.0]
c, d, k = T.tensor([1 + 2j]).requires_grad_(), T.tensor([3 + 5j]).requires_grad_(), 1 + 10j
def grad(base, one): return T.autograd.grad(base, one, T.tensor([k]), retain_graph=True)[0].item()
def of(base, one): return grad(base, one) + 0
b = c * 1
b.conj().copy_(d).tolist(), b.tolist(), of(b, d), of(b, c) -> [(3+5j)], [(3-5j)], 1-10j, 0j
b = c * 1
b.conj().add_(d).tolist(), b.tolist(), of(b, d), of(b, c) -> [(4+3j)], [(4-3j)], 1-10j, 1+10j
b = c * 1
b.conj().mul_(d).tolist(), b.tolist(), of(b, d), of(b, c) -> [(13-1j)], [(13+1j)], 21-8j, -47+35j
b = c * 1
b.conj()._neg_view().copy_(d).tolist(), b.tolist(), of(b, d) -> [(3+5j)], [(-3+5j)], -1+10j
b = c * 1
b.conj()[0] = d[0]
b.tolist(), of(b, d), of(b, c) -> [(3-5j)], 1-10j, 0j
p = T.tensor([[1.0, 2.0]]).requires_grad_()
g, = T.autograd.grad(T.view_as_real(c), c, p, create_graph=True)
T.autograd.grad(g, p, T.tensor([k]).conj(), retain_graph=True)[0].tolist() -> [[1.0, -10.0]]
T.autograd.grad(g, p, T.tensor([k])._neg_view(), retain_graph=True)[0].tolist() -> [[-1.0, -10.0]]
T.autograd.grad(g.conj(), p, T.tensor([k]), retain_graph=True)[0].tolist() -> [[1.0, -10.0]]
t = T.tensor([1.0, 2.0, 3.0])
t.fill_(t[1]).tolist(), t._neg_view().fill_(t[1]).tolist() -> [2.0] * 3, [2.0] * 3
t.tolist() -> [-2.0] * 3
x = T.ones(0, 2).requires_grad_()
T.autograd.grad(x.expand(3, 0, 2).sum(), x)[0].shape -> (0, 2)
"""

#: calls_of_written_by_function: a Function that writes a view and saves it
calls_of_written_by_function = """
seen = []
def ahead(c, x): x.mul_(2); c.mark_dirty(x); c.save_for_backward(x); seen.append(c); return x
ends = staticmethod(ahead), staticmethod(lambda c, g: g * c.saved_tensors[0])
class Writes(T.autograd.Function): forward, backward = ends
x = T.ones(2).requires_grad_()
for b in (x * 1, (x * 1)[:1], (x * 1).view(-1)): y = Writes.apply(b), b._base
b = x * 1
v = b[:1]
Writes.apply(v) is v, b.tolist(), b.grad_fn.name() -> True, [2.0, 1.0], 'CopySlices'
g, = T.autograd.grad(v.sum(), x, create_graph=True)
g.tolist(), T.autograd.grad(g.sum(), x)[0].tolist() -> [2.0, 0.0], [2.0, 0.0]
b = x * 1
v = b[:1]
Writes.apply(v) is v -> True
c = seen[-1]
s = c.saved_tensors[0]
s.grad_fn is v.grad_fn, s.output_nr, s.requires_grad, s._base -> True, 0, True, None
del v, s
c.saved_tensors[0].grad_fn is c -> True
b = x * 1
c = Writes.apply(b).grad_fn
g, = T.autograd.grad(b.sum(), x, create_graph=True)
g.tolist() -> [2.0, 2.0]
b = x * 1
with T.no_grad(): v = b.view(-1)
with T.no_grad(): w = b.view(-1)[:1]
v.mul_(x) -> RuntimeError
w.mul_(x[:1]) -> RuntimeError
b = T.ones(2) * 1
with T.no_grad(): v = b.view(-1)
v.mul_(x) -> RuntimeError
v.fill_(x[0]) -> RuntimeError
v[0] = x[0] -> RuntimeError
v.set_(x) -> RuntimeError
v._version, b._version, b.tolist() -> 0, 0, [1.0, 1.0]
w = b.view(-1)
with T.no_grad(): v = w.view(-1)
v.mul_(x) -> RuntimeError
v._version, b.tolist() -> 0, [1.0, 1.0]
b.view(-1)[:1].copy_(x[:1]).requires_grad, b.requires_grad, b.tolist() -> True, True, [1.0, 1.0]
"""

#: calls_of_roots: gradients that a root gets, by itself or as it is given
calls_of_roots = """
x, c = T.ones(1).requires_grad_(), T.ones(1, dtype=T.complex64).requires_grad_()
k = T.ones(1, device='meta').requires_grad_()
(x * 2).backward(T.ones(1, dtype=T.complex64)) -> RuntimeError
T.autograd.grad(x * 2, x, T.ones(1, dtype=T.complex64)) -> RuntimeError
(c * 2).backward(T.ones(1)) -> RuntimeError
T.autograd.backward([c * 2], [T.ones(1, dtype=T.float64)]) -> RuntimeError
(c * 2).backward() -> RuntimeError
T.autograd.grad(c.sum(), c) -> RuntimeError
(x * 2).backward(T.ones(1, device='meta')) -> RuntimeError
(k * 2).backward(T.ones(1)) -> RuntimeError
x.grad, c.grad, k.grad -> None, None, None
(k * 2).backward(), k.grad.device == k.device, k.grad.shape -> None, True, (1,)
T.autograd.grad((k * k).sum(), k)[0].device == k.device -> True
d = T.ones(1, dtype=T.float64).requires_grad_()
(d * 2).sum().backward(), d.grad.dtype, d.grad.tolist() -> None, T.float64, [2.0]
"""

#: calls_of_devices: scopes of devices one inside of another, and where nodes run
calls_of_devices = """
import threading
x, seen = T.ones(1).requires_grad_(), []
def notes(n): n.register_hook(lambda *_: seen.append(threading.get_ident()))
def where(y): notes(y.grad_fn), y.sum().backward(); return seen.pop()
d, e, here = T.on_device(0), T.on_device(1), threading.get_ident()
d.__exit__() -> RuntimeError
with d: zero = where(x * 2)
with e: one = where(x * 2)
len({zero, one, here}), where(x * 2) == here -> 3, True
e.__enter__(), where(x * 2) == one -> None, True
d.__enter__(), where(x * 2) == zero -> None, True
d.__enter__() -> RuntimeError
d.__exit__(), where(x * 2) == one -> False, True
d.__exit__() -> RuntimeError
d.__enter__(), where(x * 2) == zero, d.__exit__() -> None, True, False
where(x * 2) == one, e.__exit__(), where(x * 2) == here -> True, False, True
y = x * x
with e: g, = T.autograd.grad(y, x, create_graph=True)
where(g) == here -> True
with e: y = x * x
g, = T.autograd.grad(y, x, create_graph=True)
where(g) == one -> True
T.on_device('x') -> TypeError
T.on_device() -> TypeError
"""

#: calls_of_marks: what a view of a Function is marked with, and which dtype a gradient has
calls_of_marks = """
def mark(t): return T._subclasses.meta_utils.MetaTensorDescriber().describe_tensor(t).creation_meta
def others(ctx, made): return ctx.mark_non_differentiable(*filter(None, made[:1])) or made
def viewed(ctx, x, made): return (x.view(-1), *others(ctx, made)) if made else x.view(-1)
class Viewed(T.autograd.Function): forward, backward = viewed, lambda ctx, g, *rest: (g, None)
x, o = T.ones(2).requires_grad_(), T.ones(1)
def first(*made): return Viewed.apply(x * 1, made)[0] if made else Viewed.apply(x * 1, made)
{mark(first(*one)) for one in ((), (o,), (o, 7), (None,), (0, 7))} -> {'in_custom_function'}
b = x * 1
v = Viewed.apply(b, ())
with T.no_grad(): w, u = v.view(-1), b.view(-1)
mark(v), mark(w), mark(u) -> 'in_custom_function', 'in_custom_function', 'no_grad_mode'
with T.no_grad(): c = b.add_(1)
v.grad_fn -> RuntimeError
w.grad_fn -> RuntimeError
def graded(a, b): setattr(t := T.ones(1, dtype=a), 'grad', g := T.ones(1, dtype=b)); return t.grad
graded(T.float32, T.float64) -> RuntimeError
graded(T.float64, T.float32) -> RuntimeError
graded(T.float32, T.complex64) -> RuntimeError
graded(T.complex64, T.float32) -> RuntimeError
graded(T.float32, T.float32).dtype, graded(T.float64, T.float64).dtype -> T.float32, T.float64
"""

#: calls_of_histories: the texts that check_graph_calls has from here
calls_of_histories = (
    ("A7", calls_of_grads_kept), ("A2", calls_of_saved_factors), ("A7", calls_of_written_bits),
    ("A2e", calls_of_what_hooks_return), ("A1c", calls_of_toggled_leaves),
    ("A7", calls_of_written_by_function), ("A3d", calls_of_roots), ("A5", calls_of_devices),
    ("A9", calls_of_refused_calls), ("A8", calls_of_marks))
