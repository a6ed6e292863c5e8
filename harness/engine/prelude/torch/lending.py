"""What lines may call about memory that PyTorch lends to others, or takes from them.

And about calls that refuse what they are given.
"""

#: LENT_BYTES, check_export_stays [torch]: an export keeps its numbers, or the change is refused
# So many bytes are unmapped when they are freed, and reading them crashes.
#> check_export_stays: grows shrinks checks
LENT_BYTES = 1 << 26
def check_export_stays(export, change):
    tensor = T.ones(LENT_BYTES, dtype=T.uint8)
    exported = export(tensor)
    try:
        change(tensor)
    except RuntimeError:
        return
    assert int(exported[-1]) == 1, (
        f"memory: {called_by(export)} has numbers of memory that {called_by(change)} has freed")

#: check_lent_buffer [torch]: a tensor over a buffer keeps its numbers, or the buffer stays
#> check_lent_buffer: checks
def check_lent_buffer(made):
    buffer = bytearray(LENT_BYTES)
    tensor = made(buffer)
    try:
        buffer.clear()
    except BufferError:
        return
    assert tensor[-1:].tolist() == [0], "memory: a tensor over a buffer has numbers of freed memory"

#: check_shrunk_slice [torch]: a slice has bytes of its storage, also if its bound shrinks that
#> check_shrunk_slice: shrinks checks
def check_shrunk_slice():
    storage = T.UntypedStorage(LENT_BYTES)
    part = storage[Acting(1, lambda: storage.resize_(0)):]
    assert part.nbytes() == 0 or part[0] == 0, "memory: a slice has bytes of freed memory"

#: check_array [torch]: an array of NumPy gives a tensor its numbers, or an error (P9)
#> check_array: checks
def check_array(made, change):
    import numpy
    array = change(numpy.arange(1.0, 7.0).reshape(2, 3))
    try:
        tensor = made(array)
    except (BufferError, RuntimeError, TypeError, ValueError):
        return
    assert tensor.tolist() == array.tolist(), (
        f"P9: {called_by(made)} gives other numbers than an array has")

#: check_read_only [torch]: what is exported as read-only is not written (P9)
#> check_read_only: checks
def check_read_only():
    import numpy
    array = numpy.zeros(2)
    array.setflags(write=False)
    try:
        T.from_dlpack(array).fill_(7)
    except (BufferError, RuntimeError, TypeError):
        return
    assert array.tolist() == [0.0, 0.0], "P9: from_dlpack() has given a read-only array to a writer"

#: check_saved_file [torch]: what torch.save gave to a file stays what it was, or cannot be read
#> check_saved_file: checks
def check_saved_file():
    kept, copies = [], []
    class File:
        def write(self, data):
            kept.append(data)
            copies.append(bytes(data))
            return len(data)
        def flush(self):
            pass
    T.save(T.full((1 << 18,), 7.0), File())
    others = [T.full((1 << 18,), 9.0) for _ in range(3)]
    try:
        now = [bytes(data) for data in kept]
    except ValueError:
        return
    assert now == copies, "memory: bytes that torch.save gave to a file have changed"

#: check_refused_size [torch]: a call that refuses sizes leaves the tensor as it was (P8)
#> check_refused_size: grows checks
def check_refused_size(call):
    tensor = T.ones(2, 3)
    try:
        call(tensor)
    except RuntimeError:
        assert tuple(tensor.size()) == (2, 3), f"P8: a refused call leaves {tuple(tensor.size())}"

#: check_deep_copied [torch]: no two wrappers share attributes (P2)
#> check_deep_copied: checks
def check_deep_copied():
    one = T.ones(1)
    one.me = one
    copied = copy.deepcopy(one)
    one.me = None
    shared = copied.me is not copied and copied.__dict__ is copied.me.__dict__
    copied.me = None
    assert not shared, "P2: two tensors share their attributes"

