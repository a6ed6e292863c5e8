"""What errors say, where it has numbers or names; and which sizes and graphs are refused."""

#: calls_of_messages: errors with their messages
calls_of_messages = """
t, x = T.ones(2, 3), T.ones(2).requires_grad_()
s = T.UntypedStorage([1, 2, 3])
i, j, o = c10.PyInterpreter('one'), c10.PyInterpreter('other'), c10.PyObjectSlot()
o.init(i, t, c10.PyInterpreterStatus.DEFINITELY_UNINITIALIZED)
def from_(size, **more): T.frombuffer(bytearray(size), dtype=T.float32, **more)
i64 = T.ones(1, dtype=T.int64)
f = T._subclasses.FakeTensorMode().from_tensor(t)
s.copy_(T.UntypedStorage(5)) -> RuntimeError('the storages have 3 and 5 bytes')
s[3] -> IndexError('index 3 is outside of a storage of 3 bytes')
s[0] = 256 -> RuntimeError('a byte must be in 0..255, got 256')
s['x'] -> TypeError('a storage is indexed by an int or a slice, not by str')
T.UntypedStorage(-1) -> RuntimeError('a storage cannot have -1 bytes')
t.add(T.ones(2)) -> RuntimeError('the sizes [2, 3] and [2] do not fit together')
T.ones(3).add_(t) -> RuntimeError('a result of size [2, 3] cannot be stored in a tensor of [3]')
t.view(7) -> RuntimeError('the size [7] does not fit 6 elements')
t.view(-1, 4) -> RuntimeError('the size [-1, 4] does not fit 6 elements')
t.t().view(6) -> RuntimeError('the strides [1, 3] of the size [3, 2] do not allow a view of [6]')
t.expand(4, 3) -> RuntimeError('the size [2, 3] does not expand to [4, 3]')
t.select(3, 0) -> IndexError('there is no dimension 3 in a tensor of 2')
t.select(1, 7) -> IndexError('index 7 is outside of a dimension of size 3')
t.narrow(1, 2, 4) -> RuntimeError('start 2 and length 4 exceed a dimension of size 3')
t.transpose(0, 5) -> IndexError('there is no dimension 5 in a tensor of 2')
t.set_(s, 0, (), (1,)) -> RuntimeError('the number of sizes and of strides differ: [] and [1]')
t.fill_('x') -> TypeError('fill_: expected a Tensor or a number, got str')
t.item() -> RuntimeError('a tensor of 6 elements is not a number')
i64.add_(1.5) -> RuntimeError('a result of float32 cannot be stored in a tensor of int64')
T.ones(2, -1) -> RuntimeError('a size cannot be negative: [2, -1]')
T.tensor([[1], [1, 2]]) -> ValueError('the list is nested unevenly at dimension 1')
T.tensor(['a']) -> TypeError('expected a number, got str')
T.tensor([256], dtype=T.uint8) -> RuntimeError('256 does not fit into the dtype')
from_(3) -> ValueError("3 bytes are no multiple of the dtype's 4")
from_(8, offset=9) -> ValueError('offset 9 is outside of a buffer of 8 bytes')
from_(8, count=3) -> ValueError('cannot take 3 elements from 8 bytes')
x.grad = T.ones(3) -> RuntimeError('the grad has the size [3] and the tensor has [2]')
x.grad = 1 -> TypeError('grad: expected a Tensor, got int')
T.Tensor._make_subclass(int, t) -> RuntimeError('int does not inherit from Tensor')
T.utils.swap_tensors(t, 3) -> AttributeError('int is no Tensor')
(x * 2).backward(T.ones(3)) -> RuntimeError('the gradient has the size [3] and the tensor has [2]')
T.autograd.backward([(x * 2).sum()] * 2, [None]) -> RuntimeError('got 2 tensors and 1 gradients')
x.register_hook(3) -> TypeError('a hook must be callable, not int')
e = T.fx.experimental.symbolic_shapes.ShapeEnv()
a = e.create_symint(7, 'x', 'dynamic')
e.create_symint(3, 'z', 'other') -> ValueError('the kind is static, duck or dynamic, and not other')
bool(e.create_unbacked_symint() > 1) -> RuntimeError('only the data decides this size: u1 + -2')
T._check(a < 3) -> RuntimeError('this is false: -1*s0 + 2 >= 0')
T._meta.loads('{"format":1}') -> ValueError('"/format": expected "slotfuzz-meta"')
T._meta.dumps(3) -> TypeError('expected a MetaTensorDesc, got int')
T._meta.convert(3, t) -> TypeError('expected a MetaTensorDesc, got Tensor')
f.tolist() -> NotImplementedError('a tensor on cpu (fake) has no numbers')
T.device('x') -> RuntimeError("there is no device 'x'; there are cpu and meta")
T.ones(1, device=3) -> TypeError('device must be a device or its name, not int')
T.ones(1, dtype=int) -> TypeError('dtype must be a dtype, not type')
T.Tensor._new_with_weak_ptr(0) -> ValueError('0 is not a handle of _weak_ref()')
said = 'this object already belongs to the Python interpreter one and cannot'
said += ' get a Python object in the interpreter other'
o.check(j) -> RuntimeError(said)
o.init(j, t, c10.PyInterpreterStatus.TAGGED_BY_OTHER) -> RuntimeError(said)
y = x * 1
z = (y * y).sum()
y.add_(1)
said = 'a tensor that is needed for the gradient, of the size [2], was modified in place'
said += ': it is at version 1 and version 0 was saved'
z.backward() -> RuntimeError(said)
"""

