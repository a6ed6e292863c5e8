"""What the core gives in each of many states, asked by each of many questions.

Each text asks all pairs, and knows the right answers by itself.
"""

#: pairs_of_after_errors: a backward that fails anywhere leaves a graph that gives its gradients
pairs_of_after_errors = """
bad, held, add, E, o = [], [], T.autograd.backward, (KeyError, RuntimeError, TypeError), 'x, a, n'
def fault(*_): return {}[1] if bad else None
def wrong(one): return lambda *g: one if bad else None
def leaf(): return T.tensor([2.0, 3.0]).requires_grad_()
def in_hook(f): u = leaf(); u.register_hook(f); return u.sum()
def nested(v): return lambda g: v.backward(None, True)
class Two(Legacy): backward = lambda c, g: 2 in held and fault() or Legacy.backward(c, g)
h = T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 1 in held and fault() or t)
P = uses('a.register_hook(fault); x.register_hook(fault); n.register_hook(fault)', o)
P += uses('held.append(1); held.append(2); a.register_hook(nested(in_hook(fault)))', o)
P += uses('n.register_prehook(fault); a.grad_fn.next_functions[0][0].register_prehook(fault)', o)
P += uses('a.register_hook(wrong(T.ones(7))); n.register_hook(wrong(()))', o)
P += uses('n.register_prehook(wrong((None,) * 2)); a.register_hook(wrong(7))', o)
R = uses('y.backward(None, True); add([y, y], None, True); y.backward(None, True, True)', 'x, y')
R += uses('y.backward(None, True, inputs=[x]); in_hook(nested(y)).backward()', 'x, y')
def made(p, x): held.clear(), h.__enter__(); a = x * x; h.__exit__(); return x, sums(p, x, a, a * 3)
def sums(p, x, a, z): p(x, a, z.grad_fn); return (z + Two()(a)).sum()
def counts(): return T._live_saved_tensors(), T._live_impls(), T._live_backwards()
def fails(*one): bad.append(1); c = counts(); e = raised(*one); bad.clear(); return e, counts() == c
def got(x, f): f(); g, x.grad = x.grad, None; return None if g is None else g.tolist()
def ran(r, x, y): b = y.backward; return [got(x, f) for f in (dict, lambda: r(x, y), b)], raised(b)
def due(i, k): return E[(i > 7) + (i > 10)], True, [None, [44. * k, 126. * k], [44.0, 126.0]], E[1]
s = [(p, r, due(i, 1 + (j == 1))) for i, p in enumerate(P) for j, r in enumerate(R)]
def trial(p, r): g = r, *made(p, leaf()); return *fails(*g), *ran(*g)
[i for i, (p, r, e) in enumerate(s) if trial(p, r) != e], len(s) -> [], 60
"""

