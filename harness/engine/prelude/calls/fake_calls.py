"""What calls give that are about fakes with symbols, the cache of a mode, and documents."""

#: calls_of_symbolic_fakes: which symbols a fake gets, and what it says of itself
calls_of_symbolic_fakes = """
E, F = T.fx.experimental.symbolic_shapes.ShapeEnv, T._subclasses.FakeTensorMode
u, e = T._subclasses.meta_utils, E()
m, t = F(shape_env=e), T.ones(1, 3)
def ints(tensor, **more): return [type(one) is int for one in m.from_tensor(tensor, **more).size()]
ints(t), ints(t, kind='dynamic'), ints(t) -> [True, False], [False, False], [True, False]
ints(t, kind='dynamic'), ints(t, static_shapes=True) -> [False, False], [True, True]
m.from_tensor(t, kind='static') -> ValueError
m.from_tensor(t, kind='other') -> ValueError
m.from_tensor(t, kind=3) -> TypeError
m.from_tensor(t, kinds='duck') -> TypeError
m.from_tensor(t, True) -> TypeError
m.shape_env is e, F().shape_env -> True, None
t = T.ones(4)
m.from_tensor(t).untyped_storage().nbytes().hint -> 16
t.untyped_storage().resize_(20).nbytes() -> 20
m.from_tensor(t).untyped_storage().nbytes().hint -> 20
t = T.ones(4, 5)
m.from_tensor(t).stride()[0].hint -> 5
t.set_(t.untyped_storage(), 0, (4, 5), (1, 4)) is t, m.from_tensor(t).stride()[0] -> True, 1
t.set_(t.untyped_storage(), 0, (5, 4), (1, 5)) is t, m.from_tensor(t).size(0).hint -> True, 5
t = T.ones(4)
t.grad = T.ones(4)
m.from_tensor(t).grad.size(0).hint -> 4
t.grad = T.zeros(4)
m.from_tensor(t).grad.size(0).hint -> 4
o, e = E(), E()
m, n = F(shape_env=e), F(shape_env=e)
a, b = m.from_tensor(T.ones(3), kind='dynamic'), n.from_tensor(T.ones(3), kind='dynamic')
str(a.size(0)) == str(b.size(0)), len(e.inputs), a.size(0) is b.size(0) -> False, 8, False
a.add(b) -> RuntimeError
T._meta.describe(u.MetaTensorDescriber(), a, b).size -> (3,)
T._meta.describe(u.MetaTensorDescriber(), a, F(shape_env=o).from_tensor(T.ones(3))) -> ValueError
f = m.from_tensor(T.ones(2, 3))
n = f.nonzero()
n.stride()[0], str(n.stride()[1]) == str(n.size(0)), n.size(1), n.dtype -> 1, True, 2, T.int64
n.untyped_storage().nbytes() - n.size(0) * 16, n.storage_offset(), n._version -> 0, 0, 0
n.fake_mode is m, n.requires_grad, n._is_view() -> True, False, False
n.view(-1) -> RuntimeError
n.tolist() -> RuntimeError
u.MetaTensorDescriber().describe_tensor(n) -> RuntimeError
T._check(n.size(0) == 3), n.size(0) + 0, n.stride()[1] + 0, n.numel() -> None, 3, 3, 6
n.t().view(-1).size(0), n[1:].size(0), n.clone().size(1), f.nonzero().size(0) -> 6, 2, 2, 3
u.MetaTensorDescriber().describe_tensor(n).size -> (3, 2)
f = m.from_tensor(T.ones(1, device='meta'))
[str(one) for one in (f.fake_device, f.device, (f + 1).fake_device)] -> ['meta'] * 3
with m: a = [str(T.ones(1, device=one).fake_device) for one in ('cpu', 'meta')]
a -> ['cpu', 'meta']
"""

