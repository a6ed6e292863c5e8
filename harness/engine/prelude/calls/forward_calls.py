"""What calls give that are about forward of a Function: what it saves, marks and returns."""

#: calls_of_forwards: what a forward marks, keeps and returns, and what the ctx says afterwards
calls_of_forwards = """
x, seen, log, again = T.ones(2).requires_grad_(), [], [], staticmethod(lambda c, g, *_: g)
def made(**parts): return type('Own', (T.autograd.Function,), {'__module__': '', **parts})
def own(ahead): return made(forward=staticmethod(ahead), backward=again).apply
own(lambda c, x: (x * 2,))(x)[0].tolist(), own(lambda c, x: ())(x) -> [2.0, 2.0], ()
own(lambda c, x: [x * 2])(x)[0].grad_fn, own(lambda c, x: None)(x) -> None, None
own(lambda c, x: c.save_for_backward(3) or x * 2)(x) -> TypeError
own(lambda c, x: c.save_for_backward(3) or x * 2)(x.detach()).tolist() -> [2.0, 2.0]
own(lambda c, x: setattr(c, 'to_save', [x]) or x * 2)(x) -> TypeError
own(lambda c, x: setattr(c, 'dirty_tensors', [x]) or x * 2)(x) -> TypeError
own(lambda c, x: setattr(c, 'non_differentiable', [x]) or x * 2)(x) -> TypeError
own(lambda c, x: c.mark_dirty(7) or x * 2)(x) -> TypeError
own(lambda c, x: c.mark_non_differentiable(7) or x * 2)(x) -> TypeError
own(lambda c, x: c.save_for_forward(7) or x * 2)(x) -> TypeError
own(lambda c, x: c.save_for_forward(x, 7) or x * 2)(x) -> TypeError
x._version, x.requires_grad, x.is_leaf -> 0, True, True
def ahead(c, x): c.save_for_backward(x), c.save_for_forward(x, None), seen.append(c.saved_tensors)
y = own(lambda c, x: ahead(c, x) or x * 2)(x)
seen[0][0] is x, seen[0][1], len(seen[0]) -> True, None, 2
y.grad_fn.saved_for_forward, y.grad_fn.to_save, len(y.grad_fn.saved_tensors) -> None, None, 1
y.grad_fn.save_for_forward(3) -> TypeError
y.grad_fn.saved_for_forward -> None
z = fn('mark_input', 'x').apply(x * 1)
z.grad_fn.dirty_tensors, z.grad_fn.non_differentiable -> None, None
y = own(lambda c, x: c.mark_non_differentiable(x) or x)(x)
y is x, y.requires_grad, y.grad_fn, y._base, x.requires_grad -> False, False, None, None, True
o = x * 2
y = own(lambda c, x: c.mark_non_differentiable(o) or o)(x)
y is o, y.requires_grad, y.grad_fn, y.is_leaf -> True, False, None, True
b = x * 1
y = own(lambda c, x: (v := x.view(-1), c.mark_non_differentiable(v))[0])(b)
y.requires_grad, y.mul_(x) -> RuntimeError
b.tolist(), b._version -> [1.0, 1.0], 0
def ahead(c, x): T.set_grad_enabled(True); v = x.view(-1); c.mark_non_differentiable(v); return v
y = own(ahead)(b)
y.requires_grad, y.mul_(x) -> RuntimeError
y.view(-1).mul_(x) -> RuntimeError
y.tolist(), b.tolist(), T.is_grad_enabled() -> [1.0, 1.0], [1.0, 1.0], True
v = b[:1]
own(lambda c, x: c.mark_dirty(x) or x)(v) is v, v._version, b._version -> True, 1, 1
p = T.autograd.graph.saved_tensors_hooks(lambda t: log.append(t) or t, lambda t: t)
with p, T.no_grad(): y = fn('save_both').apply(x)
with p: z = fn('save_both').apply(x.detach())
log, y.requires_grad, z.requires_grad -> [], False, False
with p: y = fn('save_both').apply(x)
len(log) -> 2
class Up(T.autograd.Function): forward, backward = staticmethod(lambda x: x * 2), again
Up.setup_context = staticmethod(lambda c, given, y: c.save_for_backward(*given, y))
class Down(Up): pass
y = Down.apply(x)
y.grad_fn.saved_tensors[0] is x, y.grad_fn.name() -> True, 'DownBackward'
class Named(T.autograd.Function): __module__ = 'mine'
Named._backward_cls.__module__, Named._backward_cls.__name__ -> 'mine', 'NamedBackward'
class Arg(T.autograd.Function, wide=1): pass -> TypeError
T.autograd.Function.__init_subclass__(3) -> TypeError
class Bad(T.autograd.Function): pass
Bad._backward_cls = int
Bad.apply(x) -> TypeError
Bad._backward_cls = len
Bad.apply(x) -> TypeError
short = staticmethod(lambda c, x, n: x * n), staticmethod(lambda c, g: g)
class Short(T.autograd.Function): forward, backward = short
Short.apply(x, 3).sum().backward() -> RuntimeError
Short.apply(x, T.ones(2)).sum().backward() -> RuntimeError
class Other(T.autograd.Function): forward = staticmethod(lambda c, x: x * 1)
Other.backward = staticmethod(lambda c, g: T.ones(2, device='meta'))
Other.apply(x * 2).sum().backward() -> RuntimeError
Other.apply(x).sum().backward() -> RuntimeError
x.grad -> None
Legacy()(x=x) -> TypeError
Legacy()(x, y=3) -> TypeError
import warnings
f = Legacy()
y = f(x)
f.materialize_grads, f.requires_grad, f.needs_input_grad -> True, True, (True,)
f.to_save, f.dirty_tensors, f.saved_for_forward, f.metadata -> None, None, None, {}
with warnings.catch_warnings(): warnings.simplefilter('error'), f(x) -> UserWarning
y.sum().backward(), x.grad.tolist() -> None, [2.0, 2.0]
class Pair(T.autograd.Function): forward = lambda c, x, n: (x * n, x * 2)
Pair.backward = lambda c, g, h: seen.append(h.tolist()) or (g, None)
Pair()(x, 3)[0].sum().backward(), seen[-1] -> None, [0.0, 0.0]
f = Pair()
y, z = f(x, 3)
f.needs_input_grad, f.name(), z.output_nr, y.grad_fn is f -> (True, False), 'Pair', 1, True
"""

