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

#: calls_of_kept_environments: what raises leaves an environment as it was, and what a text keeps
calls_of_kept_environments = """
import operator as o
E, dumps, loads = T.fx.experimental.symbolic_shapes.ShapeEnv, T._meta.dumps_env, T._meta.loads_env
e, y = E(), E()
a, c = [one.create_symint(7, 'x', 'dynamic') for one in (e, y)]
b, u, w = e.create_symint(5, 'y'), e.create_unbacked_symint(), e.create_unbacked_symint()
before, p = (dumps(e), dumps(y)), a * a * a * a * a * a * a * a
f = [lambda: a * (1 << 62) + a * (1 << 62), lambda: 0 - a * (-1 << 63), lambda: p * u]
f += [lambda: bool(w == -1 * u), lambda: T._check(u != u), lambda: [*range(9)][u], lambda: bool(u)]
f += [lambda: bool(u > 1), lambda: 3 % (u + 1), lambda: int(u), lambda: u.hint, lambda: a // u]
[raised(one) for one in f] == [RuntimeError] * 12, (dumps(e), dumps(y)) == before -> True, True
f = [lambda n=n: e.create_symint(*n) for n in ((-1, 'n'), (3, 'x'), (3, ''), (3, 'n', 'unbacked'))]
f += [lambda n=n: e.create_symint(3, n) for n in ('\\t', '\\x7f', '\\xe9', 'n\\0', 'a\\n')]
f += [lambda: e.check([7, 5], [1]), lambda: e.check([7])]
[raised(one) for one in f] == [ValueError] * 11, dumps(e) == before[0] -> True, True
g = [o.add, o.sub, o.mul, o.floordiv, o.mod, o.lt, o.ge, o.eq, o.ne, T.sym_max, T.sym_min]
{raised(lambda: i(*n)) for i in g for n in ((a, c), (c, a), (c, u))} -> {ValueError}
(dumps(e), dumps(y)) == before -> True
e.check(sizes=[7, 5]), e.check((7, 5), None), e.check(unbacked=(1, 2), sizes=[7, 5]) -> (True,) * 3
a == None, a != None, a == 'x', 'x' != a, a in [None, ''] -> False, True, False, True, False
T._check(u >= 4), T._check(u <= 9), bool(a * b > 30), bool(b < 6) -> None, None, True, True
before = e.freeze() or dumps(e)
f = [lambda: T._check(u > 4), lambda: bool(a > 3), lambda: int(a), lambda: a // a]
f += [lambda n=n: e.create_symint(*n) for n in ((5, 'z'), (1, 'z'), (9, 'z', 'static'))]
f += [e.create_unbacked_symint, lambda: bool(w == 3), lambda: [*range(9)][a]]
f += [lambda: T._check(w == w * 2), lambda: T._check(w > a)]
[raised(one) for one in f] == [RuntimeError] * 12, dumps(e) == before -> True, True
T._check(u > 3), T._check(b <= 5), bool(b - 5 > 0), bool(a * b <= 30) -> None, None, False, False
str(a // b), str(b % b) -> '((s0) // (s1))', '((s1) % (s1))'
{raised(lambda: T._check(n)) for n in (u > 9, b > 5)}, dumps(e) == before -> {RuntimeError}, True
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
raised(lambda: T._check(v == 0)) in (None, RuntimeError), e.check([], [4, 2, 0]) -> True, False
e = E(); a = [e.create_symint(3, n, 'dynamic') for n in 'abc']
[T._check(n <= 1 << 62) for n in a], bool(a[0] + a[1] + a[2] >= 5) -> [None] * 3, True
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
{raised(lambda: loads(one)) for one in t} -> {ValueError}
loads(text('guard s0 + -1 >= 0')).check([1]) -> True
loads(text().replace('x', '~ x')).inputs -> [('~ x', 's0')]
"""

#: calls_of_compared_sizes: a comparison that is no decision is an error, and never an answer
calls_of_compared_sizes = """
make = T.fx.experimental.proxy_tensor.make_fx
e = T.fx.experimental.symbolic_shapes.ShapeEnv()
a, u, t = e.create_symint(7, 'x', 'dynamic'), e.create_unbacked_symint(), T.ones(2)
f = [lambda: a == 7.0, lambda: 7.0 != a, lambda: a != 7j, lambda: a == t, lambda: t != a]
{raised(one) for one in f}, e.guards -> {TypeError}, []
(a > 3) == True, (a > 3) != 1, False == (a > 9), (a > 3) == None -> True, False, True, False
[(a > n) == (a > m) for n in (2, 8) for m in (3, 9)] -> [True, False, False, True]
[(a > n) != (a == m) for n in (2, 8) for m in (7, 9)] -> [False, True, True, False]
{raised(lambda: (u > 3) == one) for one in (True, False, a > 3, u > 3)} -> {RuntimeError}
hash(a > 3) -> TypeError
def chosen(t): return t.mul(2) if t.sum() == t.size(0) else t
{raised(lambda: make(chosen, tracing_mode=k)(t)) for k in ('symbolic', 'dynamic')} -> {TypeError}
"""

#: check_error_calls [slotcore]: the calls that raise, with what they say (P8)
#> check_error_calls: checks swaps
def check_error_calls():
    with T.enable_grad():
        assert_calls("P8", calls_of_messages)
