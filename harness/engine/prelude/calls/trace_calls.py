"""What traces give: the text of their graphs, and what graphs take, give and refuse."""

#: calls_of_trace_nodes: the text of each node
calls_of_trace_nodes = """
make = T.fx.experimental.proxy_tensor.make_fx
def traced(f, *given, kind='fake'): return make(f, tracing_mode=kind)(*given)
def lines(*given, **more): return traced(*given, **more).code.strip().split(chr(10) + '    ')[1:]
def nodes(f, *given): return '; '.join(one for one in lines(f, *given) if one[0] in 'tr')
t, v, i, c = T.ones(2, 3), T.ones(2), T.ones(2, dtype=T.int64), T.ones(1, dtype=T.complex64)
def head(*given): return traced(lambda *t: (), *given).code[:18]
head(v, v), head(v, i), head(v)[:14] -> 'def graph(t0, t1):', 'def graph(t0, t1):', 'def graph(t0):'
head()[:12] -> 'def graph():'
type(traced(lambda: ())) is T.fx.GraphModule -> True
nodes(lambda t: t.view(-1), t) -> 't1 = t0.view(-1); return t1'
nodes(lambda t: t.view(3, t.size(0)), t) -> 't1 = t0.view(3, 2); return t1'
nodes(lambda t: t.view(()), T.ones(1)) -> 't1 = t0.view(()); return t1'
nodes(lambda t: t.view(T.uint8), t) -> 't1 = t0.view(T.uint8); return t1'
nodes(T.view_as_real, c) -> 't1 = T.view_as_real(t0); return t1'
nodes(lambda t: t[...], t) -> 't1 = t0[...]; return t1'
nodes(lambda t: t.narrow(1, 0, 2), t) -> 't1 = t0.narrow(1, 0, 2); return t1'
nodes(lambda t: t[1::2], T.ones(6)) -> 't1 = t0[1:7:2]; return t1'
nodes(lambda t: t[1], t) -> 't1 = t0.select(0, 1); return t1'
nodes(lambda t: t.select(1, 2), t) -> 't1 = t0.select(1, 2); return t1'
nodes(lambda t: t.as_strided((2, 1), (1, 3), 1), t)[15:] -> 'ded((2, 1), (1, 3), 1); return t1'
nodes(lambda t: t.transpose(0, 1).t(), t) -> 't1 = t0.transpose(0, 1); t2 = t1.t(); return t2'
nodes(lambda t: t.expand(4, 2, 3), t) -> 't1 = t0.expand(4, 2, 3); return t1'
nodes(lambda t: t.expand(()), T.ones(())) -> 't1 = t0.expand(()); return t1'
nodes(lambda t: t.conj()._neg_view(), c) -> 't1 = t0.conj(); t2 = t1._neg_view(); return t2'
nodes(lambda t: (t.detach(), t.data), t) -> 't1 = t0.detach(); t2 = t0.data; return (t1, t2)'
nodes(lambda t: t + 1.5, t) -> 't1 = t0.add(1.5); return t1'
nodes(lambda t: t.mul(-0.0).add(-3), t) -> 't1 = t0.mul(-0.0); t2 = t1.add(-3); return t2'
nodes(lambda t: t.mul(1.5 - 2j), v) -> 't1 = t0.mul(complex(1.5, -2.0)); return t1'
nodes(lambda t: t.mul(complex('nan+infj')), v)[12:48] -> "complex(float('nan'), float('inf')))"
nodes(lambda t: 3 * t, t)[:11], nodes(lambda t: True + t, t)[:14] -> 't1 = 3 * t0', 't1 = True + t0'
nodes(lambda t: 2 == t, t)[:12], nodes(lambda t: 2 != t, t)[:12] -> 't1 = t0 == 2', 't1 = t0 != 2'
nodes(lambda t: t.add_(5e-324), t) -> 't0.add_(5e-324); return t0'
nodes(lambda t: t.add_((1 << 53) + 1), i) -> 't0.add_(9007199254740993); return t0'
nodes(lambda t: 2 + t * True, t) -> 't1 = t0.mul(True); t2 = 2 + t1; return t2'
nodes(lambda t, u: u + t * 1e300, t, t) -> 't2 = t0.mul(1e+300); t3 = t0.add(t2); return t3'
nodes(lambda t: t.mul(2j), v) -> 't1 = t0.mul(complex(0.0, 2.0)); return t1'
nodes(lambda t: t.add(float('inf')), v) -> "t1 = t0.add(float('inf')); return t1"
nodes(lambda t: t.add(-float('inf')), v) -> "t1 = t0.add(float('-inf')); return t1"
nodes(lambda t: t.mul(float('nan')), v) -> "t1 = t0.mul(float('nan')); return t1"
nodes(lambda t: (t == t, t != 3), t) -> 't1 = t0 == t0; t2 = t0 != 3; return (t1, t2)'
nodes(lambda t: t.add_(1), t) -> 't0.add_(1); return t0'
nodes(lambda t: t.mul_(t).fill_(True), t) -> 't0.mul_(t0); t0.fill_(True); return t0'
nodes(lambda t, u: t.copy_(u), t, v[:1]) -> 't0.copy_(t1); return t0'
nodes(lambda t: t.zero_(), t) -> 't0.fill_(False); return t0'
nodes(lambda t: t.clone().relu_(), t) -> 't1 = t0.clone(); t1.relu_(); return t1'
nodes(lambda t: t.relu().sum(), t) -> 't1 = t0.relu(); t2 = t1.sum(); return t2'
nodes(lambda t: T.ones(2), t) -> 't1 = T.ones((2,), dtype=T.float32); return t1'
nodes(lambda t: T.zeros(t.size(1), 1), t) -> 't1 = T.zeros((3, 1), dtype=T.float32); return t1'
nodes(lambda t: T.ones((), dtype=T.bool), t) -> 't1 = T.ones((), dtype=T.bool); return t1'
nodes(lambda t: (), t) -> 'return ()'
nodes(lambda t: (t, t), t) -> 'return (t0, t0)'
nodes(lambda t, u: (u,), t, t) -> 'return (t0,)'
nodes(lambda t: [t, t.add(1)][0], t) -> 't1 = t0.add(1); return t0'
nodes(lambda t: t.nonzero().sum(), t) -> 't1 = t0.nonzero(); t2 = t1.sum(); return t2'
"""