#: calls_of_unpacked: what an unpack hook gives has the place of what was saved
calls_of_unpacked = """
hooks, x, w = T.autograd.graph.saved_tensors_hooks, T.ones(1).requires_grad_(), T.tensor([2.0])
k, i, m = T.tensor([3.0]).requires_grad_(), T.ones(1, dtype=T.int64), T.ones(1, device='meta')
def back(result): return T.autograd.grad(result, x, create_graph=True)[0]
with hooks(len, lambda p: k): y, z = x * w, fn('save_leaf', 'y', 'saved').apply(x)
back(y).tolist(), back(y).requires_grad, back(z).requires_grad -> [3.0], False, False
z.grad_fn.saved_tensors[0].requires_grad, z.grad_fn.saved_tensors[0] is k -> False, False
with hooks(len, lambda p: k * 1): y, z = x * w, fn('save_leaf', 'y', 'saved').apply(x)
back(y).tolist(), back(y).requires_grad, back(z).requires_grad -> [3.0], False, False
with hooks(lambda t: t, lambda p: p): y, z = x * w, fn('save_leaf', 'y', 'saved').apply(x)
back(y).tolist(), back(y).requires_grad, back(z).requires_grad -> [2.0], False, False
with hooks(len, lambda p: i): y = fn('save_both').apply(x)
[one.requires_grad for one in y.grad_fn.saved_tensors] -> [False, False]
with hooks(len, lambda p: k): y = fn('save_both').apply(x)
s, t = y.grad_fn.saved_tensors
s.requires_grad, s.is_leaf, s is k, t.grad_fn is y.grad_fn -> True, True, False, True
T.autograd.grad(s * s, x)[0].tolist() -> [6.0]
with hooks(len, lambda p: m): y, z = x.relu(), x * x
y.backward() -> RuntimeError
z.backward() -> RuntimeError
x.grad -> None
log, nested = [], []
def noting(name): return hooks(lambda t: log.append(name) or t, lambda t: t)
a, b, c = noting('a'), noting('b'), noting('c')
def saves(): return x * x
with a: saves(), b.__enter__(), saves(), c.__enter__(), saves(), c.__exit__(), saves(), b.__exit__()
log -> ['a', 'a', 'b', 'b', 'c', 'c', 'b', 'b']
with a, b: log.clear()
with a: saves()
log -> ['a', 'a']
y = x * 1
with hooks(lambda t: {}[1], len): y.relu_() -> KeyError
y.grad_fn.name(), y.backward() -> RuntimeError
y = x * 1
with hooks(lambda t: {}[1], len): y[:1].relu_() -> KeyError
y.grad_fn.name(), y.backward() -> RuntimeError
"""

