"""What the core gives in each of many states, asked by each of many questions.

Each text asks all pairs, and knows the right answers by itself.
"""

#: pairs_of_storage_model: a storage of any making does what a memoryview of the same bytes does
pairs_of_storage_model = """
S, r, k = T.UntypedStorage, [*range(10, 22)], [slice(2, 5), slice(1, 1), slice(None)]
def pair(s): m = memoryview(bytearray(r)); return s, s, m, m
def over(b, **k): return T.frombuffer(b, dtype=T.uint8, **k).untyped_storage()
def lent(b, **k): s, _, m, _ = pair(S(r)); return over(b(s), **k), s, m[3:9], m
def left(): s, a, m, n = pair(S(r)); return s[3:9], s.resize_(2), m[3:9], n[:2].tobytes()
def copied(): s, _, m, n = pair(Sub(r)); return s[3:9].clone(), s, memoryview(bytearray(m[3:9])), n
makes = uses('pair(S(r)); pair(Sub(r)); pair(S(0).resize_(20).resize_(12).copy_(S(r)))', '')
makes += uses('pair(T.zeros(3).untyped_storage().copy_(S(r))); copied(); left()', '')
makes += uses('lent(lambda s: s, offset=3, count=6); lent(lambda s: memoryview(s)[3:9])', '')
makes += uses('pair(over(bytearray(r))); pair(over(bytearray(b"..") + bytearray(r), offset=2))', '')
def part(f, k): s, a, m, n = f(); return s[k], a, m[k], n
makes += [lambda f=f, c=c: part(f, c) for f in makes for c in k]
makes += [lambda f=f: part(f, k[0]) for f in makes[12::3]]
asks = uses('len(t); [*t]; bytes(t); [t[i] for i in range(-len(t), len(t))]; 14 in t; [*t[1:-1]]')
asks += uses('[*t[1:][:3]]; [*reversed(t)]; [*t[-2:]]; raised(lambda: t[len(t)])')
same = uses('t.clone(); T.zeros(0, dtype=T.uint8).set_(t).untyped_storage(); S(len(t)).copy_(t); t')
puts = uses('t.__setitem__(0, 99); t.__setitem__(slice(1, 4), 97); t[1:].copy_(t[:-1])')
puts += uses('t[:-1].copy_(t[1:]); memoryview(t).__setitem__(0, 8); over(t).fill_(7)')
to = uses('[99] + t[1:]; t[:1] + [97] * len(t[1:4]) + t[4:]; t[:1] + t[:-1]')
to += uses('t[1:] + t[-1:]; [8] + t[1:]; [7] * len(t) or [7]')
def put(f, s, g, m): return bool(raised(f, s)) == bool(raised(m.__setitem__, k[2], bytes(g([*m]))))
def said(t): return [f(t) for f in asks]
def right(s, a, m, n): return all(f(s).tolist() == [*m] for f in same) and a.tolist() == [*n]
def runs(*q): return all(put(f, q[0], g, q[2]) and right(*q) for f, g in zip(puts, to))
[i for i, f in enumerate(makes) for q in [f()] if not (said(q[0]) == said(q[2]) and runs(*q))] -> []
"""

#: pairs_of_swapped_after: a swap is refused while something refers to a tensor, and done after
pairs_of_swapped_after = """
swap, impl = T.utils.swap_tensors, T._swap_tensor_impl
def inside(f): h = T.hermetic().__enter__(); r = f(); h.__exit__(None, None, None); return r
class F(T.autograd.Function): forward = lambda c, x: c.save_for_backward(x) or x * 2
class W: __init__ = lambda w, x: vars(w).update(h=x._weak_ref())
W.__del__ = lambda w: T.Tensor._free_weak_ref(w.h)
def owner(t): o = T.zeros(t.shape); o.grad = t; return o
def ran(t): y = t * 2; y.sum().backward(retain_graph=True); t.grad.tag = 7; return y
both = uses('t[...]; t * t; owner(t); W(t); c10.Owner(W(t).h); inside(t.conj); F.apply(t)')
one = uses('2 * t; (t + 1).grad_fn; t.sum(); (t * 3).grad_fn.next_functions[0][0]; ran(t)')
seen = uses('weakref.ref(t); weakref.proxy(t); weakref.WeakKeyDictionary({t: 1})')
free = uses('t.detach(); t.data; memoryview(t.untyped_storage()); raised(t.add_, 1); t.add_')
def new(k, n): t = T.Tensor._make_subclass(k, T.ones(n), True); t.tag = n; return t
def hooked(t): t.register_hook(lambda g: None); return t
def said(t): return t.tolist(), t._cdata, t._version, t._backward_hooks, getattr(t.grad, 'tag', 0)
def pair(t, u): return [(type(t), t.tag), (type(u), u.tag)], [said(t), said(u)]
def refused(f, *p): s = pair(*p); return raised(f, *p) is RuntimeError and pair(*p) == s
def turned(f, *p): a, b = pair(*p); f(*p); return pair(*p) == (a[::-1] if f is swap else a, b[::-1])
def whole(t): return t[...]._base is t and owner(t).grad is t and t._use_count() == 1
def begun(f, do, w, i, *p): k = w(p[i]); return do(f, *p)
def run(*q): p = q[4:]; return [begun(*q), turned(q[0], *p[::-1]), *map(whole, p)] == [True] * 4
def made(k): return [hooked(new(k[n], n + 2)) for n in (0, 1)]
kinds = (T.Tensor, TensorSub), [TensorSlotted] * 2, (T.nn.Parameter, T.Tensor)
all_ = [(swap, refused, w) for w in both + seen] + [(swap, turned, w) for w in one + free]
all_ += [(impl, refused, w) for w in both + one] + [(impl, turned, w) for w in seen + free]
[(*q, i, k) for q in all_ for i in (0, 1) for k in kinds if not run(*q, i, *made(k))] -> []
"""