#: pairs_of_converted_gradients: a gradient of another type is converted, to any order
pairs_of_converted_gradients = """
V = {T.bool: True, T.uint8: 3, T.int64: 5, T.float32: 1.5, T.float64: 2.5, T.complex64: 1 + 2j}
C, seen, L = T.complex64, set(), [*enumerate(V.items())]
X = {T.float32: 2.0, T.float64: 4.0, C: 3 - 1j}
def like(d, n): return T.zeros(2, dtype=d).fill_(n)
Y = uses('x * o; o * x; x + o; like(o.dtype, 0).copy_(x); o.clone().add_(x)', 'x, o, v')
Y += uses('o.clone().mul_(x); x * v; v + x; x.clone().mul_(o); x.clone().add_(v)', 'x, o, v')
Y += uses('x * 1 + o[:1]; (x * o).sum(); x * x * o; o[:1] * x; x.expand(3, 2) * o', 'x, o, v')
D = uses('v; v; 1; 1; 1; v; v; 1; v; 1; 1; v; 2 * x * v; v; 3 * v', 'x, v')
R = uses('y.backward(g); (y.backward(g, True), y.backward(g)); (y * 1).backward(g)', 'x, y, g')
R += uses('y.backward(g, inputs=[x]); y.backward(g, None, True)', 'x, y, g')
def made(f, *at): r = [None]; raised(lambda: r.append(f(*at))); return r[-1]
def number(y): return 3 - 2j if y.dtype is C else 3
def run(x, y, r): r(x, y, y.detach().clone().fill_(number(y))); return end(x, x.grad)
def end(x, g): x.grad = None; return g.dtype, g.tolist()
def total(y, d, k): return number(y) * complex(d).conjugate() * (1 + (k == 1))
def due(x, n, h): return x, [(n if x is C else n.real) + h] * 2
def hooked(l, x): l.register_hook(lambda g: seen.add(g.dtype is x)); return l
def leaf(x, h): l = like(x, X[x]).requires_grad_(); l.grad = h and like(x, h); return hooked(l, x)
def asked(n, k, h, l, y): return run(l, y, R[k]) == due(l.dtype, total(y, n, k), h or 0)
def trial(n, k, h, l, y): return y is None or not y.requires_grad or asked(n, k, h, l, y)
def ask(i, x, o, v, *at): return given(D[i](X[x], v), at, leaf(x, at[1]), Y[i], o, v)
def given(d, at, l, f, *more): return trial(d, *at, l, made(f, l, *more))
s = [(i, x, *o, (i + j) % 5, (None, 7)[i + j & 1]) for i in range(15) for x in X for j, o in L]
[n for n in s if not ask(*n[:2], like(*n[2:4]), *n[3:])], len(s), seen -> [], 270, {True}
"""

#: pairs_of_function_marks: each style of a Function says the same of each result
pairs_of_function_marks = """
out, A, V, made = [], T.autograd.Function, ('iv', 'v'), lambda f: f(T.ones(2).requires_grad_())
def ahead(c, x, b, a): r = b(x); a(c, x, r); return r
def late(c, given, r): given[2](c, given[0], r)
class Old(A): forward, backward = ahead, len
class Static(A): forward, backward = staticmethod(ahead), staticmethod(len)
class Setup(Static): forward, setup_context = staticmethod(lambda x, b, a: b(x)), staticmethod(late)
styles = Static.apply, Setup.apply, lambda *all: Old()(*all)
B = uses('x * 2; x; x.view(-1); x.mul_(2); (x * 2, x * 3); (x * 2, 7, x); x[:1]; x == 1', 'x')
M = uses('0; c.save_for_backward(x, None); c.mark_dirty(x); c.save_for_backward(r)', 'c, x, r')
M += uses('c.mark_non_differentiable(r); (c.save_for_backward(x), c.mark_dirty(x))', 'c, x, r')
args = uses('x; x * 1; (x * 1)[:1]; x.detach(); x.detach()[:1]', 'x')
bad, D, K = {'i': [0], 'nki': [0, 2]}, (2, 5), 'n i v i nn nki v b'.split()
def dirty(k, m, i): return RuntimeError if m in D and ('i' not in k or i in bad[k]) else None
def error(k, m, i): return TypeError if k[1:] and (m == 4 or m == 3 and i < 3) else dirty(k, m, i)
def say(o, m, i): return i < 3 and o != 'b' and m != 4, o == 'i' and m in D, o in V[m == 4 > i + 1]
def one(r, s, v, n, q, i): return r, not r, s, n * (i < 3), v and (not s or q._base is not None)
def model(k, m, i, q): return [o == 'k' or one(*say(o, m, i), n, q, i) for n, o in enumerate(k)]
def of(t, q): return t.requires_grad, t.is_leaf, t is q, t.output_nr, t._base is not None
def said(r, q): return [type(t) is int or of(t, q) for t in (r if type(r) is tuple else (r,))]
def ran(s, b, a, q): out[:] = said(s(q, b, a), q), q._version
def right(b, m, x, q): return out == [model(K[b], m, x, q), (b == 3) + (m in D)]
def asked(f, s, b, m, x, q): return raised(ran, s, B[b], M[m], q) is f and (f or right(b, m, x, q))
def ask(s, x, b, m): return asked(error(K[b], m, x), s, b, m, x, made(args[x]))
s = [(x, n % 8, n // 8) for x in range(5) for n in range(48) if n not in (28, 29, 34, 38)]
[n for i, n in enumerate(s) if not ask(styles[i % 3], *n)], len(s) -> [], 220
"""

