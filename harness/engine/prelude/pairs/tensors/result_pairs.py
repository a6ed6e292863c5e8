"""Results of operations: where their elements are, and what broadcasts."""

#: pairs_of_result_layouts, strides_in_order [slotcore]: a result is dense, in its operands' order
import itertools, math
def strides_in_order(sizes, order):
    """Strides of a dense tensor whose dimensions are in ORDER, from the outermost one on."""
    strides, step = [0] * len(sizes), 1
    for dim in reversed(order):
        strides[dim], step = step, step * sizes[dim]
    return tuple(strides)
def tensor_in_order(sizes, order, gap, offset, dtype, device):
    """Elements that are GAP times as far from each other as in a dense tensor."""
    steps = [gap * step for step in strides_in_order(sizes, order)]
    count = offset + gap * math.prod(sizes)
    return T.ones(count, dtype=dtype, device=device).as_strided(sizes, steps, offset)
def results_of_one():
    return expressions_of("t", """
        t.clone()
        t.relu()
        t.add(1)
        2 * t
        t == t
        t != 1
        t + t
        T.tensor(t)
        T.tensor(t, dtype=t.dtype)
        t._neg_view().resolve_neg()
        t.detach().clone()
        t * T.ones((), device=t.device)
        T.ones((), device=t.device) + t
        t.view(*t.shape, 1)[...].select(-1, 0).clone()""")
def results_of_two():
    """Both have the same sizes; the first one decides the order."""
    return expressions_of("a, b", """
        a + b
        a.mul(b)
        a == b
        a != b""")
def check_new_result(result, strides, operands, where):
    """RESULT shares nothing, and fills its own storage."""
    found = result.stride(), result.storage_offset(), result.untyped_storage().nbytes()
    expected = strides, 0, result.numel() * result.dtype.itemsize
    assert found == expected, (
        f"P9: (strides, offset, bytes of the storage) are {found}, not {expected}, of {where}")
    found = result._base, result.untyped_storage()._use_count()
    assert found == (None, 2), f"P9: (base, uses of the storage) are {found} of {where}"
    assert result._version == 0, f"P9: the version is {result._version} of {where}"
    assert all(result.untyped_storage() is not one.untyped_storage() for one in operands), (
        f"P9: the storage of an operand is that of {where}")
def pairs_of_result_layouts():
    sizes, orders = (2, 3, 4), list(itertools.permutations(range(3)))
    ones, twos = results_of_one(), results_of_two()
    kinds = list(itertools.product((1, 3), (0, 5), ("cpu", "meta")))
    dtypes = itertools.cycle((T.float32, T.int64, T.float64, T.uint8, T.float32))
    for order, (gap, offset, device) in itertools.product(orders, kinds):
        dtype, strides = next(dtypes), strides_in_order(sizes, order)
        tensor = tensor_in_order(sizes, order, gap, offset, dtype, device)
        where = f"for t with the strides {tensor.stride()} from {offset} on, of {dtype} on {device}"
        for make in ones:
            check_new_result(make(tensor), strides, [tensor], f"{make.__name__} {where}")
    pairs = itertools.product(orders, orders, itertools.product((1, 2), (1, 2)))
    for first, second, gaps in pairs:
        a, b = (tensor_in_order(sizes, order, gap, 0, T.float32, "meta")
                for order, gap in zip((first, second), gaps))
        for make in twos:
            check_new_result(make(a, b), strides_in_order(sizes, first), [a, b],
                             f"{make.__name__} for the strides {a.stride()} and {b.stride()}")

#: pairs_of_broadcasts [slotcore]: operands of any two sizes are combined as Python does, or refused
import itertools, math
def sizes_to_broadcast():
    """All sizes that expand to (2, 1, 3) or (2, 2, 3), some that do not, and sizes of 0."""
    return [(), (1,), (3,), (2,), (0,), (1, 1), (2, 1), (1, 3), (2, 3), (0, 3), (2, 0), (1, 1, 1),
            (2, 1, 1), (1, 2, 1), (1, 1, 3), (2, 2, 1), (2, 1, 3), (1, 2, 3), (2, 2, 3), (2, 0, 3)]
def sizes_of_both(one, other):
    """The sizes that both expand to; None if they do not fit."""
    rank = max(len(one), len(other))
    pairs = [*zip((1,) * (rank - len(one)) + one, (1,) * (rank - len(other)) + other)]
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        return None
    return tuple(b if a == 1 else a for a, b in pairs)
def counted_tensor(sizes):
    return T.tensor([*range(math.prod(sizes))], dtype=T.int64).view(sizes)
def number_at(index, sizes):
    """The number of a counted tensor of SIZES at an index of a tensor that it expands to."""
    number = 0
    for place, size in zip(index[len(index) - len(sizes):], sizes):
        number = number * size + (place if size > 1 else 0)
    return number
def counted_apart(sizes, turned):
    """A counted tensor whose elements lie in the order of its columns, and apart, if TURNED."""
    tensor = counted_tensor(sizes)
    if not turned:
        return tensor
    steps = strides_in_order(sizes, range(len(sizes))[::-1])
    apart = T.zeros(40, dtype=T.int64).as_strided(sizes, [2 * step for step in steps], 3)
    return apart.copy_(tensor)
def check_broadcast(one, other, turned, operations, writes):
    sizes = sizes_of_both(one, other)
    operands = counted_apart(one, turned), counted_apart(other, not turned)
    pairs = [(number_at(index, one), number_at(index, other))
             for index in itertools.product(*map(range, sizes or ()))]
    where = f"for counted a of sizes {one} and b of {other}"
    for kind, (operation, model) in [*((0, row) for row in operations),
                                     *((1, row) for row in writes)]:
        made, before = [], operands[0].tolist()
        target = operands[0].clone()
        raised = class_raised(lambda: made.append(operation(target, operands[1])))
        fits = sizes is not None and (not kind or sizes == one)
        assert raised is (None if fits else RuntimeError), (
            f"P8: {operation.__name__} raises {raised} {where}")
        found = target.tolist() if raised else flattened([made[0].tolist()])
        expected = [model(*pair) for pair in pairs] if fits else before
        assert found == expected, (
            f"P9: {operation.__name__} gives {found}, not {expected}, {where}")
        assert raised or made[0].shape == sizes, (
            f"P9: {operation.__name__} has the sizes {made[0].shape}, not {sizes}, {where}")
    return sizes is not None
def pairs_of_broadcasts():
    operations = expression_rows("a, b", """
        a + b -> a + b
        a * b -> a * b
        a == b -> a == b""")
    writes = expression_rows("a, b", """
        a.add_(b) -> a + b
        a.mul_(b) -> a * b
        a.copy_(b) -> b""")
    fitting = 0
    for place, (one, other) in enumerate(itertools.product(sizes_to_broadcast(), repeat=2)):
        fitting += check_broadcast(one, other, place % 2, operations, writes)
    assert fitting >= 150, f"P9: only {fitting} pairs of sizes fit together"
