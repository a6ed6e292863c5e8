"""What calls give that are about descriptions, fakes and modes."""

#: calls_of_descriptions: fields of descriptions, and their texts
calls_of_descriptions = """
u = T._subclasses.meta_utils
t = T.ones(2, 3, dtype=T.float64).requires_grad_()
t.grad = T.zeros(2, 3, dtype=T.float64)
d = u.MetaTensorDescriber().describe_tensor(t)
d.size, d.stride, d.dtype, d.storage_offset, d.requires_grad -> (2, 3), (3, 1), T.float64, 0, True
d.is_leaf -> True
d.base, d.is_conj, d.is_neg, d.is_parameter, d.version -> None, False, False, False, 0
d.creation_meta -> 'default'
d.grad.size, d.grad.requires_grad, d.grad.id == d.id, d.grad.grad -> (2, 3), False, False, None
d.storage == d.storage_id, d.storage_nbytes, d.storage_resizable -> True, 48, True
d.storage_data -> None
str(d.storage_device), d.grad.storage == d.storage -> 'cpu', False
d.version_group == d.grad.version_group -> False
type(d) is u.MetaTensorDesc, T._meta.dumps(d) == d.as_json() -> True, True
d.size = 3 -> AttributeError
d.nothing -> AttributeError
u.MetaTensorDesc() -> TypeError
v = T.ones(2, 3).t()[1:]
v.add_(1)
e = u.MetaTensorDescriber().describe_tensor(v)
e.size, e.stride, e.storage_offset, e.version, e.base.size -> (2, 2), (1, 3), 1, 1, (2, 3)
e.base.stride -> (3, 1)
e.base.version_group == e.version_group, e.base.storage == e.storage -> True, True
e.base.id == e.id -> False
o = T.ones(4).view(2, 2)
o.grad = o._base.view(2, 2)
j = u.MetaTensorDescriber().describe_tensor(o).as_json()
T._meta.loads(j.replace('"base":1', '"base":2', 1)) -> ValueError
k = T._subclasses.FakeTensorMode(shape_env=T.fx.experimental.symbolic_shapes.ShapeEnv())
n = k.from_tensor(T.ones(4), kind='dynamic')
n.narrow(0, 1, 3).size(0) == 3, n.narrow(0, 1, 3).storage_offset() == 1 -> True, True
j = u.MetaTensorDescriber().describe_tensor(n.narrow(0, n.size(0) - 4, 2)).as_json()
'"storage_offset":"s0 + -4"' in j -> True
o = T.fx.experimental.symbolic_shapes.ShapeEnv()
int(o.create_symint(7, 'n')) -> 7
d, q = u.MetaTensorDescriber().describe_tensor(n), T._subclasses.FakeTensorMode(shape_env=o)
T._meta.convert(q.fake_tensor_converter, d)[0].shape -> (4,)
k, y = T._subclasses.FakeTensorMode(), T.ones(4)
y.untyped_storage().resize_(4)
a, b = k.from_tensor(T.ones(4)), k.from_tensor(y)
with k: a.add(1)
with k: b.add(1) -> RuntimeError
with k: b.add_(1) -> RuntimeError
with k: a.copy_(b) -> RuntimeError
e.as_json()[:37] -> '{"format":"slotfuzz-meta","version":2'
T._meta.dumps(T._meta.loads(e.as_json())) == e.as_json() -> True
T._meta.loads(e.as_json()).size -> (2, 2)
m = T.tensor([1, 2], dtype=T.uint8)
c = T._meta.describe(u.MetaTensorDescriber(), m, copy_data=True)
c.storage_data, T._meta.loads(c.as_json()).storage_data -> '0102', '0102'
u.MetaTensorDescriber(copy_data=True).describe_tensor(m).storage_data -> '0102'
T._meta.describe(u.MetaTensorDescriber(), m).storage_data -> None
T.ones(1).as_json -> AttributeError
p = u.MetaTensorDescriber().describe_tensor(T.nn.Parameter(T.ones(1)))
p.is_parameter, p.requires_grad -> True, True
b = T.ones(2).requires_grad_() * 1
s = b.view(-1)
k, l = s * 1, b.mul_(2) is b and T._live_impls()
u.MetaTensorDescriber().describe_tensor(s).is_leaf, T._live_impls() - l -> False, 0
x = u.MetaTensorDescriber().describe_tensor(T.ones(1, dtype=T.complex64).conj()._neg_view())
x.is_conj, x.is_neg, x.dtype -> True, True, T.complex64
f = u.MetaTensorDescriber().describe_tensor(T.frombuffer(bytearray(4), dtype=T.uint8))
f.storage_resizable, f.storage_nbytes -> False, 4
a = u.MetaTensorDescriber()
a.describe_tensor(t).id == a.describe_tensor(t).id != a.describe_tensor(v).id -> True
a.sweep()
a.describe_tensor(None) -> TypeError
u.MetaTensorDescriber(3) -> TypeError
T._meta.describe(a) -> TypeError
T._meta.describe(t, t) -> TypeError
T._meta.dumps(t) -> TypeError
T._meta.loads(b'{}') -> TypeError
T._meta.loads('') -> ValueError
T._meta.loads('{}') -> ValueError
T._meta.loads('[]') -> ValueError
T._meta.loads(e.as_json()[:-1]) -> ValueError
T._meta.loads(e.as_json() + 'x') -> ValueError
T._meta.loads(e.as_json() + ' ').size -> (2, 2)
def edited(old, new): return T._meta.loads(e.as_json().replace(old, new))
edited('"version":2,"storages"', '"version":3,"storages"') -> ValueError
edited('slotfuzz-meta', 'slotfuzz-mets') -> ValueError
edited('"nbytes":24', '"nbytes":20').storage_nbytes -> 20
edited('"nbytes":24', '"nbytes":-1') -> ValueError
edited('"nbytes":24', '"nbytes":null') -> ValueError
edited('"nbytes":24', '"nbytes":true') -> ValueError
edited('"nbytes":24', '"nbytes":[24]') -> ValueError
edited('"nbytes":24', '"nbytes":{}') -> ValueError
edited('"base":1', '"base":null') -> ValueError
edited('"nbytes":24', '"nbytes":"24"') -> ValueError
edited('"nbytes":24', '"nbytes":24.0') -> ValueError
edited('"nbytes":24', '"nbytes":24,"nbytes":24') -> ValueError
edited('"nbytes":24', '"nbytes":99999999999999999999') -> ValueError
edited('"nbytes":24', '"nbytes":24,"device":"cuda"') -> ValueError
edited('"nbytes":24', '"nbytes":24,"resizable":false').storage_resizable -> False
edited('"nbytes":24', '"nbytes":24,"resizable":1') -> ValueError
edited('"size":[2,2]', '"size":[2,-2]') -> ValueError
edited('"size":[2,2]', '"size":[2]') -> ValueError
edited('"size":[2,2]', '"size":2') -> ValueError
edited('"stride":[1,3]', '"stride":[1,-3]') -> ValueError
edited('"stride":[1,3]', '"stride":[1,4611686018427387904]') -> ValueError
edited('"storage":0', '"storage":1') -> ValueError
edited('"float32"', '"float99"') -> ValueError
edited('"roots":[0]', '"roots":[]') -> ValueError
edited('"roots":[0]', '"roots":[9]') -> ValueError
edited('"id":1', '"id":7') -> ValueError
edited('"base":1', '"base":0') -> ValueError
edited('"base":1', '"base":9') -> ValueError
edited('"version":2,"', '"version":-1,"') -> ValueError
edited('"size":', '"nothing":1,"size":') -> ValueError
edited('"size":[2,2],', '') -> ValueError
"""