#: calls_of_traces: inputs, guards, numbers from data, and graphs that are called
calls_of_traces = """
make = T.fx.experimental.proxy_tensor.make_fx
def traced(f, *given, kind='symbolic'): return make(f, tracing_mode=kind)(*given)
def lines(*given, **more): return traced(*given, **more).code.strip().split(chr(10) + '    ')[1:]
def narrowed(t): n = t.sum().item(); T._check(n >= 1); T._check(n <= 2); return t.narrow(0, 0, n)
def both(t, u): n, m = t.item(), u.item(); T._check(n + m >= 10); return t.add(u)
def rows(t): n = t.nonzero(); T._check(n.size(0) == 2); return n
v, i = T.ones(3), T.ones(2, dtype=T.int64)
def bytes_written(write): return lambda t: (write(t.untyped_storage()), t.add(1))[1]
traced(bytes_written(lambda s: s.fill_(0)), v, kind='fake') -> NotImplementedError
traced(bytes_written(lambda s: s.__setitem__(0, 1)), v, kind='fake') -> NotImplementedError
traced(bytes_written(lambda s: s.__setitem__(slice(1), 1)), v, kind='fake') -> NotImplementedError
traced(bytes_written(lambda s: s.copy_(s)), v, kind='fake') -> NotImplementedError
g = traced(both, T.tensor([4]), T.tensor([7]))
g(T.tensor([4]), T.tensor([7])).tolist() -> [11]
g(T.tensor([4]), T.tensor([5])) -> RuntimeError
l = lines(lambda t: t, v[1:], kind='fake')
l[:3] -> ['assert t0.size(0) == 2', 'assert t0.stride()[0] == 1', 'assert t0.storage_offset() == 1']
l[3:5] -> ['assert t0._base.size(0) == 3', 'assert t0._base.stride()[0] == 1']
l[5:6] + l[7:] -> ['assert t0._base.storage_offset() == 0', 'return t0']
l = lines(lambda t, u: t.add(u), v, T.ones(3))
l[:2] -> ['s0 = t0.size(0)', 'assert s0 >= 2']
l[4:6] -> ['assert t1.size(0) == s0', 'assert t1.stride()[0] == 1']
l[7:9] -> ['s1 = t0.untyped_storage().nbytes()', 's2 = t1.untyped_storage().nbytes()']
l[9:] -> ['assert -4*s0 + s1 == 0', 'assert -4*s0 + s2 == 0', 't2 = t0.add(t1)', 'return t2']
l = lines(lambda t: t if t.size(0) > 2 else t.clone(), v, kind='dynamic')
l[0], l[3:5] -> 's0 = t0.size(0)', ['s1 = t0.untyped_storage().nbytes()', 'assert -4*s0 + s1 == 0']
l[5:] -> ['assert s0 + -3 >= 0', 'return t0']
l = lines(narrowed, i)
l[6:9] -> ['t1 = t0.sum()', 'u2 = t1.item()', 'assert u2 + -1 >= 0']
l[9:] -> ['assert -1*u2 + 2 >= 0', 't2 = t0.narrow(0, 0, u2)', 'return t2']
lines(rows, i)[7:] -> ['u2 = t1.size(0)', 'assert u2 >= 0', 'assert u2 + -2 == 0', 'return t1']
g = traced(lambda t: t.mul(2).add(t), v)
g(T.ones(2)).tolist(), g(T.ones(5)).shape -> [3.0, 3.0], (5,)
g.check(T.ones(4)), g.check(T.ones(1)) -> True, False
g.check(i), g.check(T.ones(3, 1)), g.check(T.ones(4)[::2]) -> False, False, False
g(T.ones(1)) -> RuntimeError
g(i) -> RuntimeError
g() -> RuntimeError
g(v, v) -> RuntimeError
g(3) -> TypeError
g.check(3) -> TypeError
g(t=v) -> TypeError
g.code = 'x' -> AttributeError
g.shape_env.inputs[:2] -> [('t0.size(0)', 's0'), ('t0.stride()[0]', '1')]
g.shape_env.inputs[2:] -> [('t0.storage_offset()', '0'), ('t0.untyped_storage().nbytes()', 's1')]
g.shape_env.guards, g.shape_env is g.shape_env -> ['-4*s0 + s1 == 0'], False
T._meta.retrace(g).code == g.code, T._meta.retrace(g) is g -> True, False
T._meta.retrace(3) -> TypeError
h = traced(narrowed, i)
h(T.tensor([1, 0])).tolist(), h(T.tensor([2, 0])).tolist(), h.check(i) -> [1], [2, 0], True
h(T.tensor([1, 2])) -> RuntimeError
h(T.tensor([0, 0])) -> RuntimeError
h.shape_env.deferred_runtime_asserts -> ['u2 + -1 >= 0', '-1*u2 + 2 >= 0']
T._meta.retrace(h).code == h.code -> True
w = T.zeros(2)
a = traced(lambda t: t.add_(1), w)
w.tolist(), a(w) is w, w.tolist(), w._version -> [0.0, 0.0], True, [1.0, 1.0], 1
y, z = traced(lambda t, u: (u.view(-1), t), v, T.ones(2, 2))(v, w) -> RuntimeError
y, z = traced(lambda t, u: (u.view(-1), t), v, w)(v, w)
y._base is w, z is v -> True, True
traced(lambda t: t.add(v), v) -> NotImplementedError
traced(lambda t: v, v) -> NotImplementedError
traced(lambda t: 3, v) -> TypeError
traced(lambda t: T.tensor([1]), v) -> NotImplementedError
traced(lambda t: t.resize_(2), v) -> NotImplementedError
traced(lambda t: t.tolist(), v) -> NotImplementedError
traced(lambda t: t.detach_(), v) -> NotImplementedError
traced(lambda t: t.requires_grad_(), v) -> NotImplementedError
traced(lambda t: T._meta.leave_modes(), v) -> NotImplementedError
traced(lambda t: traced(len, t), v) -> NotImplementedError
traced(lambda t: t[9], v) -> IndexError
traced(lambda t: {}[1], v) -> KeyError
traced(len, 3) -> TypeError
traced(3, v) -> TypeError
traced(len, v, kind='other') -> ValueError
make(len) -> TypeError
def enter(times): return [T._subclasses.FakeTensorMode().__enter__() for _ in range(times)]
traced(lambda t: enter(2) and {}[1], v) -> KeyError
traced(lambda t: enter(1) and t + 1, v) -> NotImplementedError
T.is_grad_enabled(), T._meta.mode_count(), v._version -> True, 0, 0
"""