#: calls_of_given_gradients: what a backward may return, what apply() takes, and what is written
calls_of_given_gradients = """
x, k, log = T.ones(2).requires_grad_(), T.tensor([3.0, 5.0]), []
def cls(**parts): return type('Own', (T.autograd.Function,), {'__module__': '', **parts})
def of_two(*two): return cls(**dict(zip(('forward', 'backward'), map(staticmethod, two)))).apply
def own(ahead, back=lambda c, g, *_: g): return of_two(ahead, back)
def of(result, x): return T.autograd.grad(result.sum(), x, retain_graph=True)[0]
def given(one): return own(lambda c, x: x * 1, lambda c, g: one)
def back(one, u): return T.autograd.grad(given(one)(u), u, u.detach())[0]
sizes = (2,), (1, 2), (3, 2), (2, 3, 2), (0, 2)
[back(T.ones(*size), x)[0].item() for size in sizes] -> [1.0, 1.0, 3.0, 6.0, 0.0]
wrong = (T.ones(1), T.ones(()), T.ones(2, 1), T.ones(0), (k, 7), ())
[raised(back, one, x) for one in wrong] -> [RuntimeError] * 6
back(T.ones(1), T.ones(0).requires_grad_()) -> RuntimeError
[back(T.ones(size), T.ones(1).requires_grad_()).item() for size in (3, 0)] -> [3.0, 0.0]
[back(T.ones(size), T.ones(()).requires_grad_()).item() for size in (3, 0, 1)] -> [3.0, 0.0, 1.0]
types = T.bool, T.uint8, T.int64, T.float32, T.float64, T.complex64
def typed(u): return {back(T.ones(2, dtype=one), u).dtype is u.dtype for one in types}
[typed(T.ones(2, dtype=one).requires_grad_()) for one in types[3:]] -> [{True}] * 3
back(T.tensor([1 + 2j, 3j]), x).tolist() -> [1.0, 0.0]
[raised(back, one, x) for one in ([k], 7, 'k', [], (7,))] -> [TypeError] * 5
back((k, None, None), x).tolist(), back((k,), x).tolist() -> [3.0, 5.0], [3.0, 5.0]
f = own(lambda c, x, y, n: x * 2, lambda c, g: (g, T.ones(7, device='meta'), None))
y = f(x, k, 3)
of(y, x).tolist(), y.grad_fn.needs_input_grad -> [1.0, 1.0], (True, False, False)
len(y.grad_fn.next_functions), y.grad_fn.next_functions[1] -> 2, (None, 0)
own(lambda c, x: x[0] * 2)([x]).requires_grad -> False
own(lambda c: k)() is k, own(lambda c: k)().requires_grad -> True, False
own(lambda c, x: x)(x=x) -> TypeError
def sees(c, x): log.append((c.needs_input_grad, c.requires_grad, T.is_grad_enabled())); return x * 2
f = own(sees)
with T.no_grad(): y = f(x)
f(x).requires_grad, f(k).requires_grad, y.requires_grad, y.is_leaf -> True, False, False, True
log -> [((True,), False, False), ((True,), True, False), ((False,), False, False)]
log.clear()
class Two(T.autograd.Function): forward = staticmethod(lambda x, y: (x * y, x + y))
Two.backward = staticmethod(lambda c, g, h: (g * c.saved_tensors[1] + h, h))
def noted(*parts): log.append((*map(len, parts), T.is_grad_enabled()))
def set_up(c, args, made): noted(args, made), c.save_for_backward(*args)
Two.setup_context = staticmethod(set_up)
p, q = Two.apply(x, k)
log, p.grad_fn.saved_tensors[1] is k -> [(2, 2, False)], True
of(p, x).tolist(), of(q, x).tolist() -> [3.0, 5.0], [1.0, 1.0]
Two.setup_context = staticmethod(lambda c, args, made: {}[1])
Two.apply(x, k) -> KeyError
T.is_grad_enabled() -> True
y = own(lambda c, x: (c.save_for_backward(x), c.save_for_backward(k, None, x), x * 2)[2])(x)
[one is two for one, two in zip(y.grad_fn.saved_tensors, (k, None, x))] -> [True, True, True]
f = own(lambda c, x, i: (i.add_(1), c.mark_dirty(i), x * 2, i)[2:], lambda c, g, h: (g, None))
i = T.ones(2, dtype=T.int64)
y, j = f(x, i)
j is i, i.tolist(), j.requires_grad, j.is_leaf -> True, [2, 2], False, True
of(y, x).tolist() -> [1.0, 1.0]
def both(c, x, y): x.mul_(3), y.mul_(5), c.mark_dirty(x, y); return x, y
f, a, b = own(both, lambda c, g, h: (g * 3, h * 5)), x * 1, k * 1
p, q = f(a, b)
p is a, q is b, p.output_nr, q.output_nr, q.requires_grad -> True, True, 0, 1, True
of(p + q * 10, x).tolist(), a._version, b._version -> [3.0, 3.0], 2, 2
a, b = x * 1, x * 1
p, q = f(b, a)
of(p + q * 10, x).tolist() -> [53.0, 53.0]
f((x * 1)[:1], x * 1) -> RuntimeError
with T.no_grad(): y = fn('mark_input', 'x', 'doubles', 'write_input').apply(b := k * 1)
y is b, y.tolist(), y.requires_grad, y.is_leaf -> True, [6.0, 10.0], False, True
def look(c, v): v.mul_(2), v.grad_fn, v.is_leaf, v._base.grad_fn, c.mark_dirty(v); return v
b = x * 1
own(look, lambda c, g: g * 2)(b[:1]).tolist(), of(b, x).tolist() -> [2.0], [2.0, 1.0]
y, z = own(lambda c, x: (x, x), lambda c, g, h: g + h * 10)(x)
y is z, y._base is x, z._base is x, z.output_nr -> False, True, True, 1
of(y, x).tolist(), of(z, x).tolist() -> [1.0, 1.0], [10.0, 10.0]
s = T.ones(()), T.ones(0), T.ones(2, 3).t(), T.ones(1, dtype=T.complex64), T.ones(3, device='meta')
f = own(lambda c, x: (x * 1, *(one * 1 for one in s)), lambda c, *g: log.append(g) or g[0])
log.clear(), of(f(x)[0], x).tolist() -> None, [1.0, 1.0]
def like(one): return one.shape, one.dtype, one.device
[like(one) == like(two) for one, two in zip(log[0][1:], s)] -> [True] * 5
[one.sum().item() for one in log[0][1:5]] -> [0.0, 0.0, 0.0, 0j]
len({one.untyped_storage()._cdata for one in log[0]}), log.clear() -> 6, None
x, made = T.ones(3).requires_grad_(), []
def ahead(c, v): v.mul_(2), c.mark_dirty(v); return v
def through(one): b = x * 1; own(ahead, lambda c, g: one)(b[:2]); return of(b, x).tolist()
wrong = [T.ones(*size) for size in ((1,), ((),), (2, 1), (3,), (0,))] + [T.ones(2, device='meta')]
[raised(through, one) for one in wrong] -> [RuntimeError] * 6
through(T.ones(2)), through(None) -> [1.0] * 3, [0.0, 0.0, 1.0]
through(T.ones(1, 2)), through(T.ones(3, 2)) -> [1.0] * 3, [3.0, 3.0, 1.0]
[through(T.ones(2, dtype=one)) for one in types] -> [[1.0] * 3] * 6
def pack(t): m = lambda: None; made.append(weakref.ref(m)); return m
with T.autograd.graph.saved_tensors_hooks(pack, len): b = x * 2; b[:1].mul_(3), b[1:].relu_()
[one() for one in made].count(None), b._release_objects() -> 0, None
[one() for one in made] -> [None] * 3
"""

