"""What errors say, where it has numbers or names: these must be in their places."""

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

#: check_error_calls [slotcore]: the calls that raise, with what they say (P8)
#> check_error_calls: checks swaps
def check_error_calls():
    with T.enable_grad():
        assert_calls("P8", calls_of_messages)
