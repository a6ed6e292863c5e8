"""Whether calls give back the memory that they take, Python's own blocks included."""

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
