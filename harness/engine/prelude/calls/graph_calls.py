"""What calls give that are about graphs: gradients, nodes, hooks, saved tensors."""

#: calls_of_gradients: gradients of operations and of views, by value
calls_of_gradients = """
def leaf(*numbers): return T.tensor([float(one) for one in numbers]).requires_grad_()
def of(result, x, **more): return T.autograd.grad(result, x, **more)[0].tolist()
w, m = T.tensor([1.0, 10.0, 100.0]), T.tensor([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
x, y = leaf(1, 2, 3), leaf(4, 5, 6)
of((x * y * w).sum(), x), of((x * y * w).sum(), y) -> [4.0, 50.0, 600.0], [1.0, 20.0, 300.0]
of((x * x * x).sum(), x), of((x + x * 2 + y).sum(), x) -> [3.0, 12.0, 27.0], [3.0, 3.0, 3.0]
of((x * m).sum(), x), of((x + m).sum(), x) -> [9.0, 18.0, 36.0], [2.0, 2.0, 2.0]
of((m * x * x).sum(), x) -> [18.0, 72.0, 216.0]
of((leaf(2).expand(3) * w).sum(), x, allow_unused=True) -> AttributeError
z = leaf(2)
of((z.expand(3) * w).sum(), z), of((z * w).sum(), z) -> [111.0], [111.0]
of((z.expand(2, 1) * m).sum(), z) -> [63.0]
of((x.view(3, 1).t() * w).sum(), x) -> [1.0, 10.0, 100.0]
of((x[1:] * w[:2]).sum(), x), of((x[::2] * w[1:]).sum(), x) -> [0.0, 1.0, 10.0], [10.0, 0.0, 100.0]
of(x[1] * 5, x), of(x.select(0, -1) * 5, x) -> [0.0, 5.0, 0.0], [0.0, 0.0, 5.0]
of((x.narrow(0, 0, 2) * 3).sum(), x) -> [3.0, 3.0, 0.0]
of((x.as_strided((2, 2), (1, 1)) * T.tensor([[1.0, 2.0], [4.0, 8.0]])).sum(), x) -> [1.0, 6.0, 8.0]
of((x.as_strided((2, 2), (0, 2)) * T.tensor([[1.0, 2.0], [4.0, 8.0]])).sum(), x) -> [5.0, 0.0, 10.0]
o = x.as_strided((2, 2), (1, 1))
of((o.t() * T.tensor([[1.0, 2.0], [4.0, 8.0]])).sum(), x) -> [1.0, 6.0, 8.0]
(x * 1).as_strided((2, 2), (1, 1)).mul_(2) -> RuntimeError
of((x.as_strided((2, 2), (1, 1)).as_strided((3,), (1,)) * w).sum(), x) -> [1.0, 10.0, 100.0]
of((x.as_strided((2, 2), (1, 1))[1] * w[:2]).sum(), x) -> [0.0, 1.0, 10.0]
of((x.expand(2, 3).as_strided((3,), (1,)) * w).sum(), x) -> [1.0, 10.0, 100.0]
of((x[1:].as_strided((2,), (1,), 0) * w[:2]).sum(), x) -> [0.0, 10.0, 0.0]
of((leaf(-1, 2, 3) * 1).relu().sum(), x, allow_unused=True) -> AttributeError
n = leaf(-1, 0, 3)
of((n.relu() * w).sum(), n), of((n.clone() * w).sum(), n) -> [0.0, 0.0, 100.0], [1.0, 10.0, 100.0]
of(n.detach().mul(n).sum(), n) -> [-1.0, 0.0, 3.0]
of((n._neg_view() * w).sum(), n) -> [-1.0, -10.0, -100.0]
of((n.view_as(n) * w).sum(), n) -> [1.0, 10.0, 100.0]
of((n[...] * w).sum(), n) -> [1.0, 10.0, 100.0]
c = T.tensor([1 + 2j, 3 - 1j]).requires_grad_()
of(T.view_as_real(c).sum(), c) -> [(1+1j), (1+1j)]
of((T.view_as_real(c) * T.tensor([[1.0, 2.0], [3.0, 4.0]])).sum(), c) -> [(1+2j), (3+4j)]
of(T.view_as_real(c * 2j).sum(), c) -> [(2-2j), (2-2j)]
of(T.view_as_real(c.conj().resolve_conj()).sum(), c) -> [(1-1j), (1-1j)]
of(T.view_as_real(c * c)[0][0], c) -> [(2-4j), 0j]
d = T.tensor([2.0], dtype=T.float64).requires_grad_()
(d * z).dtype, of((d * z).sum(), z) -> T.float64, [2.0]
T.autograd.grad((d * z).sum(), d)[0].dtype -> T.float64
T.autograd.grad((d * z).sum(), z)[0].dtype -> T.float32
T.autograd.grad((c * z).sum(), z, c.sum().detach())[0].dtype -> T.float32
"""

