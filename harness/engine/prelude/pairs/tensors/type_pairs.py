"""Types of elements: what each of them holds, gives, and accepts of each other one."""

#: pairs_of_each_type [slotcore]: each dtype converts, computes and reads as numbers of Python do
import itertools
def dtypes_in_order():
    """Each dtype of the core; the result of two of them has the one that comes later."""
    return [T.bool, T.uint8, T.int64, T.float32, T.float64, T.complex64]
def kind_of_dtype(dtype):
    """0 for booleans, 1 for integers, 2 for floats, 3 for complex numbers."""
    return (0, 1, 1, 2, 2, 3)[dtypes_in_order().index(dtype)]
def number_of_dtype(dtype):
    """A number that DTYPE holds, and that most others have to convert."""
    numbers = True, 250, -2, -1.5, -2.5, -1.5 + 2j
    return numbers[dtypes_in_order().index(dtype)]
def number_converted(number, dtype):
    """NUMBER as DTYPE holds it: uint8 takes the lowest 8 bits."""
    real = number.real if isinstance(number, complex) else number
    results = bool(number), int(real) & 255, int(real), float(real), float(real), complex(number)
    return results[dtypes_in_order().index(dtype)]
def tensor_of_dtype(dtype, number=None):
    return T.tensor([number_of_dtype(dtype) if number is None else number], dtype=dtype)
def converted_tensor(tensor, dtype):
    return T.zeros(1, dtype=dtype).copy_(tensor)
def printed_numbers(tensor):
    """Its numbers as text, which differs also for 1 and 1.0."""
    return repr(tensor.tolist())
def ones_of(*dtypes):
    return [T.ones(1, dtype=dtype) for dtype in dtypes]
def scalar_of(dtype):
    return T.ones((), dtype=dtype)
def dtype_of_both(one, other):
    """The dtype of the result of two tensors; the core has none for float64 and complex64."""
    if {one, other} == {T.float64, T.complex64}:
        return None
    return max(one, other, key=dtypes_in_order().index)
def dtype_beside_scalar(dtype, scalar):
    """The same if the second operand has no dimensions: only its kind can change the dtype."""
    is_enough = kind_of_dtype(scalar) <= kind_of_dtype(dtype)
    return dtype if is_enough else dtype_of_both(dtype, scalar)
def dtype_if_it_holds(dtype, result):
    """DTYPE if its tensors can be written with a RESULT, which is of no higher kind; else None."""
    fits = result is not None and kind_of_dtype(result) <= kind_of_dtype(dtype)
    return dtype if fits else None
def dtype_given_by(operation, *operands):
    """The dtype of what OPERATION gives, or None for an error that refuses its operands."""
    try:
        return operation(*operands).dtype
    except RuntimeError:
        return None
def check_dtypes_of_results(models, pairs, operands_of):
    """MODELS has the operations, and what says which dtype they give."""
    for operations, model in models:
        for operation, pair in itertools.product(operations, pairs):
            found, expected = dtype_given_by(operation, *operands_of(*pair)), model(*pair)
            assert found is expected, (
                f"P9: {operation.__name__} has the dtype {found}, not {expected}, if a, s are of"
                f" {pair[0]}, and b, z of {pair[1]}")
def check_dtypes_of_tensors(pairs):
    """Tensors a and b have one dimension; s has the dtype of a, and z that of b, and none."""
    def operations(text):
        return expressions_of("a, b, s, z", text)
    def operands(one, other):
        return *ones_of(one, other), scalar_of(one), scalar_of(other)
    check_dtypes_of_results([
        (operations("""
            a + b
            s * z
            a + T.ones(2, 1, dtype=b.dtype)"""), dtype_of_both),
        (operations("""
            a + z
            z * a
            z.add(a)"""), dtype_beside_scalar),
        (operations("""
            a == b
            s != z"""), lambda *pair: dtype_of_both(*pair) and T.bool),
        (operations("""
            a.add_(b)
            s.mul_(z)"""), lambda *pair: dtype_if_it_holds(pair[0], dtype_of_both(*pair))),
        (operations("""
            a.add_(z)
            a.mul_(z)"""), lambda *pair: dtype_if_it_holds(pair[0], dtype_beside_scalar(*pair))),
    ], pairs, operands)
def check_dtypes_of_numbers():
    """A number b of Python counts as a tensor without dimensions of its type."""
    numbers = {T.bool: True, T.int64: 2, T.float32: 1.5, T.complex64: 1j}
    def operands(dtype, other):
        return *ones_of(dtype), scalar_of(dtype), numbers[other]
    operations = expressions_of("a, s, b", """
        a + b
        b * s
        a.mul(b)
        a.mul_(b)""")
    check_dtypes_of_results([
        (operations[:3], dtype_beside_scalar),
        (operations[3:], lambda *pair: dtype_if_it_holds(pair[0], dtype_beside_scalar(*pair))),
    ], itertools.product(dtypes_in_order(), numbers), operands)
def operations_of_dtype():
    """Operations that copies of a tensor must answer as it does."""
    return expressions_of("t", """
        t.clone()
        t.sum()
        t.add(t)
        t.mul(3)
        t == t
        t != 250
        t[0] + t
        t.nonzero()""")
def check_converted(one, other):
    """copy_() converts the number as Python does."""
    found = tensor_of_dtype(one, 0).copy_(tensor_of_dtype(other)).item()
    expected = number_converted(number_of_dtype(other), one)
    assert repr(found) == repr(expected), (
        f"P9: copy_() makes {found!r}, not {expected!r}, of {number_of_dtype(other)!r} of {other}"
        f" in a tensor of {one}")
