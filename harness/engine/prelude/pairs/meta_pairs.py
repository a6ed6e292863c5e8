"""What the core gives in each of many states, asked by each of many questions.

Each text asks all pairs, and knows the right answers by itself.
"""

#: pairs_of_decided_alike: a frozen, a written and a fresh environment decide each condition alike
pairs_of_decided_alike = """
E, dumps, loads = T.fx.experimental.symbolic_shapes.ShapeEnv, T._meta.dumps_env, T._meta.loads_env
def of(*texts): return [f for one in texts for f in uses(one, 'a, b, u')]
S = of('0; bool(a == b + 2); bool(a * b > 30); (bool(a > 6), bool(b <= 5)); a // b; int(b)')
S += of('T._check(u == a - 3); (T._check(u >= 2), T._check(u <= 9)); T._check(u + b == a + 2)')
S += of('(bool(a // 2 * 2 == b + 1), bool(a == b + 2)); (T._check(u < a), bool(a // 3 * b == 10))')
C = of('a > b; a // 2 == b - 2; a % 3 > 0; T.sym_max(a, b) == a; T.sym_min(a, b) > 4; b < 6')
C += of('a * b > 20; a - b >= 2; (a + b) // 3 >= 4; a // b == 1; a % b != 2; a == 7; a != b')
C += of('u > 1; u // 2 == 2; u == a - 3; u * u > 3; u % 2 == 0; 2 * a == 4; u - b < 0')
C += of('a // 2 % 2 == 1; a // 2 // 2 == 1; T.sym_max(u, b) == b; a // 3 * b > 9; b // u == 1')
def env(s): e = E(); at = *sizes(e, 'x', 'y'), e.create_unbacked_symint(); s(*at); return e, at
def sizes(e, *names): return e.create_symint(7, names[0]), e.create_symint(5, names[1])
def said(c, *at): r = []; x = raised(lambda: r.append(bool(c(*at)))); return x or r[0]
def each(e, at, l): return [said(c, *at) for c in l], dumps(e)
def one(c, e, at): k = dumps(e); x = said(c, *at); return x, dumps(e) != k, said(c, *at) is x
def frozen(s): e, at = env(s); e.freeze(); return dumps(e), *each(e, at, C)
def needs(r): return [RuntimeError if grown else x for x, grown, same in r if same]
def alike(k, l, m, s): return k == m and l == needs([one(c, *env(s)) for c in C])
[alike(*frozen(s), s) for s in S] -> [True] * 11
def later(e): return each(e, (*sizes(e, 'p', 'q'), 4), C)
[s for s in S for e, _ in [env(s)] if later(loads(dumps(e))) != later(e)] -> []
box = [(x, y, u) for x in range(2, 10) for y in (4, 5) for u in (4, 6)]
def right(r, l, n): return all(k in (said(c, *n), RuntimeError) for k, c in zip(r, l))
def good(e, r, l): return {right(r, l, n) for n in box if e.check(n[:2], n[2:])}
def sound(l, e, at): return good(e, each(e, at, l)[0], l)
[sound(C[i::5], *env(s)) for s in S for i in range(5)] == [{True}] * 55 -> True
"""

#: pairs_of_graph_twins: a graph, its text and its function do the same to each tensor that passes
pairs_of_graph_twins = """
D, make = T._subclasses.meta_utils.MetaTensorDescriber, T.fx.experimental.proxy_tensor.make_fx
B, N, K = T.ones(24), ((3, 2), (4, 2), (2, 3), (1, 2), (0, 2)), ('symbolic', 'dynamic', 'fake')
for i in range(24): B[i] = i % 5 - 1
def at(n, *s): return B.clone().as_strided(n, *s)
def turned(n): return T.ones(*n[::-1]).copy_(at(n, (2, 1)).t()).t().detach()
L = uses('T.ones(*n).copy_(at(n, (2, 1))); turned(n); at(n, (n[1], 1), 1).detach()', 'n')
L += uses('at(n, (0, 1)).detach(); at(n, (4, 2), 3); at(n, (1, 3), 2)._neg_view().detach()', 'n')
F = uses('t.view(-1); t.view(-1).add_(1); t.t().clone(); t.add(t); t[1:]; (t[0].mul(2), t)')
F += uses('t.narrow(0, 0, t.size(0) // 2); t.expand(2, *t.size()); t.detach().copy_(t)')
F += uses('(t.t(), t.mul_(2)); t.select(-1, 0).fill_(3); t._neg_view(); (t.data.mul_(3), t == 1)')
F += uses('t.add(1) if t.size(0) > 2 else t[...]; t.clone().relu_().sum(); t.view(*t.size()[::-1])')
F += uses('t.as_strided((2,), (1,)); t[0].copy_(t[-1]); t.add(t.view_as(t)[:1]); t.t().add_(2)')
def text(*all): return T._meta.describe(D(), *all, copy_data=True).as_json()
def many(r): return r if type(r) is tuple else (r,)
def ran(f, t): r = [()]; e = raised(lambda: r.append(many(f(t)))); return e, text(t, *r[-1])
def code(g): n = {'T': T}; exec(g.code, n); return n['graph']
def traced(f, l, k): return unless(RuntimeError, IndexError)(make(f, tracing_mode=k))(l(N[0]))
def refused(t): return [(RuntimeError, text(t)), (AssertionError, text(t))]
def due(f, g, l, n): return [ran(f, l(n))] * 2 if g.check(l(n)) else refused(l(n))
def right(f, l, g, c, n): return [ran(o, l(n)) for o in (g, c)] == due(f, g, l, n), g.check(l(n))
s = [(f, L[(i + 2 * j) % 6], k) for i, f in enumerate(F) for j, k in enumerate(K) if i + j & 1]
with T.no_grad(): g = [(f, l, h, code(h)) for f, l, k in s for h in [traced(f, l, k)] if h]
with T.no_grad(): r = [right(*one, n) for one in g for n in N]
{c.__globals__.clear() for *_, c in g}, [r.count((True, n)) for n in (1, 0)] -> {None}, [49, 76]
"""