#: check_from_buffer [torch]: a tensor over a buffer has the numbers of the buffer (P9)
#> check_from_buffer: checks
def check_from_buffer(type_, offset):
    lent = bytearray(range(1, 101))
    one = T.frombuffer(lent, dtype=type_, count=2, offset=offset)
    sizes = 2 * one.element_size()
    copied = T.tensor(list(lent[offset:offset + sizes]), dtype=T.uint8).view(type_)
    for name, use in {"reading": lambda t: t.tolist(), "sum": lambda t: (t + t).tolist(),
                      "copy": lambda t: t.clone().tolist()}.items():
        found, expected = repr(use(one)), repr(use(copied))
        assert found == expected, f"P9: {name} of a buffer from {offset} on gives {found}"

#: check_export_strides [torch]: what is exported and taken again has the same strides (P9)
#> check_export_strides: checks
def check_export_strides(exported):
    for view in (lambda t: t, lambda t: t.t(), lambda t: t[:1], lambda t: t[:, :1], lambda t: t[:0],
                 lambda t: t[1:, ::2], lambda t: t[0].expand(2, 3), lambda t: t[None, :, 1:2]):
        tensor = view(T.arange(6.0).view(2, 3))
        taken = exported(tensor)
        assert taken.stride() == tensor.stride(), (
            f"P9: {called_by(exported)} gives a tensor of size {tuple(tensor.size())} the strides"
            f" {taken.stride()}, and it has {tensor.stride()}")

#: check_set_storage [torch]: a tensor that takes a storage leaves the size of it (P9)
#> check_set_storage: checks
def check_set_storage(device):
    source, target = T.empty(10, device=device), T.empty(40, device=device)
    storage = storage_of(source)
    bytes_before = storage.nbytes()
    target.set_(storage, 0, (2,), (1,))
    assert storage.nbytes() == bytes_before, (
        f"P9: set_ made {storage.nbytes()} bytes of a storage's {bytes_before}")

#: shrinking [torch]: a list that loses its items while a call reads them
def shrinking(count=1):
    class Clearing:
        def __index__(self):
            sizes.clear()
            return 2
        def __float__(self):
            return float(self.__index__())
    sizes = [2, Clearing()] + [2] * count
    return sizes

#: check_gradient_given [torch]: a backward leaves the gradient that it was given (A7)
#> check_gradient_given: checks
def check_gradient_given():
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        leaf, given = T.ones(2, 2).requires_grad_(), T.ones(4)
        leaf.view(4).backward(given)
        leaf.view(4).backward(given)
    assert given.tolist() == [1.0] * 4, f"A7: a backward made {given.tolist()} of its gradient"

#: check_once_differentiable [torch]: a second derivative is right, or an error (A7)
#> check_once_differentiable: checks
def check_once_differentiable():
    if in_hermetic():
        return
    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x
        @staticmethod
        @T.autograd.function.once_differentiable
        def backward(ctx, gradient):
            return 2 * ctx.saved_tensors[0] * gradient
    with T.inference_mode(False), T.enable_grad():
        leaf = T.tensor([3.0]).requires_grad_()
        total = (Square.apply(leaf) + leaf * leaf * leaf).sum()
        first, = T.autograd.grad(total, leaf, create_graph=True)
        try:
            second, = T.autograd.grad(first.sum(), leaf)
        except RuntimeError:
            return
    assert second.tolist() == [20.0], f"A7: a second derivative of 20 is {second.tolist()}"

#: check_decorated [torch]: a mode that decorates a function ends with a call of it (A5e)
#> check_decorated: checks
def check_decorated():
    before = T._C._is_multithreading_enabled()
    T.autograd.set_multithreading_enabled(False)(lambda: None)()
    after = T._C._is_multithreading_enabled()
    T.autograd.set_multithreading_enabled(before)
    assert after == before, "A5e: set_multithreading_enabled() as a decorator stays"
    with T.enable_grad():
        T.set_grad_enabled(False)(lambda: None)
        assert T.is_grad_enabled(), "A5e: set_grad_enabled() that decorates is on at once"