#: calls_of_size_tables: each operation on sizes and ints, and decisions at other sizes
calls_of_size_tables = """
import operator as o
E = T.fx.experimental.symbolic_shapes.ShapeEnv
def sizes(e, n, k): return [e.create_symint(x, str(i), k) for i, x in enumerate(n)]
def made(*n, kind='dynamic'): e = E(); return e, sizes(e, n, kind)
def number(one): return one.hint if type(one) is T.SymInt else one
e, (a, b) = made(7, 5)
p = [(a, 3), (3, a), (-3, a), (a, b), (b, a), (a, a), (a, True), (a + b, -4), (2 * a, b - 9)]
q, s = [tuple(map(number, one)) for one in p], [o.add, o.sub, o.mul, o.floordiv, o.mod]
[[number(f(*one)) for one in p] == [f(*one) for one in q] for f in s] -> [True] * 5
[number(T.sym_max(*one)) for one in p] == [max(one) for one in q] -> True
[number(T.sym_min(*one)) for one in p] == [min(one) for one in q] -> True
def parts(a, b): return [a, a + 1, 2 * a - 3 * b, a * b + 6, -1 * a, 6 * a + 3, a - 14, a % b - 2]
m = [1, 2, 3, -1, -2, -7]
def divided(*two): return [f(x, n) for x in parts(*two) for n in m for f in s[3:]]
[number(one) for one in divided(a, b)] == divided(7, 5) -> True
c = [o.lt, o.le, o.gt, o.ge, o.eq, o.ne]
def pairs(a, b): return [(a, b), (b, a), (a, a), (a, 7), (7, a), (6, a), (a - b, 2), (a, b + 3)]
def asked(f, i): return bool(f(*pairs(*made(7, 5)[1])[i])) == f(*pairs(7, 5)[i])
[all(asked(f, i) for i in range(8)) for f in c] -> [True] * 6
x = [*parts(a, b), a * a, b % a, a % b, a // b, b // a, a // (b + 1), a // 2, a // 3, a % 2, a % 3]
x += [T.sym_max(*one) for one in ((a, b), (a, b + 1), (a, 3), (b, 3), (a // b, a % b))]
[i for i in x if sum(str(i - j) == '0' for j in x) != 1] -> []
all(str(f(i, j)) == str(f(j, i)) for i in x for j in x for f in (o.add, o.mul, T.sym_max)) -> True
all(type(T.sym_max(i, i + 1) - i) is type(T.sym_min(i, i - 2) - i) is int for i in x) -> True
box = [(x, y) for x in range(-2, 9) for y in range(9)]
def at(e, f, r): return [p for p in box if min(p) >= 0 and e.check(p) and f(*p) != r]
def first(e, f, n, r): return r == f(*n) and e.check(n)
def found(k, f, *n): e, s = made(*n, kind=k); r = f(*s); return first(e, f, n, r), at(e, f, r)
def wrong(f, *all): return [(k, n) for k in kinds for n in all if found(k, f, *n) != (True, [])]
kinds, d = ('static', 'duck', 'dynamic'), [(7, 5), (5, 6), (1, 1), (0, 2), (6, 3), (3, 3), (2, 8)]
wrong(lambda a, b: [bool(a >= b), bool(b >= a), bool(a - b > 1), bool(b - a > 0)], *d) -> []
wrong(lambda a, b: [bool(a != b), bool(b == a + 1), bool(b - a != 3), bool(a == b)], *d) -> []
wrong(lambda a, b: [bool(n) for n in (a > 3, a < 8, a == 4, 9 - a > 2, a * a > 16)], *d) -> []
wrong(lambda a, b: [bool(n) for n in (20 - 2 * a > 7, 0 - a * b < -6, a * b >= a)], *d) -> []
wrong(lambda a, b: [bool(n) for n in (b > 2, b < 7, a % b < 5, a % b == 2, a // b > 1)], *d) -> []
wrong(lambda a, b: [bool(n) for n in (a // b <= a, (0 - a) // b > -2, (a - 9) // b < 0)], *d) -> []
wrong(lambda a, b: [bool(n) for n in ((a + 1) // -2 > -4, a % -3 < -1, (a - b) % 3 == 1)], *d) -> []
wrong(lambda a, b: [bool(T.sym_max(a, b) >= n) for n in (a, 3, b + 1, 6)], *d) -> []
wrong(lambda a, b: [bool(T.sym_min(a, b) <= n) for n in (a, 3, b - 1, 0)], *d) -> []
wrong(lambda a, b: [bool(T.sym_max(a - b, 0) > n) for n in (0, 1, -1, a)], *d) -> []
wrong(lambda a, b: [bool(n) for n in (a == b + 2, a > 6, b > 4, a * b > 34, a != 7)], *d) -> []
wrong(lambda a, b: [bool(n) for n in (2 * a == b + 9, a * b == 35, a + b == 12, a > 6)], *d) -> []
wrong(lambda a, b: [bool(n) for n in (a, b - 5, a - b, a // b, a % b)], *d) -> []
wrong(lambda a, b: [int(a) * 2, int(b - a), bool(a * b > 30), [*range(99)][a + b]], *d) -> []
wrong(lambda a, b: [bool(a <= b), bool(b <= a), bool(a == b), bool(2 * a - b == b)], *d) -> []
wrong(lambda a, b: [bool(a >= 7), bool(a <= 7), bool(a == 7), bool(a != b), int(a) < 8], *d) -> []
def about(f): e, (a,) = made(7); r = f(e.create_unbacked_symint(), a); return e, a, r
def holds(e, f, r): return [p for p in box if e.check([p[1]], [p[0]]) and f(*p) != r]
def unsound(f): e, a, r = about(f); return holds(e, f, r)
def passed(f): e, a, r = about(f); return [p[0] for p in box if p[1] == 7 and e.check([7], [p[0]])]
def both(f): return unsound(f), passed(f)
def no(*conditions): [T._check(one) for one in conditions]
both(lambda u, a: (no(u >= 2, u <= 4), bool(u > 1), bool(u * u > 3), a + u)[:3]) -> [], [2, 3, 4]
both(lambda u, a: (no(-1 <= u, 2 > u), bool(u > -2), bool(u > 2))) -> [], [-1, 0, 1]
both(lambda u, a: (no(u == a - 3), bool(u == 4), bool(u > 5), bool(a > u))) -> [], [4]
both(lambda u, a: (no(2 * u == a + 1), bool(a + 1 == 2 * u), bool(2 * u != a + 1))) -> [], [4]
both(lambda u, a: (no(a == u, u >= 3), bool(a > 2), bool(u > 2), bool(u - a == 0))) -> [], [7]
both(lambda u, a: (no(u >= 3, u == a), bool(a > 2), bool(a >= 3), bool(u > 1))) -> [], [7]
both(lambda u, a: (no(u // 2 == 1), bool(u // 2 != 1), bool(1 - u // 2 == 0))) -> [], [2, 3]
both(lambda u, a: (no(T.sym_max(u, 2) <= 3), bool(T.sym_max(u, 2) > 1))) -> [], [*range(-2, 4)]
both(lambda u, a: (no(u != 0, u > -2), no(a // u > 2), bool(u != 0))) -> [], [1, 2]
"""