#: calls_of_graphs_again: structure, retraces, and symbols that a trace makes
calls_of_graphs_again = """
make = T.fx.experimental.proxy_tensor.make_fx
def traced(f, *given, kind='symbolic'): return make(f, tracing_mode=kind)(*given)
def is_same(g): return T._meta.retrace(g).code == g.code
def again(f, *given, **more): return is_same(traced(f, *given, **more))
def plus(t): return t.add(1)
v, w, i = T.ones(3), T.ones(3), T.ones(2, dtype=T.int64)
g = traced(plus, v)
w.add_(1) is w, g.check(w), g(w).tolist() -> True, True, [3.0, 3.0, 3.0]
h = traced(plus, w)
h.check(v), h(v).tolist() -> True, [2.0, 2.0, 2.0]
h = traced(plus, T.ones(7)[2:], kind='dynamic')
h.check(T.ones(9)[3:]), h.check(T.ones(9)[2:]), h.check(T.ones(7)[1:]) -> True, True, True
h(T.tensor([1, 2, 3.0, 4, 5, 6])[3:]).tolist() -> [5.0, 6.0, 7.0]
h = traced(plus, T.ones(7)[2:], kind='fake')
h.check(T.ones(7)[2:]), h.check(T.ones(8)[3:]), h.check(T.ones(7)[1:6]) -> True, False, True
g.check(T.ones(3).requires_grad_()), g.check(T.ones(3, dtype=T.float64)) -> False, False
o = [T.ones(6)[:3], T.ones(3, device='meta'), v._neg_view(), T.nn.Parameter(v, False)]
[g.check(one) for one in (*o, T.frombuffer(bytearray(12), dtype=T.float32))] -> [False] * 5
g.check(v.view(3)), g.check(v.detach()), g.check(v, v), g.check() -> False, True, False, False
c = T.ones(3, dtype=T.complex64)
l = c, c.conj().detach(), c._neg_view().detach(), c.conj()._neg_view().detach()
[one._base for one in l], [one.is_conj() for one in l] -> [None] * 4, [False, True, False, True]
[[traced(plus, b).check(a) is (a is b) for a in l] for b in l] -> [[True] * 4] * 4
again(plus, v), again(lambda t: (t.add(1),), v), again(lambda t: (), v) -> True, True, True
again(lambda t: (t, t), v), again(lambda t: (t,), v, kind='fake') -> True, True
def rows(t): a = t.nonzero(); b = t.nonzero(); T._check(a.size(0) == 2); return a.add(b)
def more_rows(t): a = t.nonzero(); t.add_(1); return t.nonzero()
[again(rows, v, kind=k) for k in ('symbolic', 'fake', 'dynamic')] -> [True] * 3
[again(more_rows, v, kind=k) for k in ('symbolic', 'fake', 'dynamic')] -> [True] * 3
def number(t): t.sum().item(); return t
again(number, i), again(lambda t: (number(t),), i) -> True, True
g = traced(rows, T.ones(2))
g(T.tensor([1.0, 0.0, 2.0])).tolist() -> [[0], [4]]
g(T.ones(3)) -> RuntimeError
def fixed(t, u): a = t.expand(2, t.size(0)); T._check(t.size(0) == 3); return a.narrow(1, 0, 2)
g = traced(fixed, v, T.ones(2), kind='dynamic')
'.expand(2, 3)' in g.code, is_same(g) -> True, True
def env(t): return t.size(0).shape_env
traced(lambda t: (env(t).create_unbacked_symint(), t)[1], v) -> NotImplementedError
traced(lambda t: (t.nonzero(), env(t).create_unbacked_symint(), t)[2], v) -> NotImplementedError
traced(lambda t: (env(t).create_unbacked_symint(), t.nonzero(), t)[2], v) -> NotImplementedError
traced(lambda t: (env(t).create_symint(5, 'x'), t)[1], v) -> NotImplementedError
traced(lambda t: (env(t).create_symint(1, 'x'), t)[1], v) -> NotImplementedError
def left(t): t.fake_mode.__exit__(None, None, None); return t
def around(t): m = t.fake_mode; m.__enter__(); u = t + 1; m.__exit__(None, None, None); return u
traced(left, v) -> NotImplementedError
traced(around, v).code.count('add'), T._meta.mode_count() -> 1, 0
traced(lambda t: t.as_subclass(T.nn.Parameter), v) -> NotImplementedError
traced(lambda t: t.as_subclass(T.Tensor), v).code.count('t0[...]') -> 1
traced(lambda t: [t], v) -> TypeError
traced(lambda t: (t, 3), v) -> TypeError
traced(lambda t: None, v) -> TypeError
traced(lambda t: t.size(0), v) -> TypeError
e = traced(plus, v).shape_env
e.frozen, e.freeze() -> False, None
g = traced(plus, v)
e = g.shape_env
e.freeze(), g.shape_env.frozen, is_same(g) -> None, False, True
"""