#: calls_of_directions: what the gradient of a gradient gives to the gradient that it began with
calls_of_directions = """
def leaf(*numbers): return T.tensor([float(one) for one in numbers]).requires_grad_()
def of(result, x): return T.autograd.grad(result, x)[0].tolist()
w, x, n, y = T.tensor([1.0, 10.0, 100.0]), leaf(1, 2, 3), leaf(-1, 0, 3), leaf(4, 5, 6)
def along(f, x, g): return of((T.autograd.grad(f(x), x, g, create_graph=True)[0] * w).sum(), g)
along(lambda x: x * x * y, x, leaf(1, 1, 1)) -> [8.0, 200.0, 3600.0]
along(lambda x: x.relu(), n, y) -> [0.0, 0.0, 100.0]
along(lambda x: x.clone().relu_(), n, y) -> [0.0, 0.0, 100.0]
along(lambda x: x[1:], x, y[1:]), along(lambda x: x.sum(), x, y[0]) -> [10.0, 100.0], 111.0
along(lambda x: x.expand(2, 3).as_strided((3,), (1,)), x, y) -> [1.0, 10.0, 100.0]
m, o = T.ones(2, 3).requires_grad_(), T.ones(2, 2).requires_grad_()
along(lambda x: x.expand(2, 3), x, m) -> [[1.0, 10.0, 100.0], [1.0, 10.0, 100.0]]
along(lambda x: x.as_strided((2, 2), (1, 1)), x, o) -> [[1.0, 10.0], [10.0, 100.0]]
along(lambda x: x._neg_view(), x, y) -> [-1.0, -10.0, -100.0]
along(lambda x: T.zeros(3).copy_(x), x, y) -> [1.0, 10.0, 100.0]
def written(x): a = x * 1; a[1:].mul_(y[1:]); return a
along(written, x, leaf(1, 1, 1)) -> [1.0, 50.0, 600.0]
c = T.tensor([1 + 2j]).conj().detach()
p, k = T.view_as_real(c.conj()), T.ones(1, 2).requires_grad_()
p.mul_(k), c.tolist() -> (p, [(1-2j)])
T.autograd.grad(T.view_as_real(c.resolve_conj()), k, w[:2].view(1, 2))[0].tolist() -> [[1.0, -20.0]]
q, d = T.ones(1, dtype=T.complex64).requires_grad_(), T.tensor([1 + 2j]).conj().detach()
p = T.view_as_real(d.conj())
d.mul_(q).tolist(), T.autograd.grad(p, q, w[:2].view(1, 2))[0].tolist() -> [(1-2j)], [(21-8j)]
"""

