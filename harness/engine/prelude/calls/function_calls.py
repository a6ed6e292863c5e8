"""What calls give that are about hooks, saved tensors, and the ctx of a custom Function."""

#: calls_of_hooks: hooks of tensors and of nodes, in their order and with their results
calls_of_hooks = """
def leaf(*numbers): return T.tensor([float(one) for one in numbers]).requires_grad_()
log = []
def note(name, factor): return lambda g: log.append((name, g.item())) or g * factor
x = leaf(2)
y = x * 3
h, i = y.register_hook(note('first', 2)), y.register_hook(note('second', 5))
j = x.register_hook(note('leaf', 1))
k = y.grad_fn.register_prehook(lambda g: log.append(('pre', g[0].item(), len(g))))
l = y.grad_fn.register_hook(lambda i, o: log.append(('post', i[0].item(), o[0].item(), len(i))))
len(y._backward_hooks), len(x._backward_hooks) -> 2, 1
y.sum().backward(retain_graph=True)
log[:3] -> [('first', 1.0), ('second', 2.0), ('pre', 10.0, 1)]
log[3:], x.grad.item() -> [('post', 30.0, 10.0, 2), ('leaf', 30.0)], 30.0
h.remove(), h.remove(), len(y._backward_hooks) -> None, None, 1
k.remove(), l.remove(), i.remove(), log.clear() -> None, None, None, None
len(y._backward_hooks) -> 0
y.sum().backward(retain_graph=True)
log, x.grad.item() -> [('leaf', 3.0)], 33.0
j.remove(), len(x._backward_hooks) -> None, 0
with y.register_hook(lambda g: g * 0): y.sum().backward()
x.grad.item(), len(y._backward_hooks) -> 33.0, 0
y = x * 3
h = y.grad_fn.register_prehook(lambda g: (g[0] * 7,))
y.sum().backward()
x.grad.item() -> 54.0
y = x * 3
h = y.grad_fn.register_hook(lambda i, o: (i[0] * 2, None))
y.sum().backward()
x.grad.item() -> 60.0
y = x * 3
h = y.register_hook(lambda g: 7)
y.sum().backward() -> TypeError
y = x * 3
h = y.register_hook(lambda g: (g,))
y.sum().backward() -> TypeError
y = x * 3
h = y.register_hook(lambda g: T.ones(3))
y.sum().backward() -> RuntimeError
y = x * 3
h = y.grad_fn.register_prehook(lambda g: 7)
y.sum().backward() -> TypeError
y = x * 3
h = y.grad_fn.register_hook(lambda i, o: (i[0],))
y.sum().backward() -> RuntimeError
y = x * 3
y.grad_fn.register_hook(3) -> TypeError
y.grad_fn.register_prehook(3) -> TypeError
x.grad.item() -> 60.0
T.autograd.grad((x * 3).sum(), x)[0].item(), x.grad.item() -> 3.0, 60.0
x._backward_hooks = {1: lambda g: g * 10}
T.autograd.grad((x * 3).sum(), x)[0].item(), len(x._backward_hooks) -> 30.0, 1
x._backward_hooks = 7
(x * 3).sum().backward() -> TypeError
x._backward_hooks = None
x._backward_hooks, T.autograd.grad((x * 3).sum(), x)[0].item() -> None, 3.0
del x._backward_hooks -> RuntimeError
d = T.ones(1)
d._backward_hooks = None
d._backward_hooks, d.grad_fn -> None, None
y = x * 1
h = y.register_hook(lambda g: log.append(('old', g.item())))
y.mul_(3)
i = y.register_hook(lambda g: log.append(('new', g.item())))
log.clear(), y.sum().backward(), log -> None, None, [('new', 1.0), ('old', 3.0)]
y = x * 2
y.retain_grad(), y.retains_grad, y.mul_(4) is y, y.retains_grad -> None, True, True, True
h = y.register_hook(lambda g: g * 5)
y.sum().backward()
y.grad.item(), x.retains_grad, x.retain_grad(), x.retains_grad -> 5.0, False, None, False
"""