#: calls_of_equal_symbols: what is equal to a symbol takes its place everywhere, without a guard
calls_of_equal_symbols = """
e = T.fx.experimental.symbolic_shapes.ShapeEnv()
a, b, c = [e.create_symint(n, x, 'dynamic') for n, x in ((6, 'a'), (6, 'b'), (4, 'c'))]
bool(a == b), e.freeze(), len(e.guards) -> True, None, 1
l = [lambda s: s + 1, lambda s: 3 * s - 2, lambda s: s // 2, lambda s: s % 2, lambda s: s * s * c]
l += [lambda s: (s + c) // 3, lambda s: s // 2 % 2, lambda s: s - c, lambda s: s % 4 * s + c]
l += [lambda s: (s * s + c) // (s + 1), lambda s: (s + 1) % (s + 2), lambda s: s // 2 * (s % 3)]
[bool(f(a) == f(b)) for f in l] -> [True] * 12
[bool(f(a) != f(b)) or bool(f(b) < f(a)) for f in l] -> [False] * 12
len(e.guards), e.frozen -> 1, True
"""

#: check_trace_calls [slotcore]: the calls about traces (M5, M11)
#> check_trace_calls: checks
def check_trace_calls():
    for number, text in (("M5", calls_of_trace_nodes), ("M11", calls_of_traces),
                         ("M5", calls_of_graphs_again), ("M11", calls_of_kept_environments),
                         ("M11", calls_of_compared_sizes), ("M11", calls_of_equal_symbols)):
        assert_calls(number, text)