#: calls_of_retained_gradients: what results retain, each by itself, and what is recorded of it
calls_of_retained_gradients = """
def leaf(*numbers): return T.tensor([float(one) for one in numbers]).requires_grad_()
def of(result, x): return T.autograd.grad(result.sum(), x, retain_graph=True)[0].tolist()
x, k = leaf(1, 1), T.ones(2) * 3
p, q = fn('nothing', 'pair').apply(x)
p.retain_grad(), q.retain_grad()
q.sum().backward(retain_graph=True), p.grad, q.grad.tolist() -> None, None, [1.0, 1.0]
g = q.grad
p.sum().backward(retain_graph=True), q.grad is g, p.grad.tolist() -> None, True, [1.0, 1.0]
q.sum().backward(), q.grad is g, q.grad.tolist(), g.tolist() -> None, False, [2.0, 2.0], [1.0, 1.0]
q.grad.requires_grad, q.grad.is_leaf, q.output_nr -> False, True, 1
x.grad, z, kept = None, x.view(2), []
z.retain_grad(), z.register_hook(kept.append) is None, z.retains_grad -> None, False, True
z.backward(T.ones(2)), z.grad.fill_(7).tolist(), kept[0].tolist() -> None, [7.0, 7.0], [1.0, 1.0]
x.grad.tolist(), z.grad is kept[0], kept.clear() -> [1.0, 1.0], False, None
z = x * 1
z.retain_grad(), setattr(z, 'grad', k), z.sum().backward(), z.grad is k -> None, None, None, False
z.grad.tolist(), k.tolist() -> [4.0, 4.0], [3.0, 3.0]
x = leaf(3)
z = x * 1
z.retain_grad(), (z * z * z).backward(create_graph=True) -> None, None
g, z.grad = z.grad, None
g.tolist(), g.requires_grad, of(g, x), of(g, z) -> [27.0], True, [18.0], [18.0]
z.grad = g
(z * z).backward(create_graph=True)
m, z.grad = z.grad, None
m is g, m.tolist(), g.tolist(), of(m, x) -> False, [33.0], [27.0], [20.0]
p, q = fn('nothing', 'pair').apply(x)
(q * q * q).backward(create_graph=True, inputs=[q])
g, q.grad, x.grad = q.grad, None, None
g.tolist(), of(g, q), of(g, x) -> [108.0], [36.0], [0.0]
"""

#: calls_of_more_functions: the texts that check_function_calls has from elsewhere
calls_of_more_functions = (
    ("A8", calls_of_several_results), ("A3", calls_of_node_hooks), ("A4", calls_of_owned_parts),
    ("A8", calls_of_forwards), ("A2e", calls_of_unpacked), ("A8", calls_of_given_gradients),
    ("A7", calls_of_retained_gradients), ("A7", calls_of_sums_in_grads))