#: calls_of_saved_hooks: what packs and unpacks saved tensors
calls_of_saved_hooks = """
def leaf(*numbers): return T.tensor([float(one) for one in numbers]).requires_grad_()
hooks, log, x = T.autograd.graph.saved_tensors_hooks, [], leaf(2, 3)
p = hooks(lambda t: log.append('pack') or [t], lambda p: log.append('unpack') or p[0])
with p: y = x * x
log -> ['pack', 'pack']
y.sum().backward(retain_graph=True), y.sum().backward(), log[2:] -> None, None, ['unpack'] * 4
x.grad.tolist() -> [8.0, 12.0]
y.sum().backward() -> RuntimeError
with p: T.ones(-1) -> RuntimeError
log.clear()
y = x * x
log, p.__exit__(None, None, None) -> RuntimeError
p.__enter__(), p.__enter__(), p.__exit__(), p.__exit__() -> None, None, None, None
p.__exit__() -> RuntimeError
with hooks(lambda t: t, lambda p: 3): y = x * x
y.sum().backward() -> TypeError
with hooks(lambda t: t.mul_(2), lambda p: p): y = x * x -> RuntimeError
x.tolist() -> [4.0, 6.0]
with hooks(lambda t: {}[1], lambda p: p): y = x * x -> KeyError
with hooks(lambda t: t, lambda p: {}[1]): y = x * x
y.sum().backward() -> KeyError
with hooks(lambda t: t.clone(), lambda p: p * 3): y = x.relu()
hooks(3, print) -> TypeError
hooks(print, 3) -> TypeError
hooks(print) -> TypeError
x.grad = None
with hooks(lambda t: t.clone(), lambda p: p): y = (x * 1) * (x * 1)
with hooks(lambda t: log.append(T.is_grad_enabled()) or t, lambda p: p): z = x * x
log, y.sum().backward(), x.grad.tolist() -> [False, False], None, [8.0, 12.0]
T.is_grad_enabled() -> True
"""

#: calls_of_contexts: the ctx of a custom Function
calls_of_contexts = """
def leaf(*numbers): return T.tensor([float(one) for one in numbers]).requires_grad_()
x = leaf(3)
y = fn('save_both', 'y', 'saved').apply(x)
c = y.grad_fn
c.name(), type(c).__name__ -> 'FnBackward', 'FnBackward'
type(c) is fn('save_both', 'y', 'saved')._backward_cls -> True
c.saved_tensors[0] is x, c.saved_tensors[1].tolist() -> True, [6.0]
c.saved_tensors[1].grad_fn is c -> True
len(c.saved_tensors), c.needs_input_grad, c.to_save, c.dirty_tensors -> 2, (True,), None, None
c.non_differentiable, c.saved_for_forward, c.materialize_grads -> None, None, True
c.requires_grad -> True
len(c.next_functions), c.next_functions[0][0].variable is x, c.metadata -> 1, True, {}
c.materialize_grads = False
c.materialize_grads, c.set_materialize_grads(True), c.materialize_grads -> False, None, True
c.set_materialize_grads(1) -> TypeError
c.materialize_grads = 1 -> TypeError
del c.materialize_grads -> TypeError
c.needs_input_grad = (1, 2)
c.needs_input_grad -> (1, 2)
c.needs_input_grad = (True,)
c.saved_tensors = () -> AttributeError
c.requires_grad = False -> AttributeError
c.apply(T.tensor([5.0]))[0].tolist() -> [15.0]
y.sum().backward(retain_graph=True)
c.saved_tensors[0] is x, x.grad.tolist() -> True, [3.0]
y.sum().backward()
c.saved_tensors -> RuntimeError
c.name(), x.grad.tolist() -> 'FnBackward', [6.0]
y.sum().backward() -> RuntimeError
del y
c.saved_tensors -> RuntimeError
c.next_functions -> RuntimeError
c.metadata -> RuntimeError
c.name() -> RuntimeError
c._sequence_nr() -> RuntimeError
c.register_hook(print) -> RuntimeError
c.register_prehook(print) -> RuntimeError
b = fn()._backward_cls()
b.saved_tensors, b.needs_input_grad, b.requires_grad, b.materialize_grads -> (), None, False, True
b.name() -> RuntimeError
b.save_for_backward(x), b.to_save[0] is x, b.saved_tensors -> None, True, ()
b.save_for_forward(x), b.mark_dirty(x), b.mark_non_differentiable(x) -> None, None, None
b.saved_for_forward[0] is b.dirty_tensors[0] is b.non_differentiable[0] is x -> True
d = fn('save_input', 'y', 'saved').apply(x).grad_fn
d.saved_tensors -> RuntimeError
y = fn('save_input', 'y', 'saved').apply(x)
y.grad_fn.maybe_clear_saved_tensors(), y.grad_fn.saved_tensors[0] is x -> None, True
y = fn('save_input', 'y', 'clears').apply(x)
y.sum().backward(retain_graph=True), y.grad_fn.saved_tensors[0] is x -> None, True
y.sum().backward()
y.grad_fn.saved_tensors -> RuntimeError
y = fn('save_none').apply(x)
y.grad_fn.saved_tensors -> (None,)
y.sum().backward()
y.grad_fn.saved_tensors -> RuntimeError
z = x * 1
y = fn('save_input', 'y', 'saved').apply(z)
z.add_(1)
y.grad_fn.saved_tensors -> RuntimeError
y.sum().backward() -> RuntimeError
"""