#: calls_of_writes_recorded: gradients through what was written in place
calls_of_writes_recorded = """
def leaf(*numbers): return T.tensor([float(one) for one in numbers]).requires_grad_()
def of(result, x, **more): return T.autograd.grad(result, x, **more)[0].tolist()
x, y, w = leaf(1, 2, 3), leaf(4, 5, 6), T.tensor([1.0, 10.0, 100.0])
a = x * 1
a.mul_(y) is a, a.grad_fn.name(), of((a * w).sum(), x) -> True, 'MulBackward0', [4.0, 50.0, 600.0]
of((x * y * w).sum(), y) -> [1.0, 20.0, 300.0]
a = x * 2
a.add_(y).grad_fn.name() -> 'AddBackward0'
of((a * w).sum(), y, retain_graph=True) -> [1.0, 10.0, 100.0]
of((a * w).sum(), x) -> [2.0, 20.0, 200.0]
a = x * 2
a[1:] = y[:2] * 3
a.tolist(), of((a * w).sum(), x, retain_graph=True) -> [2.0, 12.0, 15.0], [2.0, 0.0, 0.0]
of((a * w).sum(), y) -> [30.0, 300.0, 0.0]
a = x * 2
a.view(3, 1)[1].mul_(5).tolist(), a.tolist() -> [20.0], [2.0, 20.0, 6.0]
a.grad_fn.name(), of((a * w).sum(), x) -> 'CopySlices', [2.0, 100.0, 200.0]
a = x * 2
a.fill_(7).grad_fn.name(), of(a.sum(), x) -> 'FillBackward0', [0.0, 0.0, 0.0]
a.requires_grad -> True
a = x * 2
a.copy_(y).grad_fn.name(), of((a * w).sum(), y) -> 'CopyBackwards', [1.0, 10.0, 100.0]
a = T.zeros(3)
a.copy_(x).requires_grad, a.is_leaf, of((a * w).sum(), x) -> True, False, [1.0, 10.0, 100.0]
a = T.zeros(2, 3)
a[0] = x
a.requires_grad, of((a * w).sum(), x) -> True, [1.0, 10.0, 100.0]
a, v = x * 2, None
v = a[1:]
a.mul_(3).grad_fn.name(), v.grad_fn.name() -> 'MulBackward0', 'AsStridedBackward0'
of(v.sum(), x) -> [0.0, 6.0, 6.0]
a = (x + T.tensor([-1.0, -2.0, -1.0])) * 1
a.relu_().grad_fn.name(), of((a * w).sum(), x) -> 'ReluBackward0', [0.0, 0.0, 100.0]
x.add_(1) -> RuntimeError
x[0] = 1 -> RuntimeError
x.view(3).zero_() -> RuntimeError
x.relu_() -> RuntimeError
x.fill_(1) -> RuntimeError
x.set_() -> RuntimeError
x._version, x.tolist() -> 0, [1.0, 2.0, 3.0]
with T.no_grad(): v = x.view(3); v.add_(1)
v.requires_grad, v.mul_(2) -> RuntimeError
x._version, x.tolist() -> 1, [2.0, 3.0, 4.0]
T.ones(3, dtype=T.int64).copy_(x).requires_grad -> False
a = x * 1
a.set_(T.ones(3)).grad_fn.name() -> 'SetBackward0'
a.sum().backward() -> RuntimeError
b = x * x
b.add_(1).sum().backward()
b = (x * 1).relu()
b.add_(1)
b.sum().backward() -> RuntimeError
a = x * 1
b = a * a
a.add_(1)
b.sum().backward() -> RuntimeError
"""