#: pairs_of_hook_orders: hooks run in the order in which they were put on, and may change the list
pairs_of_hook_orders = """
log, plan, acc = [], [], lambda x: (x * 1).grad_fn.next_functions[0][0]
both = lambda c, x: (x * 1, x * 2), lambda c, g, h: g + h * 10
class Both(T.autograd.Function): forward, backward = map(staticmethod, both)
K = uses('x; x * 2; x[...]; Legacy()(x); Both.apply(x)[1]; (x * 1).mul_(3); written(x * 1)', 'x')
def written(b): b[:1].mul_(3); return b
def run(i): log.append(i); plan[1:] and plan[0] == i and plan.pop()()
def hook(i): return lambda *_: run(i)
def at(y, n): return {'H': y.register_hook, 'P': n.register_prehook, 'Q': n.register_hook}
def logged(z): log.clear(); z.backward(None, True); return ''.join(map(str, log))
def due(o): return ''.join(str(i) for k in 'HPQ' for i, one in enumerate(o) if one == k)
def ends(x, y): return at(y, y.grad_fn or acc(x)), y.sum()
def made(k, x): return ends(x, k(x))
def later(b, h, put): return h[b].remove if type(b) is int else lambda: put[b](hook(6))
def handles(o, put): return [put[k](hook(i)) for i, k in enumerate(o)]
def trial(o, a, b, put, z): plan[:] = a, later(b, handles(o, put), put); return logged(z), logged(z)
def last(o, b): return due(o + b) if type(b) is str else due(o).replace(str(b), '')
O = 'HPQPHQ', 'QPHHQP', 'PQHQPH', 'HHPQPQ', 'QQHPHP', 'PHQPQH'
s = [(o, a, b) for o in O for a in range(6) for b in (*range(6), *'HPQ')][::2]
def ask(i, *one): return trial(*one, *made(K[i % 7], T.ones(2).requires_grad_()))
[i for i, (o, a, b) in enumerate(s) if ask(i, o, a, b) != (due(o), last(o, b))], len(s) -> [], 162
"""

#: pairs_of_leaf_states: each kind of leaf adds each backward to each former gradient
pairs_of_leaf_states = """
b, add, make = T.tensor([[1.0, 2, 3], [4, 5, 6]]), T.autograd.backward, T.Tensor._make_subclass
def leaf(t): return t.detach().requires_grad_()
def swapped(): a, c = leaf(b), T.zeros(1); T.utils.swap_tensors(a, c); return c
def moved(a): y = a * 2; a.data = b; return a
def toggled(a): y = a * 2; a.requires_grad_(False), a.requires_grad_(); return a
def hooked(a): a.register_hook(lambda g: None), a.register_hook(lambda g: g); return a
l = uses('leaf(b); swapped(); moved(leaf(T.ones(1))); toggled(leaf(b)); hooked(leaf(b))', '')
l += uses('leaf(b.t()[::2]); leaf(b[:1].expand(2, 3)); T.nn.Parameter(b); leaf(b._neg_view())', '')
l += uses('b.view(3, 2).requires_grad_(); make(TensorSub, b, True)', '') + [lambda: leaf(b.t())]
k = uses('None; T.ones(*s); T.ones(*s)._neg_view(); T.ones(*s[::-1]).t(); leaf(T.ones(*s))', 's')
n = uses('y.backward(g); (y.backward(g, True), y.backward(g)); add([y, y], [g, g])', 'x, y, g')
n += uses('nested(y, g); y.backward(g, inputs=[x]); y.backward(g, None, True)', 'x, y, g')
def nested(y, g): z = leaf(T.ones(1)); z.register_hook(lambda _: y.backward(g)); z.sum().backward()
e = uses('x * 2; x * x; x.clone() * 2; Legacy()(x); x.relu(); x._neg_view() * 2; x.t().t()', 'x')
q, f, d = [()] * 5 + [(1, 3)], (1, 2, 2, 1, 1, 1), uses('2; 2 * x; 2; 2 * x; x > 0; -2; 1', 'x')
def flat(t): return [one + 0 for row in t.tolist() for one in row]
def run(x, h, i, w): x.grad = h; n[w](x, e[i](x), T.ones(*x.shape).add_(x.data)); return end(x, h)
def end(x, h): g, x.grad = x.grad, None; return flat(g), g.stride(), g.requires_grad, g is h
def sums(x, h, i, w): return [m + f[w] * d[i](n) * (n + 1) for m, n in zip(h, flat(x))]
def dense(x): return x.stride() if x.stride() not in ((0, 1), (2, 3)) else (x.size(1), 1)
def new(x, i, w): return sums(x, [0] * 6, i, w), dense(x), i in q[w], False
def more(x, h, i, w): return sums(x, flat(h), i, w), h.stride(), h.requires_grad or i in q[w], w < 5
def ask(x, h, i, w): return (more(x, h, i, w) if h is not None else new(x, i, w)) == run(x, h, i, w)
s = [(a, c, w) for a in l for c in k for w in range(6)]
[i for i, (a, c, w) in enumerate(s) if not ask(x := a(), c(x.shape), i % 7, w)], len(s) -> [], 360
"""