#: pairs_of_symbols_again: a tensor whose fake has died has its former symbols in the next one
pairs_of_symbols_again = """
E, F = T.fx.experimental.symbolic_shapes.ShapeEnv, T._subclasses.FakeTensorMode
dumps, of, describe = T._meta.dumps_env, T._meta.convert, T._meta.describe
def graded(t, g): t.grad = g; return t
S = uses('T.ones(4, 6); T.ones(4, 6).t(); T.ones(4, 6)[1:]; T.nn.Parameter(T.ones(4, 4))', '')
S += uses('graded(T.ones(4, 6), T.ones(4, 6)).view(24)[3:]; T.ones(5)[2]; T.ones(0, 6)', '')
S += uses('T.ones(1, 6).expand(4, 6); T.ones(4, 6)[::2].detach(); T.ones(24)[3:]', '')
S += uses('graded(T.ones(4, 6), T.ones(6, 4).t()); graded(T.ones(2, 2), T.ones(6, 2)[:2])', '')
K = uses('0; f._base; f.grad; f.untyped_storage(); f.detach(); f.view(-1)', 'f')
A = uses('0; c.sweep(); describe(c.describer, t); c(t); bool(n[0] > 2)', 'c, m, t, k, n')
A += uses('m.from_tensor(T.ones(9, 6), kind=k); m.from_tensor(t.detach())', 'c, m, t, k, n')
A += uses('of(c, describe(c.describer, t)); int(n[-1]); m.shape_env.freeze()', 'c, m, t, k, n')
def own(t): return *t.shape, *t.stride(), t.storage_offset(), t.untyped_storage().nbytes()
def numbers(t): return [] if t is None else [*own(t), *numbers(t._base), *numbers(t.grad)]
def said(n): return [str(one + 0) for one in n]
def faked(m, t, k): return numbers(m.from_tensor(t, kind=k))
def again(d, m, t, k, n): return said(faked(m, t, k)) == said(n), dumps(m.shape_env) == d
def step(a, m, *at): raised(a, m.fake_tensor_converter, m, *at); return dumps(m.shape_env), m, *at
def first(m, t, k, keep): f = m.from_tensor(t, kind=k); return numbers(f), keep(f)
def steps(m, t, k, n, held): return {again(*step(a, m, t, k, n)) for a in A}
def trial(m, t, k, h): return steps(m, t, k, *first(m, t, k, unless(RuntimeError)(h)))
s = [(a, h, ('duck', 'dynamic')[i + j & 1]) for i, a in enumerate(S) for j, h in enumerate(K)]
{r for a, h, k in s[2::5] for r in trial(F(shape_env=E()), a(), k, h)} -> {(True, True)}
"""

