"""Whether calls give back the memory that they take, and what tables, caches and modes keep."""

#: calls_that_allocate: makes and drops an object of each type of the core
calls_that_allocate = """
s, t, x = Sub(8), TensorSlotted(2), T.ones(2).requires_grad_()
s.tag, t.tag, t.other = [1], [2], s
memoryview(s).release()
s[1:], s.clone(), s.tolist(), s._owned_by_cpp(), s.resize_(9), bytes(s)
T.frombuffer(bytearray(4), dtype=T.uint8), T.UntypedStorage([1, 2])
T.UntypedStorage(3, device='meta')
T.Tensor._free_weak_ref(t._weak_ref()), T.UntypedStorage._free_weak_ref(s._weak_ref())
t.size(), t.stride(), t.tolist(), t.view(-1), t.detach(), t.data, t == t, t.dtype, t.device
t.as_subclass(TensorSub), T.nn.Parameter(x.detach()), t._owned_by_cpp(), t[0].item()
T.tensor([[1.5], [2.5]])
a, b = T.ones(1), T.ones(2)
T.utils.swap_tensors(a, b)
with T.hermetic(): t.zero_()
with T.no_grad(), T.enable_grad(), T.set_grad_enabled(True): x * 1
h = x.register_hook(print)
h.remove()
y = x * x
n = y.grad_fn
n.metadata['held'], k, l = 7, n.register_hook(print), n.register_prehook(print)
k.remove(), l.remove(), n.name(), n.next_functions, n._owned_by_cpp()
y.sum().backward()
x.grad = x._backward_hooks = None
z = fn('save_both', 'y', 'saved').apply(x)
c = z.grad_fn
c.saved_tensors, c.needs_input_grad, c.name(), c.register_hook(print).remove(), c._owned_by_cpp()
z.sum().backward()
with T.autograd.graph.saved_tensors_hooks(lambda t: [t], lambda p: p[0]): y = x * x
y.sum().backward()
Legacy()(x).sum().backward()
u = T._subclasses.meta_utils
m, f = u.MetaConverter(), T._subclasses.FakeTensorMode()
d = m.describer.describe_tensor(t)
d.grad, d.size, d.dtype, T._meta.loads(d.as_json()), m(t), f.from_tensor(t).fake_mode
e = T.fx.experimental.symbolic_shapes.ShapeEnv()
i = e.create_symint(7, 'x', 'dynamic')
i + 1, i > 3, e.guards, e.inputs, i.hint, repr(i), T._meta.loads_env(T._meta.dumps_env(e))
T.ones(-1) -> RuntimeError
T.ones('x') -> TypeError
s[99] -> IndexError
s[0] = 'x' -> TypeError
t.view(-1, -1) -> RuntimeError
T.tensor([[1], [2, 3]]) -> ValueError
T.frombuffer(bytearray(3), dtype=T.float32) -> ValueError
y.sum().backward() -> RuntimeError
T._meta.loads('{') -> ValueError
"""

#: memory_in_use, count_bytes [slotcore]: bytes, or blocks of Python, that the process has
import ctypes, sys
count_bytes = getattr(ctypes.CDLL(None), "__sanitizer_get_current_allocated_bytes", None)
if count_bytes is not None:
    count_bytes.restype = ctypes.c_size_t
def memory_in_use():
    """A target without a sanitizer takes the memory of Python's objects from malloc, where nothing
    counts it: there this is 0."""
    sys._clear_type_cache()  # it keeps a name for each address that a name has had
    return sys.getallocatedblocks() if count_bytes is None else count_bytes()

#: check_memory [slotcore]: calls that are done again keep no memory (P5)
#> check_memory: checks in_hermetic swaps
ROUNDS, TRIES = 4, 4
LEAST = ROUNDS * (1 if count_bytes is None else 16)
def check_memory():
    if in_hermetic():
        return
    def growth(rounds):
        before = memory_in_use()
        for _ in range(rounds):
            assert_calls("P5", calls_that_allocate)
        return memory_in_use() - before
    growth(2)  # the first calls may make what is kept
    for _ in range(TRIES):  # and so may later ones, once
        again = {growth(ROUNDS) for _ in range(3)} if growth(ROUNDS) >= LEAST else {0}
        if len(again) == 1:
            break
    # What other threads take meanwhile is not the same each time.
    assert min(again) < LEAST or len(again) > 1, (
        f"P5: {min(again)} bytes or blocks are kept by {ROUNDS} rounds of calls")

