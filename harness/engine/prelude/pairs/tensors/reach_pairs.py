"""How far a tensor reaches into its storage: storages that shrink below it, and that it grows."""

#: pairs_of_shrunk_reach, end_in_bytes [slotcore]: what needs a byte that is lost is refused
import itertools
def end_in_bytes(sizes, strides, offset, item):
    """Where the last element ends in its storage; 0 for no elements."""
    if 0 in sizes:
        return 0
    return item * (1 + offset + sum((size - 1) * step for size, step in zip(sizes, strides)))
def layouts_that_reach():
    """Sizes, strides and offset of tensors of at most two dimensions."""
    return [((2, 2), (2, 1), 0), ((2, 2), (1, 2), 1), ((3,), (2,), 1), ((), (), 3),
            ((1, 2), (9, 1), 0), ((2, 1), (3, 5), 2), ((0, 2), (2, 1), 5)]
def makes_of_reaching():
    return expressions_of("t", """
        t
        t[...]
        t.detach()
        t.data
        t._neg_view()
        t.as_subclass(TensorSub)
        T.nn.Parameter(t, False)""")
def calls_of_elements():
    """They read or write all elements; z has the sizes of t, and its own elements."""
    return expressions_of("t, z", """
        t.clone()
        t.sum()
        t.relu()
        t + 1
        z * t
        t == z
        z != t
        T.tensor(t)
        T.tensor(t, dtype=T.complex64)
        z.copy_(t)
        z.add_(t)
        z.__setitem__(..., t)
        t.fill_(2)
        t.zero_()
        t.add_(1)
        t.mul_(t)
        t.copy_(z)
        t.copy_(3)
        t.add_(z)
        t.relu_()
        t.__setitem__(..., 4)""")
def calls_without_elements():
    return expressions_of("t, z", """
        t.copy_(t)
        t.detach()
        t.data.shape
        t[...].shape
        t.view(t.shape).stride()
        t._neg_view()
        t.is_set_to(t)
        t.is_contiguous()
        t.data_ptr()
        T.Tensor._make_subclass(TensorSub, t)
        z.set_(t)""")
def views_that_look():
    return expressions_of("t", """
        t[0]
        t[-1]
        t[1:]
        t[:1]
        t[:0]
        t[::2]
        t.narrow(-1, 0, 1)
        t.select(-1, 0)
        t.expand(2, *t.shape)
        t.as_strided((2,), (1,))
        t.as_strided((), (), 0)
        t.as_strided((0,), (1,), 99)
        t.transpose(0, 1)""")
def answers_of_shrunk(tensor, beside):
    storage = tensor.untyped_storage()
    return (tensor._version, storage.nbytes(), storage._use_count(), tensor._use_count(),
            None if tensor.is_meta else (storage.tolist(), beside.tolist()), beside._version)
def check_shrunk_calls(make_tensor, beside, is_short, is_strict, calls, where):
    """Calls are refused if elements are out of reach and IS_STRICT. Returns how many are."""
    refused_calls = 0
    for call in calls:
        tensor, z = make_tensor(), beside.clone()
        before = answers_of_shrunk(tensor, z)
        found = class_raised(call, tensor, z)
        expected = RuntimeError if is_short and is_strict else None
        assert found is expected, f"P8: {call.__name__} raises {found}, not {expected}, {where}"
        if found:
            after, refused_calls = answers_of_shrunk(tensor, z), refused_calls + 1
            assert after == before, (
                f"P8: {call.__name__} is refused and changes {before} to {after} {where}")
    return refused_calls
def check_shrunk_views(tensor, twin, views, where):
    """A view may be taken if its own elements, which are those of that of TWIN, are there."""
    for view in views:
        made = []
        expected = class_raised(lambda: made.append(view(twin)))
        if expected is None:
            layout = made[0].shape, made[0].stride(), made[0].storage_offset()
            end = end_in_bytes(*layout, tensor.dtype.itemsize)
            expected = RuntimeError if end > tensor.untyped_storage().nbytes() else None
        found = class_raised(view, tensor)
        assert found is expected, f"P8: {view.__name__} raises {found}, not {expected}, {where}"
def shrunk_tensor(make, layout, dtype, device, count):
    """A tensor that had all its bytes when it was made."""
    end = end_in_bytes(*layout, dtype.itemsize)
    storage = T.UntypedStorage(max(end, count), device=device)
    sizes, strides, offset = layout
    tensor = make(T.empty(0, dtype=dtype, device=device).set_(storage, offset, sizes, strides))
    storage.resize_(count)
    return tensor
def pairs_of_shrunk_reach():
    makes = itertools.cycle(makes_of_reaching())
    dtypes = itertools.cycle((T.float32, T.int64, T.uint8, T.float64))
    calls, free, views, number = calls_of_elements(), calls_without_elements(), views_that_look(), 0
    for layout, device, missing in itertools.product(layouts_that_reach(), ("cpu", "meta"),
                                                     (0, 1, 5)):
        make, dtype = next(makes), next(dtypes)
        end = end_in_bytes(*layout, dtype.itemsize)
        count = max(end - missing, 0)
        where = (f"for t = {make.__name__} of the layout {layout} (sizes, strides, offset) of"
                 f" {dtype} on {device} over {count} bytes instead of {end}")
        state = make, layout, dtype, device
        beside = T.ones(layout[0], dtype=dtype, device=device)
        for asked, is_strict in ((calls, True), (free, False)):
            number += check_shrunk_calls(lambda: shrunk_tensor(*state, count), beside, count < end,
                                         is_strict, asked, where)
        check_shrunk_views(shrunk_tensor(*state, count), shrunk_tensor(*state, 160), views, where)
    assert number >= 400, f"P8: only {number} calls of elements out of reach are refused"