#: calls_of_backward: what backward() and grad() take, add and refuse
calls_of_backward = """
def leaf(*numbers): return T.tensor([float(one) for one in numbers]).requires_grad_()
x, y, u = leaf(2, 3), leaf(5, 7), leaf(1)
d = u
(x * y + x).sum().backward(), (x * 1).sum().backward()
x.grad.tolist(), y.grad.tolist(), x.grad.requires_grad -> [7.0, 9.0], [2.0, 3.0], False
u.clone().backward(T.ones(1, dtype=T.float64).requires_grad_())
u.grad.dtype, u.grad.requires_grad, x.grad.is_leaf -> T.float32, False, True
g = x.grad
(x * 2).backward(T.tensor([1.0, 10.0]))
g is x.grad, x.grad.tolist(), g._version -> True, [9.0, 29.0], 2
x.grad = y.grad = u.grad = None
T.autograd.backward([(x * 2).sum(), x * y], [None, T.tensor([1.0, 2.0])])
x.grad.tolist(), y.grad.tolist() -> [7.0, 16.0], [2.0, 6.0]
x.grad = y.grad = None
T.autograd.backward((x * y).sum(), create_graph=True)
x.grad.requires_grad, x.grad.tolist() -> True, [5.0, 7.0]
T.autograd.grad(x.grad.sum(), y)[0].tolist() -> [1.0, 1.0]
x.grad = y.grad = None
z = x * y
(z * z).sum().backward(inputs=[y, z])
x.grad, y.grad.tolist(), z.grad.tolist(), z.retains_grad -> None, [40.0, 126.0], [20.0, 42.0], True
y.grad = None
(x * y).sum().backward(None, True, inputs=x)
x.grad.tolist(), y.grad, z.grad.tolist() -> [5.0, 7.0], None, [20.0, 42.0]
z.retain_grad()
(x * 2).sum().backward(inputs=[]) -> RuntimeError
(x * 2).sum().backward(inputs=[T.ones(1)]) -> RuntimeError
(x * 2).sum().backward(inputs=[3]) -> TypeError
(x * 2).backward() -> RuntimeError
(x * 2).backward(T.ones(3)) -> RuntimeError
(x * 2).backward(3) -> TypeError
(x * 2).sum().backward([T.ones(()), T.ones(())]) -> RuntimeError
T.ones(1).backward() -> RuntimeError
T.autograd.backward([(x * 2).sum()], []) -> RuntimeError
T.autograd.backward([3]) -> TypeError
T.autograd.backward(3) -> TypeError
T.autograd.backward() -> TypeError
x.grad.tolist(), y.grad -> [5.0, 7.0], None
s = (x * x).sum()
s.backward(retain_graph=True)
s.backward(retain_graph=False)
s.backward() -> RuntimeError
x.grad.tolist() -> [13.0, 19.0]
s = (x * x).sum()
s.backward(create_graph=True, retain_graph=False)
s.backward() -> RuntimeError
x.grad = None
p = (x + x).sum()
p.backward(), p.backward(), x.grad.tolist() -> None, None, [4.0, 4.0]
r = x * 2
r.retain_grad(), r.sum().backward(retain_graph=True), r.sum().backward() -> None, None, None
r.grad.tolist(), r.grad.requires_grad, x.grad.tolist() -> [2.0, 2.0], False, [8.0, 8.0]
x.grad = T.tensor([4.0, 4.0])
f, = T.autograd.grad((x * x * x).sum(), x, create_graph=True)
f.requires_grad, f.tolist() -> True, [12.0, 27.0]
T.autograd.grad(f.sum(), (x,))[0].tolist() -> [12.0, 18.0]
g = T.autograd.grad([(x * 2).sum(), (x * y).sum()], [x, y], [None, T.tensor(3.0)])
g[1].tolist(), len(g) -> [6.0, 9.0], 2
T.autograd.grad((x * 2).sum(), x)[0].requires_grad, x.grad.tolist() -> False, [4.0, 4.0]
T.autograd.grad((x * 2).sum(), [x, u], allow_unused=True)[1] -> None
T.autograd.grad((x * 2).sum(), [x, u]) -> RuntimeError
T.autograd.grad((x * 2).sum(), []) -> RuntimeError
T.autograd.grad((x * 2).sum(), T.ones(1)) -> RuntimeError
T.autograd.grad((x * 2).sum(), 3) -> TypeError
T.autograd.grad(x * 2, x) -> RuntimeError
T.autograd.grad(T.ones(1), x) -> RuntimeError
T.autograd.grad((x * 2).sum()) -> TypeError
T.autograd.grad(x.sum(), x)[0].tolist(), T.autograd.grad(u, u)[0].tolist() -> [1.0, 1.0], [1.0]
q = x * 3
T.autograd.grad(q.sum(), q)[0].tolist() -> [1.0, 1.0]
T.autograd.grad((q * q).sum(), q)[0].tolist() -> [12.0, 18.0]
with T.no_grad(): (x * 2).sum().backward() -> RuntimeError
with T.no_grad(): q.backward(T.ones(2))
x.grad.tolist(), x.grad.requires_grad -> [7.0, 7.0], False
x.grad = y.grad = None
(x + y).mul(1).sum().backward()
x.grad is y.grad, x.grad.data_ptr() == y.grad.data_ptr() -> False, False
x.grad.add_(1).tolist(), y.grad.tolist() -> [2.0, 2.0], [1.0, 1.0]
for _ in range(60): u = u + u
T.autograd.grad(u, u)[0].item(), T.autograd.grad(u, [d, u])[0].item() == 1 << 60 -> 1.0, True
u.backward(), d.grad.item() == 1 << 60 -> None, True
log, a, b = [], x * 2, x * 3
h, i = a.register_hook(log.append), b.register_hook(lambda g: {}[1])
(a + b).sum().backward() -> KeyError
log -> []
r = x * 2
r.retain_grad(), x.grad.zero_() is x.grad -> None, True
r = r.sum()
r.backward(), x.grad.tolist() -> None, [2.0, 2.0]
"""