#: pairs_of_packed_derivatives: derivatives through what hooks have packed and unpacked
pairs_of_packed_derivatives = """
w, o, kept, hooks = T.tensor([2.0, 5.0]), 'x, w, v', [], T.autograd.graph.saved_tensors_hooks
def state(t): return t.requires_grad, t.grad_fn, t.grad, t._version, t.tolist()
def keep(t): kept.append((t, state(t))); return t
def same(t): return t
def mark(t): raised(t.requires_grad_); return keep(t)
def part(b): b[1:].mul_(w[1:] * 2); return b * b
def ahead(c, x): y = x * x * w; c.save_for_backward(x, w, None, y); return y
def back(c, g): x, w, _, y = c.saved_tensors; return g * x * w * 2
class Two(T.autograd.Function): forward, backward = staticmethod(ahead), staticmethod(back)
P = uses('keep(t.detach()); keep(t.clone()); keep(T.tensor(t.tolist())); t; keep(t.data)', 't')
P += uses('mark(t.clone()); keep(t._neg_view().clone()._neg_view()); keep(t.clone()[...])', 't')
X = uses('x; x * 1; (x * 1)[:]; x.view(2, 1).t()[0]; T.ones(2) * x', 'x')
F = uses('x * w; w * x; x * x; x.relu(); x * x * x; Legacy()(x); (x * 1).relu_() * x', 'x')
F += uses('(x * 1).mul_(w) * x; part(x * w); x.clone().mul_(x * 1); Two.apply(x); x * 3', 'x')
D = uses('w; w; 2 * x; 1; 3 * x * x; 2 * x; 2 * x; 2 * w * x; 2 * x * v; 2 * x; 2 * x * w; 3', o)
H = uses('0; 0; 2; 0; 6 * x; 2; 2; 2 * w; 2 * v; 2; 2 * w; 0', o)
def grad(y, x): return T.autograd.grad((y + x * 0).sum(), x, create_graph=True)[0]
def made(f, p, k, x): h = hooks(p, same); h.__enter__(); y = f(k(x)); h.__exit__(); return y, x
def asked(y, x): g = grad(y, x); h = grad(g, x); y.sum().backward(); return g, h, x.grad
def said(all): return [*map(list, zip(*(one.tolist() for one in all)))]
def due(d, h): return [[float(o(*n)) for o in (d, h, d)] for n in ((3, 2, 4), (4, 5, 2500))]
def leaf(): return T.tensor([3.0, 4.0]).requires_grad_()
s = [(f, p, X[(i + j) % 5], i) for i, f in enumerate(F) for j, p in enumerate(P)]
[i for *n, i in s if said(asked(*made(*n, leaf()))) != due(D[i], H[i])], len(kept) > 200 -> [], True
[t for t, k in kept if state(t) != k], kept.clear() -> [], None
"""