#: pairs_of_grown_storages [slotcore]: resize_() and set_() grow a storage to what it must have
import itertools
def storages_that_may_grow():
    """Each gives a storage of twelve bytes, what keeps its bytes, and why they cannot move."""
    return expression_rows("b", """
        (T.UntypedStorage(b), None) -> None
        (Sub(b), T.UntypedStorage(3)) -> None
        (T.UntypedStorage(b[:4]).resize_(12).copy_(T.UntypedStorage(b)), None) -> None
        (T.UntypedStorage(12, device='meta'), None) -> None
        with_slice(T.UntypedStorage(b)) -> None
        (T.UntypedStorage([*b, 7])[:12], None) -> RuntimeError
        (T.UntypedStorage(b)[:], None) -> RuntimeError
        (T.UntypedStorage(12, device='meta')[:], None) -> RuntimeError
        (T.frombuffer(bytearray(b), dtype=T.uint8).untyped_storage(), None) -> RuntimeError
        with_export(T.UntypedStorage(b)) -> BufferError
        with_export(T.UntypedStorage([*b, 7])[:12]) -> RuntimeError""")
def with_slice(storage):
    return storage, storage[2:]
def with_export(storage):
    return storage, memoryview(storage)
def calls_that_may_grow():
    """Each gives tensor t the sizes n and the offset k, and the strides p or contiguous ones."""
    return expression_rows("t, s, k, n, p", """
        t.set_(s, k, n, p) -> p
        t.set_(s, k, n) -> None
        t.set_(T.empty(0, dtype=t.dtype, device=t.device).set_(s, k, (0,)), 0, n) -> None
        t.set_(T.empty(0, dtype=t.dtype, device=t.device).set_(s, k, (0,)), 0, n, p) -> p
        t.set_(s, k, (0, 7)).resize_(n) -> None
        t.set_(s, k, (0, 7))[...].resize_(*n or ((),)) -> None
        t.set_(s, k, (0, 7)).detach().resize_(n) -> None""")
def bytes_or_none(storage):
    return None if storage.device.type == "meta" else storage.tolist()
def check_grown(make, reason, call, strides_of, sizes, strides, offset, dtype):
    storage, kept = make(bytes(range(1, 13)))
    device, number = storage.device, bytes_or_none(storage)
    tensor = T.zeros(2, dtype=dtype, device=device)
    other = T.empty(0, dtype=T.uint8, device=device).set_(storage)
    steps = strides_of(None, None, None, None, strides) or T.zeros(
        sizes, device="meta").stride()
    end = end_in_bytes(sizes, steps, offset, dtype.itemsize)
    expected = reason(None) if end > 12 else None
    made = []
    found = class_raised(lambda: made.append(call(tensor, storage, offset, sizes, strides)))
    where = (f"{call.__name__} for s, _ = {make.__name__}, k = {offset}, n = {sizes},"
             f" p = {strides}, t of {dtype}")
    assert found is expected, f"P8: {where} raises {found}, not {expected}"
    count = 12 if found else max(12, end)
    assert storage.nbytes() == count, f"P8: {where} leaves {storage.nbytes()} bytes, not {count}"
    left = number and number + [0] * (count - 12)
    assert bytes_or_none(storage) == left, f"P9: {where} leaves the bytes {bytes_or_none(storage)}"
    assert bytes_or_none(other) == number, f"P9: {where} changes what another tensor has"
    if isinstance(kept, T.UntypedStorage) and len(kept) == 10:
        assert kept.tolist() == number[2:], f"P9: {where} changes a slice that was made before"
    if found is None:
        layout = made[0].shape, made[0].stride(), made[0].storage_offset()
        assert layout == (sizes, steps, offset), f"P9: {where} gives the layout {layout}"
    return found
def pairs_of_grown_storages():
    layouts = [((), ()), ((3,), (1,)), ((2, 2), (2, 1)), ((2, 3), (1, 2)), ((0, 3), (9, 9)),
               ((1, 2), (50, 3)), ((12,), (1,))]
    refusals, grown = [], itertools.cycle((T.uint8, T.float32, T.uint8, T.int64))
    for (make, reason), (call, steps), (sizes, strides) in itertools.product(
            storages_that_may_grow(), calls_that_may_grow(), layouts):
        for offset in (0, 1, 12):
            refusals.append(check_grown(make, lambda _, r=reason: r(None), call, steps, sizes,
                                        strides, offset, next(grown)))
    number = sum(refusal is not None for refusal in refusals)
    assert 100 < number < len(refusals) - 500, f"P8: {number} of {len(refusals)} are refused"