#: pairs_of_tables_follow: a tensor has its former fake if, and only if, its description is the same
pairs_of_tables_follow = """
C, D = T._subclasses.meta_utils.MetaConverter, T._subclasses.meta_utils.MetaTensorDescriber
c, m, kept, swap = C(), T._subclasses.FakeTensorMode(), [], T.utils.swap_tensors
def graded(t, g): t.grad = g; return t
def leaf(): return T.ones(4).requires_grad_()
with T.no_grad(): plain = leaf().view(2, 2)
S = uses('T.ones(4); graded(T.ones(4), T.ones(4)); graded(leaf(), T.ones(4)).view(2, 2)', '')
S += uses('graded(T.ones(4), T.ones(8)[::2]); graded(leaf(), graded(T.ones(4), T.ones(4)))', '')
S += uses('T.nn.Parameter(T.ones(4)); T.ones(6)[2:].detach(); leaf() * 2; plain[...]', '')
S += uses('T.ones(4, dtype=T.complex64).conj(); graded(T.ones(0), T.ones(0))', '')
A = uses('0; t.zero_(); t.data.zero_(); t.requires_grad_(); t.requires_grad_(False); t.detach_()')
A += uses('t.grad.zero_(); t.grad.requires_grad_(); put(t, None); put(t, known()); c.sweep()')
A += uses('t.untyped_storage().resize_(64); t.untyped_storage().fill_(1); t.set_(t.detach())')
A += uses('t._base.zero_(); put(t._base, None); t.resize_(2); t.resize_(t.size())')
A += uses('put(t, T.ones(4)); t.add(1)')
A += uses('swap(t, T.ones(4)); (t * t).sum().backward(); setattr(t, "data", T.ones(4)); C()(t)')
def put(t, g): t.grad = g
def known(): kept[:] = [T.ones(4)]; c(kept[0]), m.from_tensor(kept[0]); return kept[0]
def ids(d): return d and (d.id, d.storage_id, d.version_group, ids(d.base), ids(d.grad))
def texts(l): return [D().describe_tensor(t).as_json() for t in l]
def key(t): d = c.describer.describe_tensor(t); return d.as_json(), ids(d)
def fakes(t): return c(t), m.from_tensor(t)
def same(t, k, f, s): return key(t) == k, [x is y for x, y in zip(f, fakes(t))], s == texts(f)
def trial(t, a): k, f = key(t), fakes(t); s = texts(f); raised(a, t); return same(t, k, f, s)
r = [(i, j, *trial(s(), a)) for i, s in enumerate(S) for j, a in enumerate(A)]
[one for one in r if one[3:] != ([one[2]] * 2, True)], len(r), kept.clear() -> [], 264, None
"""

#: pairs_of_warm_cache: what another fake has left in the cache is what a tensor gets
pairs_of_warm_cache = """
D, m = T._subclasses.meta_utils.MetaTensorDescriber, T._subclasses.FakeTensorMode()
g, c, a = T.ones(6), T.ones(2, 3, dtype=T.complex64), T.ones(6).requires_grad_()
i, w, k = T.ones(6, dtype=T.int64), g[1:], T.nn.Parameter(T.ones(6))
with T.no_grad(): l = [a.view(2, 3)]
l += [g, g.view(2, 3), g.view(2, 3).t(), g[:1].expand(4), w.detach(), w, i, i[::2], c, c.conj()]
l += [c._neg_view(), c.conj().detach(), (a * 2)[1:], k, g.view(3, 2).detach(), g[:0]]
l += [T.ones(6, device='meta'), T.ones(6).set_(T.UntypedStorage(40), 1, (2, 3))]
f = uses('t + 1; t * True; t * 2j; t == 1; t.sum(); t.relu(); t.detach(); t.data')
f += uses('t[...]; t.view(-1); t.view(6); t[1:]; t.t(); t.expand(2, -1); t.view(T.uint8)')
f += uses('t.as_strided((2,), (1,), 1); t._neg_view(); T.view_as_real(t); t.resolve_conj()')
h = uses('t + u; t * u; t[...].add(u); u.view_as(t); t[:1] + u[0]', 't, u')
def text(*all): return T._meta.describe(D(), *all).as_json() if all[-1] is not None else None
def made(f, *given): return unless(RuntimeError, IndexError)(f)(*given)
def inside(f, *given): m.__enter__(); r = made(f, *given); m.__exit__(None, None, None); return r
n, q = [m.from_tensor(t) for t in l], (2, 3, 5, 6, 10)
s = [(o, t) for o in f for t in range(len(l))] + [(o, t, u) for o in h for t in q for u in q]
def real(o, *at): t = [l[i] for i in at]; return text(*t, made(o, *t))
def fake(o, *at): t = [n[i] for i in at]; return text(*t, inside(o, *t))
[inside(one[0], *(n[i] for i in one[1:])) is m for one in reversed(s)].count(True) -> 0
m.cache_info()[0] > 99, [one for one in s if fake(*one) != real(*one)], len(s) -> True, [], 486
"""

#: check_meta_pairs [slotcore]: states of fakes, tables and environments (M5, M9, M11)
#> check_meta_pairs: checks swaps
meta_pairs = {
    "decided_alike": ("M11", pairs_of_decided_alike),
    "graph_twins": ("M11", pairs_of_graph_twins),
    "symbols_again": ("M5", pairs_of_symbols_again),
    "tables_follow": ("M9", pairs_of_tables_follow),
    "warm_cache": ("M15", pairs_of_warm_cache),
}
def check_meta_pairs(name):
    with T.enable_grad():
        assert_calls(*meta_pairs[name])