#: calls_of_kept_environments: what raises leaves an environment as it was, and what a text keeps
calls_of_kept_environments = """
import operator as o
E, dumps, loads = T.fx.experimental.symbolic_shapes.ShapeEnv, T._meta.dumps_env, T._meta.loads_env
exec('def said(f):\\n try: return f()\\n except Exception as e: return type(e).__name__')
e, y = E(), E()
a, c = [one.create_symint(7, 'x', 'dynamic') for one in (e, y)]
b, u, w = e.create_symint(5, 'y'), e.create_unbacked_symint(), e.create_unbacked_symint()
before, p = (dumps(e), dumps(y)), a * a * a * a * a * a * a * a
f = [lambda: a * (1 << 62) + a * (1 << 62), lambda: 0 - a * (-1 << 63), lambda: p * u]
f += [lambda: bool(w == -1 * u), lambda: T._check(u != u), lambda: [*range(9)][u], lambda: bool(u)]
f += [lambda: bool(u > 1), lambda: 3 % (u + 1), lambda: int(u), lambda: u.hint, lambda: a // u]
[said(one) for one in f] == ['RuntimeError'] * 12, (dumps(e), dumps(y)) == before -> True, True
f = [lambda n=n: e.create_symint(*n) for n in ((-1, 'n'), (3, 'x'), (3, ''), (3, 'n', 'unbacked'))]
f += [lambda n=n: e.create_symint(3, n) for n in ('\\t', '\\x7f', '\\xe9', 'n\\0', 'a\\n')]
f += [lambda: e.check([7, 5], [1]), lambda: e.check([7])]
[said(one) for one in f] == ['ValueError'] * 11, dumps(e) == before[0] -> True, True
g = [o.add, o.sub, o.mul, o.floordiv, o.mod, o.lt, o.ge, o.eq, o.ne, T.sym_max, T.sym_min]
{said(lambda: i(*n)) for i in g for n in ((a, c), (c, a), (c, u))} -> {'ValueError'}
(dumps(e), dumps(y)) == before -> True
e.check(sizes=[7, 5]), e.check((7, 5), None), e.check(unbacked=(1, 2), sizes=[7, 5]) -> (True,) * 3
a == None, a != None, a == 'x', 'x' != a, a in [None, ''] -> False, True, False, True, False
T._check(u >= 4), T._check(u <= 9), bool(a * b > 30), bool(b < 6) -> None, None, True, True
before = e.freeze() or dumps(e)
f = [lambda: T._check(u > 4), lambda: bool(a > 3), lambda: int(a), lambda: a // a]
f += [lambda n=n: e.create_symint(*n) for n in ((5, 'z'), (1, 'z'), (9, 'z', 'static'))]
f += [e.create_unbacked_symint, lambda: bool(w == 3), lambda: [*range(9)][a]]
f += [lambda: T._check(w == w * 2), lambda: T._check(w > a)]
[said(one) for one in f] == ['RuntimeError'] * 12, dumps(e) == before -> True, True
T._check(u > 3), T._check(b <= 5), bool(b - 5 > 0), bool(a * b <= 30) -> None, None, False, False
str(a // b), str(b % b) -> '((s0) // (s1))', '((s1) % (s1))'
{said(lambda: T._check(n)) for n in (u > 9, b > 5)}, dumps(e) == before -> {'RuntimeError'}, True
e = E(); a = e.create_symint(5, 'x')
bool(a > 3), bool(a * a < 30), bool(a % 3 == 2), bool(a < 9) -> True, True, True, True
r = loads(dumps(e)); c = r.create_symint(5, 'y')
str(c), r.freeze(), e.frozen -> 's0', None, False
all((c > 3, c >= 4, c < 9, 2 * c > 7, c * c < 30, c % 3 == 2)), bool(c > 8) -> True, False
bool(c > 4) -> RuntimeError
bool(a == 5), a + 0, str(e.create_symint(5, 'z')) -> True, 5, 's0'
e.check([5, 5]), e.check([6, 6]), e.check([5, 6]) -> True, False, False
r = loads(dumps(e))
r.replacements, r.create_symint(5, 'w') + 0, e.create_symint(5, 'w') * 2 -> {'s0': '5'}, 5, 10
c, u = E().create_symint(7, 'x', 'dynamic') > 3, E().create_unbacked_symint()
bool(c), bool(c), T._check(u > 2), bool(u > 1) -> True, True, None, True
u.shape_env.deferred_runtime_asserts -> ['u0 + -3 >= 0']
e = E(); u, w, v = [e.create_unbacked_symint() for _ in range(3)]
T._check(w != 0), T._check(u % w == 0), e.check([], [-1 << 63, -1, 0]) -> None, None, True
T._check(u // w >= v), e.check([], [-1 << 63, -1, 0]), e.check([], [-4, -2, 2]) -> None, False, True
T._check(v * w != 0), T._check(u // (v * w) >= 0), e.check([], [4, 2, 0]) -> None, None, False
said(lambda: T._check(v == 0)) in (None, 'RuntimeError'), e.check([], [4, 2, 0]) -> True, False
e = E(); a, s = e.create_symint(2, 'x', 'dynamic'), 0
for i in range(64): s = s + a * e.create_symint(3, str(i), 'dynamic')
(s + s).hint, (s * 2 - s).hint, s - s, str(a * (-1 << 63)) -> 768, 384, 0, '-9223372036854775808*s0'
s + 1 -> RuntimeError
e = E()
[e.create_symint(n % 3, str(n), 'static') for n in range(1024)][-1], len(e.inputs) -> 0, 1024
w = dumps(e)
e.create_symint(3, 'more') -> RuntimeError
dumps(e) == w, dumps(loads(w)) == w, e.check([n % 3 for n in range(1024)]) -> True, True, True
loads(w + 'input 3 more' + chr(10)) -> ValueError
e = E()
[str(e.create_unbacked_symint()) for _ in range(2048)][-1] -> 'u2047'
e.create_unbacked_symint() -> RuntimeError
e.create_symint(3, 'more', 'dynamic') -> RuntimeError
l = ['slotfuzz-shape-env 1', 'symbol 7 0 dynamic', 'input s0 x']
def text(*more): return chr(10).join((*l, *more, ''))
t = [text('guard ' + n * 99999 + 's0 >= 0') for n in ('((', 'max(', 'max(s0, ', '((s0) % (')]
n = ['*'.join(['s0'] * 9), '9223372036854775808*s0', '2*s00 + -1', '+1*s0', 's0 + +1', '0']
t += [text('guard ' + one + ' >= 0') for one in n]
t += [text(n) for n in ('guard -1*s0 + 7', 'guard -1*s0 + 7 > 0', 'frozen ', 'frozenfrozen')]
t += [text('guard ' + n + ' != 0') for n in ('((s0) // (s1))', 'max(s0)', 's0 - 1', '(s0)')]
t += [text()[:-1], chr(10) + text(), text().replace(chr(10), chr(13) + chr(10)), text() + chr(0)]
t += [text().replace(*n) for n in (('7', '07'), ('7', '+7'), ('x', chr(233)), ('x', chr(127)))]
{said(lambda: loads(one)) for one in t} -> {'ValueError'}
loads(text('guard s0 + -1 >= 0')).check([1]) -> True
loads(text().replace('x', '~ x')).inputs -> [('~ x', 's0')]
"""