#: pairs_of_wrapped_in_modes: what hermetic mode wraps, and what it leaves of the other wrapper
pairs_of_wrapped_in_modes = """
P, S, get, bit = T.nn.Parameter, T.UntypedStorage, getattr, int(T._preservation == 'refcount-bit')
def again(z, y): return z.conj() if isinstance(z, T.Tensor) else y
def inside(f, *given): h = T.hermetic().__enter__(); r = f(*given); h.__exit__(); return r
class F(T.autograd.Function): forward = lambda c, x: c.save_for_backward(x) or x * 2
def by_grad(x): o = T.ones(2); o.grad = x; return lambda: o.grad
def by_base(x): v = x[1:].view(1); return lambda: v._base
def by_saved(x): y = F.apply(x); return lambda: y.grad_fn.saved_tensors[0]
def by_leaf(x): n = (x * 2).grad_fn; return lambda: n.next_functions[0][0].variable
def by_set(s): return T.zeros(1).set_(s)[:1].untyped_storage
def by_run(x): x = T.ones(2).requires_grad_(); x.sum().backward(); return lambda: x.grad
def by_view(x): return T.ones(2)[1:].untyped_storage
l, K = (by_grad, by_base, by_saved, by_leaf), (T.Tensor, TensorSub, TensorSlotted, P)
pairs = [(k, T.Tensor, 7, 0, o) for k in K for o in l] + [(T.Tensor, T.Tensor, 0, bit, by_run)]
pairs += [(k, S, 7, 0, by_set) for k in (S, Sub)] + [(S, S, 0, bit, by_view)]
def made(k): return k(T.ones(2)) if k is P else k(8) if issubclass(k, S) else k(2).requires_grad_()
def new(k, o, s): x = made(k); x.tag = 7; return o(x), [x][s:]
def died(c, d): r = weakref.ref(c[0]); inside(c.pop, 0) if d else c.pop(0); return r() is None
def outer(y, f, z): return type(y), y is f() is again(z, y), y._cdata == z._cdata, get(y, 'tag', 0)
def inner(a, b): return type(a), a is not b, a._cdata == b._cdata, type(b), get(a, 'tag', 0)
def whole(f, d, c): return inner(*c), died(c, d), outer(f(), f, c[0]), died(c, d)
def count(f): return inside(f)._use_count()
def run(f, t, d): n = count(f); return whole(f, d, inside(lambda: [f(), f()])), count(f) - n
def model(k, b, tag, n): return ((b, True, True, b, 0), True, (k, True, True, tag), True), n
def wrong(k, b, t, n, o, s, d): return run(*new(k, o, s), d) != model(k, b, t, n)
[(p, d) for p in pairs for s in (0, 1) for d in (0, 1) if wrong(*p, s, d)] -> []
"""

#: check_tensor_pairs [slotcore]: states of tensors, and questions (P2, P3, P5, P8, P9, H1)
#> check_tensor_pairs: checks collects in_hermetic swaps
tensor_pairs = {
    "cycles": ("P5", pairs_of_cycles),
    "exports": ("P8", pairs_of_exports),
    "finalizers": ("P3", pairs_of_finalizers),
    "left_aliases": ("P9", pairs_of_left_aliases),
    "odd_reads": ("P9", pairs_of_odd_reads),
    "odd_writes": ("P9", pairs_of_odd_writes),
    "read_as": ("P9", pairs_of_read_as),
    "refetched": ("P2", pairs_of_refetched),
    "regrouped": ("P9", pairs_of_regrouped),
    "storage_model": ("P9", pairs_of_storage_model),
    "swapped_after": ("P8", pairs_of_swapped_after),
    "wrapped_in_modes": ("H1", pairs_of_wrapped_in_modes),
}
def check_tensor_pairs(name):
    with T.enable_grad():
        assert_calls(*tensor_pairs[name])