#: calls_of_caches: what a mode remembers of operations, and for which operands
calls_of_caches = """
m = T._subclasses.FakeTensorMode()
a, b, c = [m.from_tensor(one) for one in (T.ones(2, device='meta'), T.ones(2), T.ones(6))]
with m: k = [str((one + 1).device) for one in (a, b, a)]
k -> ['meta', 'cpu', 'meta']
with m: k = [one.view(2, 2).storage_offset() for one in (c[1:5], c[2:], c[:4])]
k -> [1, 2, 0]
with m: k = [one[1].storage_offset() for one in (c[1:5], c[2:], c[:4])]
k -> [2, 3, 1]
def made(dtype): return m.from_tensor(T.ones(2, dtype=dtype))
with m: k = [made(one) for one in (T.int64, T.float64, T.complex64)]
with m: l = [one.add(one).dtype for one in k], [one.clone().dtype for one in k]
l -> ([T.int64, T.float64, T.complex64], [T.int64, T.float64, T.complex64])
with m: l = [(one == one).dtype for one in k], [one.sum().dtype for one in k]
l -> ([T.bool, T.bool, T.bool], [T.int64, T.float64, T.complex64])
with m: k = [T.ones(2, dtype=one).dtype for one in (T.float32, T.int64, T.bool)]
k -> [T.float32, T.int64, T.bool]
with m: k = [T.zeros(2).dtype, T.zeros(2, dtype=T.uint8).dtype, T.ones(2, device='meta').is_meta]
k -> [T.float32, T.uint8, True]
with m: o = T.ones(8, dtype=T.uint8)
with m: k = [o.view(one).dtype for one in (T.bool, T.uint8, T.int64, T.float64)]
k -> [T.bool, T.uint8, T.int64, T.float64]
d = m.from_tensor(T.ones(2, dtype=T.complex64).conj()._neg_view())
def bits(one): return one.is_conj(), one.is_neg()
def views(): return [bits(one) for one in (d.data, d.detach(), d[...], d.view(1, 2), d.clone())]
with m: k, l = views(), views()
k == l, k -> True, [(True, True)] * 4 + [(False, False)]
m = T._subclasses.FakeTensorMode()
c = m.from_tensor(T.ones(6))
m.cache_info() -> (0, 0, 0)
with m: c + 1
with m: c + 1, c + 1
m.cache_info() -> (2, 1, 1)
with m: c.view(2) -> RuntimeError
m.cache_info()[2], m.cache_clear(), m.cache_info()[2] -> 1, None, 0
with m: c + 1
c + 1 is None, m.cache_info() -> False, (2, 3, 1)
m.cache_info(1) -> TypeError
E = T.fx.experimental.symbolic_shapes.ShapeEnv
m, x = T._subclasses.FakeTensorMode(shape_env=E()), E().create_symint(4, 'x', 'dynamic')
f, o = m.from_tensor(T.ones(4), kind='dynamic'), m.from_tensor(T.ones(1), static_shapes=True)
with m: f.narrow(0, 0, f.size(0)), f.view(f.size(0)), f.expand(2, f.size(0))
with m: f.narrow(0, 0, x) -> ValueError
with m: f.view(x) -> ValueError
with m: f.expand(2, x) -> ValueError
with m: k = [(o.expand(one) + 1).size(0) for one in (f.size(0), x)]
[str(one) for one in k], k[0].shape_env is k[1].shape_env -> ['s0', 's0'], False
def over(dtype, size, *more): return T.empty(0, dtype=dtype).set_(T.UntypedStorage(size), 1, *more)
a, b = over(T.bool, 0, (0,), (8,))._neg_view(), over(T.uint8, 8, (1,), (0,))
a, b = m.from_tensor(a, static_shapes=True), m.from_tensor(b, static_shapes=True)
with m: k = (1 + a).size(), (b + 0).size()
k -> ((0,), (1,))
"""