#: calls_of_graph_inputs: which tensors a graph takes, and what a trace refuses
calls_of_graph_inputs = """
make = T.fx.experimental.proxy_tensor.make_fx
def traced(f, *given, kind='symbolic'): return make(f, tracing_mode=kind)(*given)
exec('def said(f):\\n try: return f()\\n except Exception as e: return type(e).__name__')
def printed(g): names = {'T': T}; exec(g.code, names); return names['graph']
kinds = 'fake', 'symbolic', 'dynamic'
x, y = [T.ones(2).requires_grad_() for _ in range(2)]
z, n, c = T.ones(2), T.ones(2, dtype=T.complex64), T.ones(2, dtype=T.complex64)[...]
z.grad, y.grad, d = T.ones(2), T.ones(2), T.ones(2, dtype=T.float64)
with T.no_grad(): o = x.view(-1)
p = [T.nn.Parameter(z.detach(), one) for one in (True, False)]
s = [T.ones(2), x, x * 1, *p, T.ones(2)[...], T.ones(2)._neg_view(), d, n, c]
s += [n.conj(), T.ones(2, device='meta'), T.frombuffer(bytearray(8), dtype=T.float32), T.ones(2, 2)]
s += [x.view(-1), (x * 1).view(-1), y, z, o, T.ones(2)[...].requires_grad_()]
def taken(g): return [g.check(one) for one in s]
def same(one): return [one is other for other in s]
all(taken(traced(lambda t: t, one, kind=k)) == same(one) for k in kinds for one in s) -> True
def two(v, w): return [(v, v), (v, w), (v, v[1:]), (v[1:], v), (v, v.detach()), (v, w[1:])]
def more(v): return [(v[1:], v[:3]), (v[:], v[:]), (v, v.data)]
def pairs(): return two(T.ones(4), T.ones(4)) + more(T.ones(4))
def takes(g, i): return [g.check(*one) for one in pairs()] == [i == j for j in range(9)]
def itself(t, *more): return t
all(takes(traced(itself, *pairs()[i], kind=k), i) for k in kinds for i in range(9)) -> True
def f(t, u): t.add_(2); u.mul_(3); return u.add(t[:1])
def rows(*all): return [(one.tolist(), one._version) for one in all]
def done(g, a, b): return rows(g(a, b), a, b)
def all_of(i, k): g = traced(f, *pairs()[i], kind=k); return f, g, printed(g)
def agree(i, k): a, b, c = [done(h, *pairs()[i]) for h in all_of(i, k)]; return a == b == c
all(agree(i, k) for k in kinds for i in range(9)) -> True
m = [lambda n, m: T.ones(n, m).as_strided((2, n), (m, 1), 1), lambda n, m: T.ones(m).expand(n, m)]
m += [lambda n, m: T.ones(n, m).transpose(0, 1)[1:], lambda n, m: T.ones(m, n).sum().expand(n, m)]
m += [lambda n, m: T.ones(n, m).narrow(1, 1, 2), lambda n, m: T.ones(n, m)[::2]]
m += [lambda n, m: T.ones(n, m).t(), lambda n, m: T.ones(n, m)[2:]]
def fits(g, *all): return [g.check(t) and g(t) is t is printed(g)(t) for t in all]
def at(i, k): return fits(traced(itself, m[i](5, 7), kind=k), *(m[i](*n) for n in sizes))
sizes = (5, 7), (6, 8), (8, 9)
[at(i, k) for i in range(8) for k in kinds[1:]] == [[True] * 3] * 16 -> True
[at(i, 'fake') for i in range(8)] == [[True, False, False]] * 8 -> True
v, w, x, x.grad = T.ones(3), T.ones(3), T.ones(3).requires_grad_(), T.ones(3)
def state(): return T._meta.mode_count(), T.is_grad_enabled(), v.tolist(), v._version, x.grad
g, before = traced(lambda t: t.add(1), v), state()
f = [lambda t: setattr(t, 'requires_grad', not t.requires_grad), lambda t: delattr(t, 'grad')]
f += [lambda t: t.clone().copy_(t.fake_mode.from_tensor(w)), lambda t: t.set_(t.untyped_storage())]
f += [lambda t: T.frombuffer(bytearray(4), dtype=T.uint8), lambda t: t.untyped_storage().resize_(0)]
f += [lambda t: T.utils.swap_tensors(t, t.clone()), lambda t: t.fake_mode.from_tensor(w).add(t)]
f += [lambda t: t.add(t.fake_mode.from_tensor(w)), lambda t: setattr(t, 'data', t.clone())]
f += [lambda t: setattr(t, 'grad', t.clone()), lambda t: setattr(t, 'grad', None), lambda t: w == t]
f += [lambda t: T.ones(2, device='meta'), lambda t: (t[0] == 1).item(), lambda t: T.nn.Parameter(t)]
f += [lambda t: T._meta.retrace(g), lambda t: T.nn.Parameter(), lambda t: t.sum().item()]
f += [lambda t: T.Tensor([1]), lambda t: complex(t[0]), lambda t: T.Tensor(2), lambda t: bool(t[0])]
f += [lambda t: float(t[0]), lambda t: t.tolist(), lambda t: w.copy_(t), lambda t: w.view(-1)]
f += [lambda t: t.set_(t), lambda t: int(t[0]), lambda t: t.mul_(w), lambda t: w.mul_(t)]
f += [lambda t: t.set_(), lambda t: t.add(w), lambda t: w.add(t), lambda t: w.item()]
def refused(one, t, k): return said(lambda: traced(lambda t: (one(t), t)[1], t, kind=k))
{refused(one, t, k) for one in f for t in (v, x) for k in kinds} -> {'NotImplementedError'}
p = [(lambda t: t.fake_mode.from_tensor(w), v), (lambda t: (t, w), v), (lambda t: (w, t), v)]
p += [(lambda t: t._base, v[1:]), (lambda t: t.grad, x)]
{said(lambda: traced(*one, kind=k)) for one in p for k in kinds} -> {'NotImplementedError'}
state() == before, [said(lambda: traced(lambda t: t.view(-1)._base, v)(v)) is v] -> True, [True]
"""