#: calls_of_modes_gone: a mode whose object is gone, calls within another mode, and what is no fake
calls_of_modes_gone = """
M, E = T._subclasses.FakeTensorMode, T.fx.experimental.symbolic_shapes.ShapeEnv
C, r = T._subclasses.meta_utils.MetaConverter, T._subclasses.meta_utils.MetaTensorDescriber()
is_fake, e, t, n = T._subclasses.fake_tensor.is_fake, E(), T.ones(4, 6), M()
m = M(shape_env=e)
f = m.from_tensor(t, kind='dynamic')
with m: g = f.view(-1)
k = m.cache_info()
del m
m = f.fake_mode
m is f.fake_mode, m is g.fake_mode, m.shape_env is e, m.cache_info() == k -> True, True, True, True
m.from_tensor(t, kind='dynamic') is f, m.fake_tensor_converter(t) is f -> True, False
with n: j, c = m.from_tensor(t, static_shapes=True), C()(t)
j.fake_mode is m, hasattr(c, 'fake_mode'), c.is_meta -> True, False, True
with n: d = T._meta.describe(r, t, f, copy_data=True)
d.storage_data[:8], T._meta.loads(d.as_json()).as_json() == d.as_json() -> '0000803f', True
with n: a, b = T._meta.convert(n.fake_tensor_converter, d)
a.fake_mode is n, b.fake_mode is n, a.shape, b.shape -> True, True, (4, 6), (4, 6)
[is_fake(one) for one in (f.untyped_storage(), f.size(0), None, c, m)] -> [False] * 5
[T._meta.describe(r, one, copy_data=True).storage_data for one in (a, c)] -> [None] * 2
[str(r.describe_tensor(one).storage_device) for one in (a, c, f)] -> ['cpu', 'meta', 'cpu']
p = T.nn.Parameter(T.ones(2))
def is_one(one): return type(one) is T.nn.Parameter and r.describe_tensor(one).is_parameter
[is_one(n.from_tensor(one)) for one in (p, p.view(2))] -> [True, False]
y = T.ones(2)
y.grad = p
del p
z, w = C()(y), T._meta.convert(C(), T._meta.loads(r.describe_tensor(y).as_json()))[0]
[is_one(one.grad) for one in (y, z, w)], is_one(y) -> [True] * 3, False
"""

#: calls_of_rows_from_data: places of numbers that are not 0, how long their count holds, and errors
calls_of_rows_from_data = """
M, E = T._subclasses.FakeTensorMode, T.fx.experimental.symbolic_shapes.ShapeEnv
def places(one): return one.nonzero().tolist()
def sizes(mode): return T._meta.memo_sizes(mode.fake_tensor_converter)[2:]
[T.tensor(n).nonzero().shape for n in (5, 0, [])] -> [(1, 0), (0, 0), (0, 1)]
x = T.tensor([[[0, 3], [float('nan'), -0.0]], [[1, 0], [0, 2]]])
places(x.transpose(0, 2)) -> [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1]]
places(x[1]), places(x._neg_view()[0]) -> [[0, 0], [1, 1]], [[0, 1], [1, 0]]
k = [T.zeros(3, dtype=d) for d in (T.uint8, T.bool, T.int64, T.float64, T.complex64)]
[places(one.copy_(T.tensor([0, 1, 1]))) for one in k] -> [[[1], [2]]] * 5
places(T.tensor([1j, 0j, 1]).conj()), places(T.tensor([0, 1 << 40])) -> [[0], [2]], [[1]]
M().from_tensor(x).nonzero() -> NotImplementedError
e, o = E(), E(); m, n = M(shape_env=e), M(shape_env=o)
f = m.from_tensor(T.ones(2, 3), static_shapes=True)
a, g = f.detach(), m.from_tensor(T.ones(1, dtype=T.int64))
def count(one): return str(one.nonzero().size(0))
len({count(one) for one in (f, f, a, f.view(-1), f.clone(), a, f[...], f.data)}) -> 6
def changed(act): k, l = count(f), count(a); act(); return count(f) != k, count(a) != l
def all_changed(acts): return {changed(eval('lambda: ' + act)) for act in acts.split()}
k = 'f.mul_(2) a.zero_() f[1].fill_(1) f.view(-1).relu_() f.data.add_(1) a.t().copy_(f.t())'
all_changed(k + ' f.__setitem__(0,1) f.untyped_storage().fill_(0)') -> {(True, True)}
all_changed('f.untyped_storage().__setitem__(3,1) f.expand(1,2,3).add_(1)') -> {(True, True)}
all_changed('f.add(a) f.requires_grad_() f.clone().zero_() f.sum() f.relu()') -> {(False, False)}
all_changed('f.nonzero().fill_(0) f.requires_grad_(False) m.from_tensor(f)') -> {(False, False)}
str(g.item()) == str(g.item()), type(g.view(1, 1).item()) is T.SymInt -> False, True
e.freeze(), [w := T._meta.dumps_env(e)] and None -> None, None
k, l = sizes(m), count(f)
m.from_tensor(T.ones(7), kind='dynamic') -> RuntimeError
g.item() -> RuntimeError
f.clone().nonzero() -> RuntimeError
sizes(m) == k, count(f) == l, T._meta.dumps_env(e) == w -> True, True, True
m.from_tensor(T.ones(7), static_shapes=True).shape -> (7,)
t = T.ones(5, 7)
t.grad = T.ones(7, 5).t()
o.create_symint(3, 't1.grad.untyped_storage().nbytes()', 'dynamic').hint -> 3
w, k = T._meta.dumps_env(o), sizes(n)
n.from_tensor(t, kind='dynamic') -> ValueError
T._meta.dumps_env(o) == w, sizes(n) == k -> True, True
t.grad = None
"""