#: calls_of_converters: fakes, and the tables of a converter
calls_of_converters = """
u = T._subclasses.meta_utils
c = u.MetaConverter()
t = T.ones(2, 3).requires_grad_()
v = t.view(-1)[1:]
f = c(v)
f.is_meta, f.shape, f.storage_offset(), f.requires_grad, f.is_leaf -> True, (5,), 1, True, False
f._base.shape, f._base.requires_grad, f.untyped_storage().nbytes() -> (2, 3), True, 24
f._base is c(t) -> True
c(v) is f, u.MetaConverter()(v) is f, c.meta_converter is c -> True, False, True
type(f) is T.Tensor -> True
T._meta.memo_sizes(c) -> (2, 1, 2, 1)
f.tolist() -> NotImplementedError
d = c.describer.describe_tensor(v)
T._meta.convert(c, d)[0] is f, len(T._meta.convert(c, d)), d.storage_nbytes -> True, 1, 24
del v, f
def described_once(): c.describer.describe_tensor(T.ones(1)); return T._meta.memo_sizes(c)[:2]
max(max(described_once()) for _ in range(300)) < 40 -> True
c.sweep()
T._meta.memo_sizes(c) -> (1, 1, 0, 0)
p = T.nn.Parameter(T.ones(1))
type(c(p)) is T.nn.Parameter, type(c(p.view(-1))._base) is T.nn.Parameter -> True, True
g = T.ones(1)
g.grad = T.zeros(1)
f = c(g)
f.grad.is_meta, f.grad is c(g.grad), f.grad.shape -> True, True, (1,)
T._meta.convert(c, c.describer.describe_tensor(g).grad)[0] is f.grad -> True
T._meta.convert(c, c.describer.describe_tensor(g.view(-1)).base)[0] is f -> True
g.grad = None
c(g) is f, c(g).grad -> False, None
h = g.view(-1)
m = T._meta.convert(c, T._meta.describe(c.describer, g, h))
g.grad = T.ones(1)
n = T._meta.convert(c, T._meta.describe(c.describer, g, h))
n[0] is m[0], n[1] is m[1], n[1]._base is n[0] -> False, False, True
c(g) is n[0], c(h) is n[1], n[0].grad is c(g.grad) -> True, True, True
a = T.ones(2)
f = c(a)
a.add_(1)
c(a) is f, c(a)._version, f._version -> False, 1, 0
a.resize_(3)
c(a).shape, f.shape -> (3,), (2,)
x, y = T._meta.convert(u.MetaConverter(), T._meta.describe(u.MetaTensorDescriber(), t, t.t()))
y._base is x, x.untyped_storage() is y.untyped_storage(), y.stride() -> True, True, (1, 3)
u.MetaConverter(copy_data=True)(t).is_meta -> True
e = T.fx.experimental.symbolic_shapes.ShapeEnv()
s = T._subclasses.FakeTensorMode(shape_env=e).from_tensor(T.ones(3), kind='dynamic')
type(s.size(0)) is T.SymInt, e.guards -> True, ['-4*s0 + s1 == 0']
f = u.MetaConverter()(s)
f.shape, type(f.size(0)) is int, f.is_meta, e.guards[1:] -> (3,), True, True, ['s0 + -3 == 0']
w = T.ones(2)
a, b = w[0:2], T.ones(2)
a.grad, b.grad = b, a
f = c(a)
w.requires_grad_()
g = c(a)
g is f, g.grad.grad is g, c(b) is g.grad -> False, True, True
a.grad = f.grad = g.grad = None
c(3) -> TypeError
c() -> TypeError
c(t, t) -> TypeError
u.MetaConverter(3) -> TypeError
T._meta.convert(c, t) -> TypeError
T._meta.convert(3, d) -> TypeError
T._meta.convert(c) -> TypeError
T._meta.memo_sizes(None) -> TypeError
"""