#: calls_of_functions: results and gradients of custom Functions
calls_of_functions = """
def leaf(*numbers): return T.tensor([float(one) for one in numbers]).requires_grad_()
def of(result, x): return T.autograd.grad(result.sum(), x)[0].tolist()
x = leaf(1, 2)
of(fn().apply(x), x), of(fn('save_input', 'y', 'saved').apply(x), x) -> [2.0, 2.0], [1.0, 2.0]
y = fn('nothing', 'x').apply(x)
y is x, y._base is x, y.tolist(), of(y, x) -> False, True, [1.0, 2.0], [2.0, 2.0]
y.add_(1) -> RuntimeError
y.view(-1).add_(1) -> RuntimeError
y = fn('nothing', 'v').apply(x)
y.tolist(), of(y, x) -> [2.0, 4.0], [2.0, 2.0]
y, z = fn('nothing', 'pair').apply(x)
y.output_nr, z.output_nr, y.grad_fn is z.grad_fn, of(z, x) -> 0, 1, True, [0.0, 0.0]
y, n = fn('nothing', 'with_number').apply(x)
n, of(y, x) -> 7, [2.0, 2.0]
y, z = fn('nothing', 'with_input').apply(x)
z is x, z.requires_grad -> False, True
z = x * 1
y = fn('mark_input', 'x', 'doubles', 'write_input').apply(z)
y is z, z.tolist(), z._version, of(z, x) -> True, [2.0, 4.0], 2, [2.0, 2.0]
fn('mark_input', 'x').apply(x) -> RuntimeError
fn('mark_input').apply(x * 1) -> RuntimeError
y = fn('no_gradient').apply(x)
y.requires_grad, y.grad_fn, y.is_leaf -> False, None, True
fn('raise').apply(x) -> KeyError
T.is_grad_enabled() -> True
of(fn('nothing', 'y', 'raises').apply(x), x) -> KeyError
of(fn('nothing', 'y', 'too_many').apply(x), x) -> RuntimeError
of(fn('nothing', 'y', 'wrong_size').apply(x), x) -> RuntimeError
of(fn('nothing', 'y', 'none').apply(x), x) -> RuntimeError
fn().apply(x, None, 3).grad_fn.needs_input_grad -> (True, False, False)
fn().apply(x.detach()).grad_fn, fn().apply(x.detach()).requires_grad -> None, False
with T.no_grad(): y = fn('save_input').apply(x)
y.requires_grad, y.grad_fn -> False, None
y = fn().apply(x, x)
y.grad_fn.needs_input_grad, len(y.grad_fn.next_functions) -> (True, True), 2
of(fn_setup('save_input').apply(x), x) -> [2.0, 2.0]
y = fn_setup('save_input').apply(x)
y.grad_fn.saved_tensors[0] is x -> True
T.autograd.Function.forward() -> NotImplementedError
T.autograd.Function.backward() -> NotImplementedError
fn().forward is fn().forward, fn()._backward_cls._forward_cls is fn() -> True, True
f = Legacy()
f.next_functions -> RuntimeError
y = f(x)
y.grad_fn is f, of(y, x) -> True, [2.0, 4.0]
x.grad -> None
z = x * 1
y = fn('nothing', 'y', 'none').apply(z * z)
z.add_(1)
y.sum().backward() -> RuntimeError
z = x.relu()
y = fn('nothing', 'y', 'none').apply(z)
z.add_(1)
y.sum().backward() -> RuntimeError
got = []
ahead, back = lambda c, x: (7, x * 2), lambda c, *g: got.append(g) or g[1] * 2
class Late(T.autograd.Function): forward, backward = staticmethod(ahead), staticmethod(back)
n, y = Late.apply(x)
n, y.output_nr, of(y, x), len(got[0]), got[0][0] -> 7, 1, [2.0, 2.0], 2, None
d = T.ones(2, dtype=T.float64).requires_grad_()
ahead, back = lambda c, x: (x * 1, x * 2), lambda c, *g: got.append(g) or g[0]
class Pair(T.autograd.Function): forward, backward = staticmethod(ahead), staticmethod(back)
p, q = Pair.apply(d)
r = T.autograd.grad((p * 3 + q).sum(), [p, q, p], retain_graph=True)
[g.tolist() for g in r] -> [[3.0, 3.0], [1.0, 1.0], [3.0, 3.0]]
del got[:]
with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t): y = q * q
g, = T.autograd.grad(y.sum(), q, create_graph=True)
of(g, d), len(got) -> [0.0, 0.0], 1
del got[:]
wipe, nothing = lambda c, v: (v.zero_(), c.mark_dirty(v), v)[2], lambda c, g: None
class Wipe(T.autograd.Function): forward, backward = staticmethod(wipe), staticmethod(nothing)
b = d * 1
v = Wipe.apply(b[:1])
of(b, d), b.tolist() -> [0.0, 1.0], [0.0, 1.0]
times, four = lambda c, v: (v * 2).view(-1).mul_(2), lambda c, g: g * 4
class Times(T.autograd.Function): forward, backward = staticmethod(times), staticmethod(four)
of(Times.apply(d)[1], d) -> [0.0, 4.0]
parts, whole = lambda c, v: (v.view(2, 1), v * 2), lambda c, g, h: g.view(2) * 10 + h * 2
class Parts(T.autograd.Function): forward, backward = staticmethod(parts), staticmethod(whole)
b = d * 1
v, w = Parts.apply(b)
b.add_(1) is b -> True
v.sum().backward() -> RuntimeError
of(Pair.apply(d)[0], d), got[0][1].dtype, got[0][1].tolist() -> [1.0, 1.0], T.float64, [0.0, 0.0]
o, x = [], T.ones(1).requires_grad_()
with T.on_device(0): i = x * 2
h = i.grad_fn.register_hook(lambda *_: o.append('nested'))
ahead, back = lambda c, x: x * 1, lambda c, g: i.backward() or g
class Nests(T.autograd.Function): forward, backward = staticmethod(ahead), staticmethod(back)
with T.on_device(0): a = x * 3
l = a.grad_fn.register_hook(lambda *_: o.append('outer'))
with T.on_device(0): n = Nests.apply(x)
(n + a).sum().backward()
o -> ['nested', 'outer']
"""