#: calls_of_documents: which rows fit together, and the bounds of fields
calls_of_documents = """
import json
s, p, r = 'storages', 'tensors', T._subclasses.meta_utils.MetaTensorDescriber()
t, v = T.ones(4).requires_grad_(), T.ones(4)
t.grad = T.ones(4)
def written(*tensors): return T._meta.dumps(T._meta.describe(r, *tensors))
w, k = written(t[1:]), written(v.view(2, 2), v.detach())
def put(d, value, *way): [d := d[one] for one in way[:-1]]; d[way[-1]] = value
def of(text, *edits): d = json.loads(text); [put(d, *one) for one in edits]; return json.dumps(d)
def read(text, *edits): return T._meta.loads(of(text, *edits))
read(w).size, read(k).size, read(w).grad, read(w).base.grad.size -> (3,), (2, 2), None, (4,)
b, m = '00' * 16, (('meta', s, 0, 'device'), ('meta', s, 1, 'device'))
read(w, (b, s, 0, 'data')).storage_data == b, str(read(w, *m).storage_device) -> True, 'meta'
read(w, (b, s, 0, 'data'), *m) -> ValueError
read(w, m[0]) -> ValueError
read(w, m[1]) -> ValueError
read(w, ('AB' * 16, s, 0, 'data')) -> ValueError
read(w, (b + '0', s, 0, 'data')) -> ValueError
read(w, (b[1:], s, 0, 'data')) -> ValueError
read(w, (1, s, 0, 'id'), (0, s, 1, 'id')) -> ValueError
read(w, (1, p, 0, 'id'), (0, p, 1, 'id')) -> ValueError
read(w, (0, 'version')) -> ValueError
read(w, (3, 'version')) -> ValueError
read(w, (1, 'version')).size -> (3,)
read(w, (-1, 'roots', 0)) -> ValueError
read(k, (-1, p, 0, 'base'), ([0, 1, 2], 'roots')) -> ValueError
read(w, (-1, p, 1, 'grad'), ([0, 2], 'roots')) -> ValueError
read(w, (-1, p, 0, 'storage')) -> ValueError
read(w, (-1, p, 2, 'version_group')) -> ValueError
read(w, (-1, p, 2, 'version')) -> ValueError
read(w, (4294967296, p, 2, 'version')) -> ValueError
read(w, (4294967295, p, 2, 'version')).base.grad.version -> 4294967295
read(w, ((1 << 63) - 1, p, 2, 'version_group')).base.grad.version_group == (1 << 63) - 1 -> True
read(w, ('int64', p, 0, 'dtype')) -> ValueError
read(w, ('int64', p, 0, 'dtype'), (False, p, 0, 'requires_grad')) -> ValueError
read(w, (True, p, 2, 'is_conj')) -> ValueError
read(w, (True, p, 2, 'is_neg')).base.grad.is_neg -> True
read(k, (1, p, 0, 'version')) -> ValueError
read(k, (1, p, 1, 'version')) -> ValueError
read(k, (1, p, 0, 'version'), (1, p, 2, 'version')) -> ValueError
read(k, *((1, p, i, 'version') for i in range(3))).version -> 1
read(k, (7, p, 1, 'version_group'), (1, p, 1, 'version')).version -> 0
n = json.loads(k)
n[s].append(dict(n[s][0], id=1, device='meta'))
read(json.dumps(n), (1, p, 2, 'storage')) -> ValueError
read(json.dumps(n), (1, p, 0, 'storage')) -> ValueError
read(json.dumps(n), (1, p, 0, 'storage'), ('meta', s, 0, 'device')).storage -> 1
T._meta.loads(chr(0xFEFF) + w) -> ValueError
T._meta.loads(' ' + w + chr(10)).size -> (3,)
T._meta.loads(w + w) -> ValueError
T._meta.loads(w[:-1] + ',"roots":[0]}') -> ValueError
T._meta.loads(w[:-1] + ',"more":0}') -> ValueError
T._meta.loads(w[:-1] + ',}') -> ValueError
l = written(T.ones(1, 1, 1, 1, 1, 1, 1, 2))
T._meta.loads(l).size -> (1, 1, 1, 1, 1, 1, 1, 2)
T._meta.loads(l.replace('[1,', '[1,1,').replace('[2,', '[2,2,')) -> ValueError
def with_bytes(one): return T._meta.describe(r, one, copy_data=True)
o = with_bytes(T.ones(0))
o.storage_data, T._meta.loads(o.as_json()).storage_data -> '', ''
with_bytes(T.ones(1, device='meta')).storage_data -> None
x, b = T.ones(2).requires_grad_(), T.ones(2)
v = b[0]
b.mul_(x) is b, r.describe_tensor(v).requires_grad -> True, True
r.describe_tensor(v).is_leaf -> False
class Own(T.nn.Parameter): pass
c = T._subclasses.meta_utils.MetaConverter()
r.describe_tensor(Own(T.ones(1))).is_parameter -> False
type(c(Own(T.ones(1)))) is T.Tensor -> True
"""

