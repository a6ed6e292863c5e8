"""Tensors on meta: operations give the layouts and errors that they give on cpu, and no numbers."""

import pytest
import slotcore as T


def made(device):
    """Four tensors: two rows; a transposed one; a window of a larger storage; a column."""
    rows = T.ones(2, 3, device=device)
    return rows, T.empty(3, 2, device=device).t(), T.zeros(8, device=device)[1:7], T.ones(
        2, 1, device=device)


def described(value):
    """What an operation gave, apart from numbers and device."""
    if not isinstance(value, T.Tensor):
        return value
    base = value._base
    return (tuple(value.shape), value.stride(), value.storage_offset(), value.dtype,
            value.untyped_storage().nbytes(), value.requires_grad, value.is_leaf, value.is_conj(),
            value.is_neg(), value._version, None if base is None else described(base))


def outcome(operation, device):
    tensors = made(device)
    try:
        result = operation(*tensors)
    except Exception as error:  # any: the two devices are compared
        result = type(error)
    return described(result), [described(one) for one in tensors]


OPERATIONS = {
    "add": lambda a, b, c, d: a.add(b), "add_one": lambda a, b, c, d: b.add(1.5),
    "mul": lambda a, b, c, d: a.mul(d), "compare": lambda a, b, c, d: a == b,
    "clone": lambda a, b, c, d: b.clone(), "sum": lambda a, b, c, d: c.sum(),
    "relu": lambda a, b, c, d: a.relu(), "broadcast_error": lambda a, b, c, d: a.add(c),
    "view": lambda a, b, c, d: c.view(2, -1), "view_error": lambda a, b, c, d: b.view(-1),
    "narrow": lambda a, b, c, d: a.narrow(1, 1, 2), "select": lambda a, b, c, d: a[1],
    "select_error": lambda a, b, c, d: a[5], "slice": lambda a, b, c, d: c[::2],
    "expand": lambda a, b, c, d: d.expand(2, 4), "detach": lambda a, b, c, d: a.detach(),
    "as_strided": lambda a, b, c, d: c.as_strided((2, 2), (1, 3)),
    "as_strided_error": lambda a, b, c, d: a.as_strided((9,), (1,)),
    "view_dtype": lambda a, b, c, d: a.view(T.uint8), "data": lambda a, b, c, d: a.data,
    "neg_view": lambda a, b, c, d: a._neg_view(), "conj": lambda a, b, c, d: a.conj(),
    "resize": lambda a, b, c, d: a.resize_(40), "set_none": lambda a, b, c, d: a.set_(),
    "set": lambda a, b, c, d: a.set_(c), "add_": lambda a, b, c, d: a.add_(d),
    "add_error": lambda a, b, c, d: d.add_(a), "zero_": lambda a, b, c, d: b.zero_(),
    "copy_": lambda a, b, c, d: a.copy_(b), "mul_": lambda a, b, c, d: a.mul_(2),
    "overlap_error": lambda a, b, c, d: c[1:].add_(c[:-1]),
    "repeated_error": lambda a, b, c, d: d.expand(2, 3).add_(1),
    "set_data": lambda a, b, c, d: setattr(a, "data", c),
    "set_grad": lambda a, b, c, d: setattr(a, "grad", b),
    "shrunk_error": lambda a, b, c, d: (a.untyped_storage().resize_(4), a.add(1)),
    "backward": lambda a, b, c, d: (
        a.requires_grad_().mul(d)[0].relu().sum().backward(), a.grad)[1],
    "grad_of_a_view": lambda a, b, c, d: (
        a.requires_grad_().t().expand(3, 2).clone().sum().backward(), a.grad)[1],
    "in_place_graph": lambda a, b, c, d: a.requires_grad_().mul(2).add_(b)[1:],
    "pairs": lambda a, b, c, d: T.view_as_real(
        T.ones(2, dtype=T.complex64, device=a.device).requires_grad_()).sum().backward(),
    "parameter": lambda a, b, c, d: T.nn.Parameter(c),
    "clone_storage": lambda a, b, c, d: c.untyped_storage().clone().nbytes(),
    "slice_storage": lambda a, b, c, d: c.untyped_storage()[2:5].resizable(),
    "write_storage": lambda a, b, c, d: (c.untyped_storage().fill_(3), None)[1],
    "write_byte": lambda a, b, c, d: c.untyped_storage().__setitem__(0, 3),
    "write_byte_error": lambda a, b, c, d: c.untyped_storage().__setitem__(99, 3),
    "copy_storage": lambda a, b, c, d: a.untyped_storage().copy_(b.untyped_storage()).nbytes(),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_layouts_and_errors_are_those_on_cpu(name):
    on_meta, on_cpu = (outcome(OPERATIONS[name], device) for device in ("meta", "cpu"))
    assert on_meta == on_cpu
    assert isinstance(on_cpu[0], type) == name.endswith("_error")


@pytest.mark.parametrize("operation", [
    lambda m: m.item(), lambda m: m.tolist(), lambda m: float(m), lambda m: bool(m),
    lambda m: T.ones(1).copy_(m), lambda m: m.untyped_storage().tolist(),
    lambda m: m.untyped_storage()[0], lambda m: list(m.untyped_storage()),
    lambda m: T.ones(1).untyped_storage().copy_(m.untyped_storage()),
    lambda m: T.UntypedStorage([1], device="meta"),
])
def test_what_needs_numbers_raises(operation):
    with pytest.raises(NotImplementedError):
        operation(T.ones(1, device="meta"))


def test_no_buffer_of_nothing():
    with pytest.raises(BufferError):
        memoryview(T.UntypedStorage(4, device="meta"))


@pytest.mark.parametrize("operation", [
    lambda m, c: m.add(c), lambda m, c: c.add_(m), lambda m, c: c == m,
    lambda m, c: c.set_(m.untyped_storage()), lambda m, c: m.set_(c),
    lambda m, c: setattr(c, "data", m), lambda m, c: setattr(m, "grad", c),
    lambda m, c: c.requires_grad_().sum().backward(m.sum()),
])
def test_devices_do_not_mix(operation):
    meta, cpu = T.ones(2, device="meta"), T.ones(2)
    with pytest.raises(RuntimeError):
        operation(meta, cpu)
    assert cpu.tolist() == [1, 1] and meta.is_meta and meta.grad is None and cpu.grad is None


def test_devices_are_values():
    meta, cpu = T.device("meta"), T.device(type="cpu")
    assert (str(meta), meta.type, meta.index, repr(cpu)) == (
        "meta", "meta", None, "device(type='cpu')")
    assert meta == T.device(meta) != cpu and hash(meta) != hash(cpu)
    tensor = T.ones(2, device=meta)
    assert tensor.device == meta == tensor.untyped_storage().device and tensor.is_meta
    assert T.ones(1, device=None).device == cpu == T.UntypedStorage(1).device
    for wrong, error in (("cuda", RuntimeError), (3, TypeError)):
        with pytest.raises(error):
            T.ones(1, device=wrong)


def test_no_byte_is_allocated():
    assert T.empty(1 << 40, device="meta").data_ptr() == 0
    storage = T.UntypedStorage(1 << 50, device="meta")
    assert (storage.nbytes(), storage.data_ptr(), storage.resizable()) == (1 << 50, 0, True)
    assert storage.resize_(3).nbytes() == 3
