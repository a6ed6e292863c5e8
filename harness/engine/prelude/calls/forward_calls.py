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

#: calls_of_more_functions: the texts that check_function_calls has from elsewhere
calls_of_more_functions = (
    ("A8", calls_of_several_results), ("A3", calls_of_node_hooks), ("A4", calls_of_owned_parts),
    ("A8", calls_of_forwards), ("A2e", calls_of_unpacked))