#: calls_of_described_bytes: whose bytes a description has, and where they begin and end
calls_of_described_bytes = """
import json
r, say = T._subclasses.meta_utils.MetaTensorDescriber(), T._meta.dumps
def bytes_in(*tensors): return T._meta.describe(r, *tensors, copy_data=True)
def rows(*all): return [one.get('data') for one in json.loads(say(bytes_in(*all)))['storages']]
t = T.tensor([0, 10, 127, 128, 160, 255], dtype=T.uint8)
bytes_in(t[1:3]).storage_data, bytes_in(t, t[:1]).storage_data -> '000a7f80a0ff', '000a7f80a0ff'
f = T.frombuffer(bytearray(range(9)), dtype=T.uint8, offset=6)
v = T.empty(0, dtype=T.uint8).set_(f.untyped_storage()[1:])
bytes_in(f[1:]).storage_data, bytes_in(f[1:]).base.storage_data -> '060708', '060708'
rows(f, v), rows(v, f), rows(v, v[1:]) -> ['060708', '0708'], ['0708', '060708'], ['0708']
t.untyped_storage().resize_(2) is None, rows(t) -> False, ['000a']
t.untyped_storage().resize_(0) is None, rows(t), bytes_in(t).size -> False, [''], (6,)
a, b = T.ones(1, dtype=T.uint8), T.zeros(2, dtype=T.float64).requires_grad_()
b.grad = T.zeros(2, dtype=T.float64).fill_(2)
d = bytes_in(b.view(-1), a)
d.storage_nbytes, d.base.grad.storage_data, d.grad -> 16, '0000000000000040' * 2, None
[d.base.grad.storage_id == d.storage_id, d.base.storage_id == d.storage] -> [False, True]
rows(b.view(-1), a) -> ['00' * 16, '01', '0000000000000040' * 2]
b.grad = None
rows(T.ones(2, device='meta'), a), rows(a, T.ones(0, device='meta')) -> [None, '01'], ['01', None]
"""