#: calls_of_nodes: nodes, their names and their neighbours
calls_of_nodes = """
def leaf(*numbers): return T.tensor([float(one) for one in numbers]).requires_grad_()
x = leaf(1, 2)
y = x * 3
n = y.grad_fn
n.name(), type(n).__name__, isinstance(n, T.autograd.Node) -> 'MulBackward0', 'MulBackward0', True
y.grad_fn is n -> True
len(n.next_functions), n.next_functions[0][1], n.next_functions[1][0] -> 2, 0, None
a = n.next_functions[0][0]
a.name(), a.variable is x, a.next_functions -> 'AccumulateGrad', True, ()
(x + 1).grad_fn.next_functions[0][0] is a -> True
n.variable -> AttributeError
T.autograd.Node() -> TypeError
type(n)() -> TypeError
n.metadata, n.metadata is n.metadata -> {}, True
n.metadata['held'] = 7
y.grad_fn.metadata -> {'held': 7}
(y + 1).grad_fn._sequence_nr() > n._sequence_nr(), n._use_count() -> True, 2
(x + 1).grad_fn.name() -> 'AddBackward0'
x.sum().grad_fn.name() -> 'SumBackward0'
x.relu().grad_fn.name() -> 'ReluBackward0'
x.view(-1).grad_fn.name() -> 'ViewBackward0'
x.view_as(x).grad_fn.name() -> 'ViewBackward0'
x.t().grad_fn.name() -> 'TBackward0'
x.expand(2, 2).grad_fn.name() -> 'ExpandBackward0'
x.transpose(0, 0).grad_fn.name() -> 'TransposeBackward0'
x[0].grad_fn.name() -> 'SelectBackward0'
x[1:].grad_fn.name() -> 'SliceBackward0'
x[...].grad_fn.name() -> 'AliasBackward0'
x.narrow(0, 0, 1).grad_fn.name() -> 'SliceBackward0'
x.select(0, 0).grad_fn.name() -> 'SelectBackward0'
x.clone().grad_fn.name() -> 'CloneBackward0'
x.as_strided((1,), (1,)).grad_fn.name() -> 'AsStridedBackward0'
x._neg_view().grad_fn.name() -> 'NegViewBackward0'
x._neg_view().resolve_neg().grad_fn.name() -> 'CloneBackward0'
T.ones(1, dtype=T.complex64).requires_grad_().conj().grad_fn.name() -> 'ConjBackward0'
(x == x).requires_grad, x.view(T.float32).requires_grad -> False, False
def leaf_of(one): return one.detach().requires_grad_()
def kept(x, g): x.view_as(x).backward(g); return x.grad.stride(), x.grad.size()
kept(leaf_of(T.ones(2, 3).t()), T.ones(3, 2)) -> (1, 3), (3, 2)
kept(leaf_of(T.ones(3, 2)), T.ones(2, 3).t()) -> (2, 1), (3, 2)
kept(leaf_of(T.ones(4, 2).select(1, 0)), T.ones(4)) -> (1,), (4,)
q = leaf_of(T.ones(2, 3).t())
(q * q).sum().backward(create_graph=True)
q.grad.stride(), q.grad.grad_fn.name() -> (1, 3), 'CopyBackwards'
q.grad.tolist() -> [[2.0, 2.0], [2.0, 2.0], [2.0, 2.0]]
q, k = leaf_of(T.ones(2)), leaf_of(T.ones(4))
u, v = q * 2, k * 2
q.data, k.data = T.ones(3, 2), T.ones(2, 2)
u.sum().backward() -> RuntimeError
v.sum().backward() -> RuntimeError
q.grad, k.grad -> None, None
def in_cycle(one): return [row[1] for row in one._owned_by_cpp() if row[5]]
in_cycle(x), in_cycle((x * 2).relu()), len(x._owned_by_cpp()) >= 3 -> [], [], True
x.grad = x * x
len(in_cycle(x)) >= 2, '.grad' in in_cycle(x) -> True, True
x.grad = None
in_cycle(x) -> []
del y
n.name(), n._use_count(), n.next_functions[0][0] is a -> 'MulBackward0', 1, True
"""

#: check_graph_calls [slotcore]: the calls about gradients and nodes (A7, A1c)
#> check_graph_calls: checks
def check_graph_calls():
    with T.enable_grad():
        for number, text in (("A7", calls_of_gradients), ("A7", calls_of_directions),
                             ("A7", calls_of_writes_recorded), ("A7", calls_of_backward),
                             ("A1c", calls_of_nodes), *calls_of_histories):
            assert_calls(number, text)