#: calls_of_tables: which fakes a change replaces, whose ids, and what a table is no bar to
calls_of_tables = """
C, D = T._subclasses.meta_utils.MetaConverter, T._subclasses.meta_utils.MetaTensorDescriber
M, E = T._subclasses.FakeTensorMode, T.fx.experimental.symbolic_shapes.ShapeEnv
c, r, of, load, describe = C(), D(), T._meta.convert, T._meta.loads, T._meta.describe
a = T.ones(4).requires_grad_()
a.grad = T.ones(4); a.grad.grad = T.ones(4)
v, d = a.view(2, 2), a.detach()
def fakes(): f = c(v); return [f, f._base, f._base.grad, f._base.grad.grad, c(d)]
def bits(a, b): return ''.join('01'[x is y] for x, y in zip(a, b))
def kept(act): f = fakes(); act(); return bits(f, fakes())
{kept(one) for one in (c.sweep, lambda: C()(v), lambda: c(a.view(-1)))} -> {'11111'}
kept(lambda: a.grad.grad.requires_grad_()), kept(lambda: a.grad.zero_()) -> '00001', '00011'
kept(lambda: a.requires_grad_(False)), kept(lambda: d.zero_()) -> '00111', '00110'
def resize(one): one.untyped_storage().resize_(99)
[kept(lambda: resize(one)) for one in (a.grad, a, a)] -> ['00011', '00110', '11111']
kept(lambda: d.requires_grad_()), kept(lambda: setattr(a.grad, 'grad', None)) -> '11110', '00001'
p, q = T.ones(2), T.ones(2)
p.grad = T.ones(2)
f, h = c(p), c(q)
p.grad = q
c(p) is f, c(p).grad is h, f.grad is h -> False, True, False
f, g, h = c(v), c(d), d.requires_grad_(False) is d and c(d)
h.untyped_storage() is f.untyped_storage(), h.zero_()._version - v._version -> True, 1
f._version == g._version == h._version, c(v) is f, c(d) is h, g is h -> True, True, True, False
a.grad, x = None, T.ones(3)
k, l, w = r.describe_tensor(x), D().describe_tensor(x), r.describe_tensor(x).as_json()
one = [of(c, k)[0], of(c, l)[0], of(c, load(w))[0], c(x), of(C(), k)[0]]
k.id == l.id, k.as_json() == l.as_json() == w, len({*map(id, one)}) -> True, True, 5
[of(c, two)[0] is three for two, three in zip((k, l, load(w)), one)] -> [True, True, False]
k = load(T._meta.dumps(describe(r, x, d, x.view(3), x)))
b = of(c, k)
bits(b, of(c, k)), b[3] is b[0] is b[2]._base, b[1] is b[0] -> '1111', True, False
C(copy_data=True).describer.describe_tensor(T.ones(1)).storage_data -> '0000803f'
n, e = T._meta.memo_sizes(c), [M(shape_env=E()).from_tensor(T.ones(3)) for _ in range(2)]
describe(c.describer, x.view(3), T.ones(2), 3) -> TypeError
describe(c.describer, T.ones(5), *e) -> ValueError
describe(c.describer, T.ones(6), e[0].nonzero()) -> RuntimeError
T._meta.memo_sizes(c) == n -> True
a, b = T.ones(2), T.zeros(3)
f, g = c(a), c(b)
def swap(*pair): T.utils.swap_tensors(*pair)
swap(a, b), c(a) is g, c(b) is f, a.shape -> None, True, True, (3,)
swap(f, g), f.shape, c(a) is f, c(b) is g, r.describe_tensor(f).size -> None, (3,), True, True, (3,)
h = a._weak_ref()
swap(a, b) -> RuntimeError
T.Tensor._free_weak_ref(h), swap(a, b), c(a).shape, c(b) is f -> None, None, (2,), True
o = T.ones(2), T.zeros(3)
def die(): D().describe_tensor(o[0]); C()(o[0]); D().describe_tensor(o[1]); M().from_tensor(o[1])
die(), swap(*o), [one.shape for one in o] -> None, None, [(3,), (2,)]
die(), c(o[0]) is c(o[0]), swap(*o), c(o[0]).shape -> None, True, None, (2,)
"""