#: calls_of_symbolic_documents: what a document says of a fake with symbols, its base and gradient
calls_of_symbolic_documents = """
M, E = T._subclasses.FakeTensorMode, T.fx.experimental.symbolic_shapes.ShapeEnv
C, D = T._subclasses.meta_utils.MetaConverter, T._subclasses.meta_utils.MetaTensorDescriber
r, say, read, of = D(), T._meta.dumps, T._meta.loads, T._meta.convert
def described(one): return say(D().describe_tensor(one))
def numbers(one): return *one.shape, *one.stride(), one.storage_offset(), storage(one).nbytes()
def storage(one): return one.untyped_storage()
def family(one): return one, one._base, one._base.grad, one._base.grad._base
def texts(one): return [str(number) for part in family(one) for number in numbers(part)]
def ints(one): return [int(number) for part in family(one) for number in numbers(part)]
e, x = E(), T.ones(4, 6).requires_grad_()
x.grad = T.ones(6, 4).t()
m = M(shape_env=e)
[type(e.create_symint(3, one, 'dynamic')) is int for one in ('a"b', chr(92), "'")] -> [False] * 3
f = m.from_tensor(x[1:], kind='dynamic')
x.grad, d = None, r.describe_tensor(f)
say(d) == described(f) == say(read(say(d))), read(say(d)).shape_env.inputs == e.inputs -> True, True
say(d.base) == described(f._base) == say(read(say(d)).base) != say(d) -> True
say(d.base.grad) == described(f._base.grad) == say(read(say(d)).base.grad) != say(d.base) -> True
d.shape_env is d.shape_env, d.shape_env is e, d.shape_env.guards == e.guards -> True, False, True
n = M(shape_env=d.shape_env).fake_tensor_converter
g = of(n, d)[0]
g is of(n, d)[0], described(g) == say(d), texts(g) == texts(f) -> True, True, True
storage(g) is storage(g._base), g._base.grad.size(0).shape_env is d.shape_env -> True, True
of(n, read(say(d)))[0].shape, of(n, d.base)[0].shape == (4, 6) -> (3, 6), True
o = [C(), M(shape_env=E()).fake_tensor_converter, M(shape_env=e).fake_tensor_converter]
[ints(of(one, d)[0])[:6] for one in o] -> [[3, 6, 6, 1, 6, 96]] * 3
[ints(of(one, d)[0])[6:18] for one in o] -> [[4, 6, 6, 1, 0, 96, 4, 6, 1, 4, 0, 96]] * 3
bool(f.size(0) > 1), bool(f.size(1) == 6), d.shape_env.guards == e.guards -> True, True, False
d.size, d.stride, d.storage_offset, d.base.grad.stride -> (3, 6), (6, 1), 6, (1, 4)
r.describe_tensor(f).shape_env.replacements == e.replacements, ints(f) == ints(g) -> True, True
d = r.describe_tensor(f)
d.shape_env, 'shape_env' in say(d), say(d) == say(read(say(d))) -> None, False, True
"""

#: calls_of_real_tensors_in_modes: a mode that has seen an operation on a fake refuses a real tensor
calls_of_real_tensors_in_modes = """
m = T._subclasses.FakeTensorMode()
f, r, refuses = m.from_tensor(T.ones(3)), T.ones(3), unless(RuntimeError)
l = [lambda t: t.add(1), lambda t: t + t, lambda t: 2 * t, lambda t: t == 2, lambda t: t.sum()]
l += [lambda t: t.relu(), lambda t: t.view(-1), lambda t: t.clone(), lambda t: t[1:]]
l += [lambda t: t.t(), lambda t: t.mul_(2), lambda t: t.expand(2, 3), lambda t: t.copy_(t)]
with m: q = [c(f).fake_mode is m for c in l] + [c(f).fake_mode is m for c in l]
q -> [True] * 26
with m: q = [refuses(c)(r) for c in l]
q, r.tolist(), r._version -> [None] * 13, [1.0] * 3, 0
"""

#: check_fake_calls [slotcore]: the calls about fakes with symbols, caches and documents (M5, M6)
#> check_fake_calls: swaps checks
def check_fake_calls():
    with T.enable_grad():
        for number, text in (("M5", calls_of_symbolic_fakes), ("M15", calls_of_caches),
                             ("M6", calls_of_documents), ("M4", calls_of_described_bytes),
                             ("M8", calls_of_modes_gone),
                             ("M12", calls_of_symbolic_documents), ("M9", calls_of_tables),
                             ("M15", calls_of_rows_from_data),
                             ("M7", calls_of_real_tensors_in_modes)):
            assert_calls(number, text)
    ask_pairs(pairs_of_what_dies)
