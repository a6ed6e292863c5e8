"""Numbers at the edges of what the types of elements hold, filled, assigned, copied and read."""

#: pairs_of_edge_numbers [slotcore]: a write of a number at an edge converts it, or refuses it
import itertools, math, struct
LARGEST_FLOAT32 = 3.4028234663852886e38
def edge_numbers():
    """Numbers that one type holds, and another one does not."""
    integers = [0, 1, -1, 127, 128, 254, 255, 256, 257, -255, -256, -257, 1 << 31, -(1 << 31),
                1 << 32, (1 << 53) + 2, (1 << 62) + 1, (1 << 63) - 1, -(1 << 63), 1 << 63,
                -(1 << 63) - 1]
    floats = [0.0, -0.0, 0.5, -0.5, 1.5, 255.0, 255.5, 256.0, -1.0, 2.0 ** 62, -2.0 ** 63,
              2.0 ** 63, LARGEST_FLOAT32, -LARGEST_FLOAT32, LARGEST_FLOAT32 * 1.01, -1e39, 1e300,
              1e-300, math.inf, -math.inf, math.nan]
    return [True, False, *integers, *floats, 2 + 0j, -1 + 0j, 300 + 0j, 1j, 2 - 3j,
            complex(math.inf, 0), complex(1, math.nan)]
def is_in_range(dtype, real, is_integer):
    """Whether a real type holds a number; a negative integer counts from the end for uint8."""
    if dtype is T.uint8:
        return (-255 if is_integer else 0) <= real <= 255
    if dtype is T.int64:
        return -2 ** 63 <= real < 2 ** 63
    return dtype is T.float64 or not math.isfinite(real) or abs(real) <= LARGEST_FLOAT32
def as_float32(real):
    if math.isfinite(real) and abs(real) > LARGEST_FLOAT32:
        return math.copysign(math.inf, real)
    return struct.unpack("f", struct.pack("f", real))[0]
def as_stored(dtype, number):
    """What an element gives for a number that its type holds; bytes and integers wrap."""
    real = number.real
    if dtype is T.bool:
        return bool(number)
    if dtype in (T.uint8, T.int64):
        whole = int(real) if math.isfinite(real) and -2 ** 63 <= real < 2 ** 63 else -2 ** 63
        return whole & 255 if dtype is T.uint8 else whole
    if dtype is T.complex64:
        return complex(as_float32(float(real)), as_float32(float(number.imag)))
    return as_float32(float(real)) if dtype is T.float32 else float(real)
def filled_number(dtype, number):
    """What fill_() leaves, or the class of its error."""
    if type(number) is int and not -2 ** 63 <= number < 2 ** 63:
        return RuntimeError
    real, imaginary, is_integer = number.real, number.imag, type(number) is int
    if dtype is T.complex64:
        fits = is_in_range(T.float32, real, False) and is_in_range(T.float32, imaginary, False)
    else:
        fits = dtype is T.bool or imaginary == 0 and is_in_range(dtype, real, is_integer)
    return as_stored(dtype, number) if fits else RuntimeError
def copied_number(dtype, number):
    """What copy_() leaves, which refuses only what no tensor can have."""
    if type(number) is int and not -2 ** 63 <= number < 2 ** 63:
        return RuntimeError
    return as_stored(dtype, number)
def fills_of_numbers():
    return expressions_of("t, n", """
        t.fill_(n)
        t.__setitem__(..., n)
        t.__setitem__(slice(None), n)
        t.view(-1)[:1].fill_(n)
        t.__setitem__(0, n)
        t[:].zero_().fill_(n)""")
def copies_of_numbers():
    return expressions_of("t, n", """
        t.copy_(n)
        t[...].copy_(n)
        t.fill_(T.tensor(n, dtype=T.complex64 if type(n) is complex else T.float64))
        t.copy_(T.tensor([n], dtype=T.complex64 if type(n) is complex else T.float64))
        t.__setitem__(0, T.tensor(n, dtype=T.complex64 if type(n) is complex else T.float64))""")
def states_to_fill():
    return expressions_of("d", """
        T.zeros(1, dtype=d)
        T.zeros(3, dtype=d)[1:2]
        T.frombuffer(bytearray(19), dtype=d, offset=3, count=1)
        T.zeros(1, dtype=d)._neg_view()
        T.zeros(1, dtype=d)._neg_view().conj()""")
def check_edge_number(write, make, dtype, number, expected):
    where = f"{write.__name__} for n = {number!r}, t = {make.__name__}, d = {dtype}"
    tensor = make(dtype)
    raised = class_raised(write, tensor, number)
    is_error = isinstance(expected, type)
    assert raised is (expected if is_error else None), f"P9: {where} raises {raised}"
    found, right = tensor.item(), as_stored(dtype, 0) if is_error else expected
    assert found == right if is_error else repr(found) == repr(right), (
        f"P9: {where} leaves {found!r}, not {right!r}")
    return is_error
def check_edges_elsewhere(write, dtype, number, expected, mode):
    """Without elements, on meta and of a fake, a write has the error that it has of numbers."""
    error = expected if isinstance(expected, type) else None
    if "[:1]" not in write.__name__ and "(0" not in write.__name__:
        raised = class_raised(write, T.zeros(0, dtype=dtype), number)
        assert raised is error, (
            f"P9: {write.__name__} raises {raised}, not {error}, for n = {number!r} and t without"
            f" elements, of {dtype}")
    for tensor in (T.zeros(1, dtype=dtype, device="meta"),
                   mode.from_tensor(T.zeros(1, dtype=dtype))):
        raised = class_raised(write, tensor, number)
        assert raised is error, (
            f"M15: {write.__name__} raises {raised}, not {error} as on cpu, for n = {number!r} and"
            f" t of {dtype} on {tensor.device}")
def pairs_of_edge_numbers():
    dtypes = T.bool, T.uint8, T.int64, T.float32, T.float64, T.complex64
    fills, copies, makes = fills_of_numbers(), copies_of_numbers(), states_to_fill()
    mode, errors = T._subclasses.FakeTensorMode(), 0
    states = itertools.cycle(makes)
    for dtype, number in itertools.product(dtypes, edge_numbers()):
        expected = filled_number(dtype, number)
        for write in fills:
            make = next(states)
            if dtype is T.bool and "_neg_view" in make.__name__:
                make = makes[0]  # a bool cannot be negated
            errors += check_edge_number(write, make, dtype, number, expected)
        for write in fills[:5:4]:
            check_edges_elsewhere(write, dtype, number, expected, mode)
        expected = copied_number(dtype, number)
        for write in copies[:2 if type(number) is int else 5]:
            check_edge_number(write, makes[0], dtype, number, expected)
    assert errors >= 200, f"P9: only {errors} numbers are refused"