#: calls_of_compared_sizes: a comparison that is no decision is an error, and never an answer
calls_of_compared_sizes = """
make = T.fx.experimental.proxy_tensor.make_fx
exec('def said(f):\\n try: return f()\\n except Exception as e: return type(e).__name__')
e = T.fx.experimental.symbolic_shapes.ShapeEnv()
a, u, t = e.create_symint(7, 'x', 'dynamic'), e.create_unbacked_symint(), T.ones(2)
f = [lambda: a == 7.0, lambda: 7.0 != a, lambda: a != 7j, lambda: a == t, lambda: t != a]
{said(one) for one in f}, e.guards -> {'TypeError'}, []
(a > 3) == True, (a > 3) != 1, False == (a > 9), (a > 3) == None -> True, False, True, False
[(a > n) == (a > m) for n in (2, 8) for m in (3, 9)] -> [True, False, False, True]
[(a > n) != (a == m) for n in (2, 8) for m in (7, 9)] -> [False, True, True, False]
{said(lambda: (u > 3) == one) for one in (True, False, a > 3, u > 3)} -> {'RuntimeError'}
hash(a > 3) -> TypeError
def chosen(t): return t.mul(2) if t.sum() == t.size(0) else t
{said(lambda: make(chosen, tracing_mode=k)(t)) for k in ('symbolic', 'dynamic')} -> {'TypeError'}
"""

#: check_error_calls [slotcore]: the calls that raise, with what they say (P8)
#> check_error_calls: checks swaps
def check_error_calls():
    with T.enable_grad():
        assert_calls("P8", calls_of_messages)