#: calls_of_dirty_tensors: what was marked as dirty is among the results, also if nobody records it
calls_of_dirty_tensors = """
def dirty(c, x, give): c.mark_dirty(x); return give(x)
class Dirty(T.autograd.Function): forward, backward = staticmethod(dirty), staticmethod(len)
l = lambda x: x.clone(), lambda x: (), lambda x: x.view(-1), lambda x: x, lambda x: (x + 1, x)
applied, x = unless(RuntimeError)(Dirty.apply), T.ones(1).requires_grad_()
[applied(T.ones(1), f) is None for f in l] -> [True, True, True, False, False]
[applied(x * 2, f) is None for f in l] -> [True, True, True, False, False]
with T.no_grad(): r = [applied(x * 2, f) is None for f in l]
r -> [True, True, True, False, False]
"""

#: check_function_calls [slotcore]: the calls about hooks and Functions (A3, A2e, A1b, A8)
#> check_function_calls: checks
def check_function_calls():
    with T.enable_grad():
        for number, text in (("A3", calls_of_hooks), ("A2e", calls_of_saved_hooks),
                             ("A1b", calls_of_contexts), ("A8", calls_of_functions),
                             ("A8", calls_of_dirty_tensors),
                             *calls_of_more_functions):
            assert_calls(number, text)
    for pairs in (pairs_of_shared_writes, pairs_of_each_node):
        ask_pairs(pairs)