#: calls_of_fake_modes: modes and their fakes
calls_of_fake_modes = """
m, n = T._subclasses.FakeTensorMode(), T._subclasses.FakeTensorMode()
is_fake = T._subclasses.fake_tensor.is_fake
t = T.ones(2, 3).requires_grad_()
f = m.from_tensor(t)
is_fake(f), is_fake(t), is_fake(3), f.fake_mode is m -> True, False, False, True
str(f.fake_device) -> 'cpu'
str(f.device), f.is_meta, str(f.untyped_storage().device) -> 'cpu', False, 'meta'
f.requires_grad -> True
f.shape, m.from_tensor(t) is f, n.from_tensor(t) is f -> (2, 3), True, False
m.from_tensor(t.t()).fake_mode is m -> True
m.from_tensor(T.ones(1, device='meta')).is_meta -> True
t.fake_mode -> AttributeError
t.fake_device -> AttributeError
f.data_ptr() -> NotImplementedError
f.tolist() -> NotImplementedError
f.sum().item() -> NotImplementedError
bool(f.sum()) -> NotImplementedError
f.add(t) -> RuntimeError
t.mul(f) -> RuntimeError
f == t -> RuntimeError
f.add(n.from_tensor(t)) -> RuntimeError
t.grad = f -> RuntimeError
a = [T.tensor([1, 2]), T.ones(2), T.ones(2, dtype=T.complex64)]
b = [m.from_tensor(one) for one in a]
def types(x): return [(x + n).dtype for n in (1, True, 1.0, 1 + 0j, False, 0, 0.0)]
[types(one) for one in b] == [types(one) for one in a] -> True
t.data = f -> RuntimeError
T.ones(2, 3).copy_(f) -> RuntimeError
T.ones(2, 3).set_(f) -> RuntimeError
g = [f.view(-1), f.t(), f.add(f), f.mul(2), f.clone(), f.sum(), f == f, f.relu()]
[one.fake_mode is m for one in g] -> [True] * 8
g = [f.detach(), f.data, f[0], f.expand(2, 2, 3)]
[one.fake_mode is m for one in g] -> [True] * 4
f.mul(2).sum().backward()
f.grad.fake_mode is m, f.grad.shape, t.grad -> True, (2, 3), None
T._meta.mode_count() -> 0
with m as e: a, b, i = T.ones(2), T._meta.mode_count(), is_fake(T.UntypedStorage(1))
e is m, a.fake_mode is m, b, i, T._meta.mode_count() -> True, True, 1, False, 0
is_fake(T.ones(1)) -> False
with m: t.add(1) -> RuntimeError
with m: t.detach() -> RuntimeError
r = T.ones(2)
with m: r.set_() -> RuntimeError
with m: r.resize_(3) -> RuntimeError
with m: r.zero_() -> RuntimeError
with m: r.sum() -> RuntimeError
with m: r[0] -> RuntimeError
with m: r.relu() -> RuntimeError
with m: r.clone() -> RuntimeError
with m: r.item() -> RuntimeError
with m: r.data -> RuntimeError
r.tolist(), r._version -> [1.0, 1.0], 0
T._meta.mode_count() -> 0
with m: a = [T.empty(2), T.zeros(2), T.tensor([1]), T.Tensor(2), T.Tensor([1]), T.nn.Parameter()]
[g.fake_mode is m for g in a] -> [True] * 6
with m, n: a, b = T.ones(1), T._meta.mode_count()
a.fake_mode is n, b -> True, 2
m.__enter__() is m, n.__enter__() is n -> True, True
m.__exit__(None, None, None) -> RuntimeError
n.__exit__(None, None, None), m.__exit__(None, None, None) -> False, False
m.__exit__(None, None, None) -> RuntimeError
m.__enter__() is m, m.__enter__() is m, T._meta.mode_count() -> True, True, 2
T._meta.leave_modes() -> None
T._meta.leave_modes() -> RuntimeError
T._meta.mode_count(), T.ones(1).item() -> 0, 1.0
c = m.fake_tensor_converter.meta_converter
c(t) is f, c.describer.describe_tensor(t).size -> True, (2, 3)
T._subclasses.FakeTensorMode(3) -> TypeError
m.from_tensor(3) -> TypeError
m.from_tensor() -> TypeError
m.fake_tensor_converter = 3 -> AttributeError
"""

#: check_meta_calls [slotcore]: the calls about descriptions and fakes (M4, M6, M9)
#> check_meta_calls: checks
def check_meta_calls():
    with T.enable_grad():
        for number, text in (("M4", calls_of_descriptions), ("M9", calls_of_converters),
                             ("M14", calls_of_fake_modes), ("M15", calls_of_places),
                             ("M7", calls_of_modes_met)):
            assert_calls(number, text)
    ask_pairs(pairs_of_three_places)