#: pairs_of_written_differences: gradients of each write to each view are the differences of values
pairs_of_written_differences = """
def put(*n): return T.zeros(3, dtype=T.float64).copy_(T.tensor(n))
p, q, d, e, w = put(2, 3, 5), put(7, 4, 6), put(.5, .25, 1), put(1, .5, .125), put(1, 64, 4096)
makes = uses('x * 1; T.zeros(6, dtype=w.dtype)[::2].detach(); (x + y).view(3, 1).t()[0]', 'x, y')
makes += uses('fn().apply(x); (x * 1)._neg_view(); (w * 0)._neg_view().detach()', 'x, y')
views = uses('t; t[1:]; t.view(3, 1).t(); t.view_as(t)._neg_view()[::2]')
writes = uses('v.mul_(u); v.add_(u); v.copy_(u); v.fill_(y[1]); v.mul_(v.clone())', 'v, u, y')
writes += uses('v.relu_(); v.mul_(3).add_(u); v.__setitem__(0, u[0]); v.fill_(7)', 'v, u, y')
def run(m, a, o, x, y): b = m(x, y); v, s = a(b), b[:2]; o(v, a(y), y); return b, v, s, x[:1]
def weighed(n, *at): return zip(run(*n, *at), (w, n[1](w * 2), w[:2] * 4, w[:1] * 0))
def value(n, k): return sum((a * b).sum().item() for a, b in weighed(n, p + d * k, q + e * k))
def leaves(): return p.clone().requires_grad_(), q.clone().requires_grad_()
def dot(g): return sum((n * k).sum() for n, k in zip(g, (d, e)) if n is not None)
def recorded(n, at): return zip(*(one for one in weighed(n, *at) if one[0].requires_grad))
def back(r, u, at, c): return dot(T.autograd.grad(r, at, u, None, c, True))
def first(n, at): return back(*recorded(n, at), at, False).item()
s = [(a, b, c) for a in makes for b in views for c in writes][::2]
def twice(r, at): return back([r + at[0][0] * 0], [None], at, False).item()
def second(n, at): return twice(back(*recorded(n, at), at, True), at)
[i for i, n in enumerate(s) if first(n, leaves()) != (value(n, 1) - value(n, -1)) / 2] -> []
def bend(n): return value(n, 1) - 2 * value(n, 0) + value(n, -1)
[i for i, n in enumerate(s[::5]) if second(n, leaves()) != bend(n)], len(s) -> [], 108
"""

#: pairs_of_failed_calls: a call that raises when its results have a history keeps nothing
pairs_of_failed_calls = """
def fails(c, x): r = x * 2, x * 3; c.save_for_backward(r); return r
def marks(c, x): r = x * 2, x * 3; c.save_for_backward(*r); c.mark_dirty(x); return *r, x
class Fails(T.autograd.Function): forward, backward = staticmethod(fails), staticmethod(len)
class Marks(T.autograd.Function): forward, backward = staticmethod(marks), staticmethod(len)
x, kept = T.ones(1).requires_grad_(), lambda: (T._live_contexts(), T._live_impls())
n = (x * 1).size(0) and kept()
[unless(TypeError, RuntimeError)(f.apply)(x) for f in (Fails, Marks)] -> [None, None]
kept() == n -> True
"""

#: check_graph_pairs [slotcore]: states of leaves, Functions and graphs (A3, A5c, A7, A8, A9)
#> check_graph_pairs: checks swaps
graph_pairs = {
    "after_errors": ("A5c", pairs_of_after_errors),
    "converted_gradients": ("A7", pairs_of_converted_gradients),
    "function_marks": ("A8", pairs_of_function_marks),
    "hook_orders": ("A3", pairs_of_hook_orders),
    "leaf_states": ("A7", pairs_of_leaf_states),
    "packed_derivatives": ("A2e", pairs_of_packed_derivatives),
    "written_differences": ("A7", pairs_of_written_differences),
    "failed_calls": ("A9", pairs_of_failed_calls),
}
def check_graph_pairs(name):
    with T.enable_grad():
        assert_calls(*graph_pairs[name])