def check_computed_alike(one, other, operations):
    """Operands of two dtypes give what they give once both are of the dtype of the result, and
    add_() stores the sum."""
    result = dtype_of_both(one, other)
    if result is None:
        return
    operands, where = [tensor_of_dtype(one), tensor_of_dtype(other)], f"for {one} and {other}"
    converted = [converted_tensor(operand, result) for operand in operands]
    for operation in operations:
        found, expected = (printed_numbers(operation(*pair)) for pair in (operands, converted))
        assert found == expected, (
            f"P9: {operation.__name__} gives {found}, not {expected} as of {result}, {where}")
    if dtype_if_it_holds(one, result):
        expected = printed_numbers(converted_tensor(operands[0] + operands[1], one))
        found = printed_numbers(operands[0].add_(operands[1]))
        assert found == expected, f"P9: add_() leaves {found}, not {expected}, {where}"
def check_viewed_as(one, other):
    """view(dtype) of contiguous elements: a row has as many bytes as before."""
    view = T.zeros(3, 8, dtype=one)[1:].view(other)
    length = 8 * one.itemsize // other.itemsize
    found = view.shape, view.stride(), view.storage_offset(), view.dtype
    expected = (2, length), (length, 1), length, other
    assert found == expected, (
        f"P9: view({other}) of {one} has (sizes, strides, offset, dtype) {found}, not {expected}")
def tensor_of_unaligned_bytes(dtype):
    data = b"." + bytes(tensor_of_dtype(dtype).untyped_storage())
    return T.frombuffer(bytearray(data), dtype=dtype, offset=1)
def check_states_of_dtype(dtype, operations, writes):
    """Views that are conjugated or negated, and bytes that are not aligned, read like a copy."""
    tensor = tensor_of_dtype(dtype)
    states = {} if dtype is T.bool else {"t._neg_view()": tensor._neg_view(),
                                         "t.conj()": tensor.conj()}
    for (name, state), operation in itertools.product(states.items(), operations):
        copy = T.tensor(state.tolist(), dtype=dtype)
        found, expected = printed_numbers(operation(state)), printed_numbers(operation(copy))
        assert found == expected, (
            f"P9: {operation.__name__} gives {found}, not {expected} as for a copy, for {name} of"
            f" {dtype}")
    for operation in operations + writes:
        found = printed_numbers(operation(tensor_of_unaligned_bytes(dtype)))
        expected = printed_numbers(operation(tensor_of_dtype(dtype)))
        assert found == expected, (
            f"P9: {operation.__name__} gives {found}, not {expected}, for unaligned bytes of"
            f" {dtype}")
    found, expected = tensor.sum().dtype, T.int64 if kind_of_dtype(dtype) < 2 else dtype
    assert found is expected, f"P9: sum() of {dtype} is of {found}, not {expected}"
def place_in_range(tensor):
    """The number at place TENSOR of a range, or None if that is a TypeError."""
    try:
        return range(-9, 9)[tensor]
    except TypeError:
        return None
def check_numbers_of_python(dtype, makes, conversions):
    """A tensor of one element is the number that item() gives, and an index if that is whole."""
    kind = kind_of_dtype(dtype)
    for make, (convert, highest) in itertools.product(makes, conversions.items()):
        tensor = make(dtype)
        if kind <= highest:
            found, expected = convert(tensor), convert(tensor.item())
            assert found == expected, (
                f"P9: {convert.__name__}() gives {found}, not {expected} as of its item(), for"
                f" {make.__name__}, d = {dtype}")
    found, expected = place_in_range(*ones_of(dtype)), None if kind > 1 else -8
    assert found == expected, (
        f"P9: a one of {dtype} is at place {found}, not {expected}, of a range")
def check_single_numbers():
    """A number of Python, and an index: from one element alone, and not rounded to float32."""
    for size, expected in (((0,), None), ((2,), None), ((1, 1), -8)):
        found = place_in_range(scalar_of(T.uint8).expand(size))
        assert found == expected, (
            f"P9: ones of sizes {size} are at place {found}, not {expected}, of a range")
    single, double = T.tensor([0.1]), T.tensor(0.1, dtype=T.float64)
    assert (single == 0.1).item() is True, "P9: 0.1 of float32 does not equal 0.1"
    assert (double == 0.1).item() is True, "P9: 0.1 of float64 does not equal 0.1"
    assert (double.view(1) == single[0]).item() is False, (
        "P9: 0.1 of float64 equals that of float32")
def pairs_of_each_type():
    pairs = list(itertools.product(dtypes_in_order(), repeat=2))
    operations, of_two = operations_of_dtype(), expressions_of("a, b", """
        a + b
        a * b
        a == b
        a != b""")
    check_dtypes_of_tensors(pairs)
    check_dtypes_of_numbers()
    for one, other in pairs:
        check_converted(one, other)
        check_computed_alike(one, other, of_two)
        check_viewed_as(one, other)
    writes = expressions_of("t", """
        t
        t.add_(t)
        t.mul_(t)
        t.fill_(1)
        t.copy_(tensor_of_dtype(t.dtype))
        t == tensor_of_dtype(t.dtype)""")
    makes = expressions_of("d", """
        ones_of(d)[0]
        tensor_of_dtype(d)
        tensor_of_dtype(d, 0)[0]
        scalar_of(d).view(1, 1)""")
    conversions = {bool: 3, complex: 3, int: 2, float: 2}  # the highest kind that each accepts
    for dtype in dtypes_in_order():
        check_states_of_dtype(dtype, operations, writes)
        check_numbers_of_python(dtype, makes, conversions)
    check_single_numbers()
