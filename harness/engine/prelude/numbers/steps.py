"""What lines about numbers may call: views of and calls with tensors of all types, beside cells.

All numbers are small multiples of 1/16, hence exact, but for one that no integer type holds. A call
that would compute with others does nothing.
"""

#: Numbers: a tensor that steps compute from a leaf, and how it reads cells
class Numbers:
    values = {"bool": (1, 0, 1, 1, 0, 1), "uint8": (3, 250, 0, 7, 1, 128),
              "int64": (3, -2, 0, 1, -5, 2), "float32": (1.5, -2, 0, 0.5, 1, -1),
              "float64": (1.5, -2, 0, 0.5, 1, -1),
              "complex64": (1 + 2j, -1j, 0, 2 - 1j, -1 + 1j, 0.5)}
    direction = {2: (1, 2, -1, 3, 1, -2), 3: (1 + 2j, 2 - 1j, -1, 3j, 1 + 1j, -2)}
    def __init__(self, dtype):
        slopes = self.direction.get(NUMBER_KINDS[dtype], (0,) * 6)
        self.pairs = [(as_type((one, 0), dtype)[0], slope)
                      for one, slope in zip(self.values[dtype], slopes)]
        self.leaf_type = dtype
        self.leaf = T.tensor([one for one, _ in self.pairs], dtype=getattr(T, dtype))
        if NUMBER_KINDS[dtype] > 1:
            self.leaf.requires_grad_()
        self.made(self.leaf.clone().view(2, 3), dtype, (2, 3), self.pairs)
        self.first = self.now, self.readings
    def keep(self, tensor, sizes, readings):
        self.now, self.sizes, self.readings = tensor, tuple(sizes), readings
    def made(self, tensor, dtype, sizes, pairs):
        self.dtype = dtype
        self.keep(tensor, sizes, [Reading(list(pair)) for pair in pairs])
    def numbers(self):
        return [one.numbers() for one in self.readings]
    def itself(self):
        return Operand(self.now, self.dtype, self.sizes, self.numbers())
    def of_leaf(self):
        count = self.sizes[-1] if self.sizes else 1
        return Operand(self.leaf.narrow(0, 0, count).view(self.sizes[-1:]), self.leaf_type,
                       self.sizes[-1:], self.pairs[:count])
    def is_shared(self):
        places = [(id(one.cell), one.part) for one in self.readings]
        return len({*places}) < len(places)
    def is_kind(self, *kinds):
        return NUMBER_KINDS[self.dtype] in kinds
    def is_exact(self, pairs):
        parts = [part for pair in pairs for one in pair
                 for part in (complex(one).real, complex(one).imag)]
        return all(abs(part) < 300 and part * 16 % 1 == 0 for part in parts)

#: number_operands: what a step may compute with
number_operands = {
    "two": lambda n: Operand(2, "int64"), "half": lambda n: Operand(0.5, "float32"),
    "minus": lambda n: Operand(-1, "int64"), "i": lambda n: Operand(1j, "complex64"),
    "true": lambda n: Operand(True, "bool"), "huge": lambda n: Operand(2.0 ** 63, "float32"),
    "itself": Numbers.itself, "leaf": Numbers.of_leaf,
    "row": lambda n: tensor_operand(range(1, n.sizes[-1] + 1) if n.sizes else [2], "int64",
                                    n.sizes[-1:]),
    "column": lambda n: tensor_operand(range(n.sizes[0]), "float32", (n.sizes[0], 1))
        if n.sizes else tensor_operand([3], "float32", ()),
    "bytes": lambda n: tensor_operand([200], "uint8", (1,)),
    "bools": lambda n: tensor_operand([1], "bool", (1, 1)),
    "doubles": lambda n: tensor_operand([-1.5], "float64", (1,)),
    "complexes": lambda n: tensor_operand([1 - 1j], "complex64", (1,)),
    "byte": lambda n: tensor_operand([2], "uint8", ()),
    "integer": lambda n: tensor_operand([-3], "int64", ()),
    "double": lambda n: tensor_operand([0.5], "float64", ()),
    "two_rows": lambda n: tensor_operand([1, 2], "int64", (2, 1, 1)),
}

#: number_views, parts_of_numbers: a view may come next; one that does not fit does nothing
def turned_numbers(n):
    if len(n.sizes) == 2:
        rows, columns = n.sizes
        n.keep(n.now.t(), (columns, rows), [n.readings[row * columns + column]
                                            for column in range(columns) for row in range(rows)])
def rest_of_numbers(n):
    if n.sizes and n.sizes[0]:
        width = product_of(n.sizes[1:])
        n.keep(n.now[1:], (n.sizes[0] - 1, *n.sizes[1:]), n.readings[width:])
def last_of_numbers(n):
    if n.sizes and n.sizes[0]:
        width = product_of(n.sizes[1:])
        n.keep(n.now[-1], n.sizes[1:], n.readings[len(n.readings) - width:])
def column_of_numbers(n):
    if len(n.sizes) == 2 and n.sizes[1]:
        n.keep(n.now.narrow(1, 0, 1), (n.sizes[0], 1), n.readings[::n.sizes[1]])
def wide_numbers(n):
    if n.sizes[-1:] == (1,):
        n.keep(n.now.expand(*n.sizes[:-1], 3), (*n.sizes[:-1], 3),
               [one for one in n.readings for _ in range(3)])
def nested_numbers(n):
    if len(n.sizes) < 3:
        n.keep(n.now.expand(2, *n.sizes), (2, *n.sizes), n.readings * 2)
def no_numbers(n):
    if n.sizes:
        n.keep(n.now.narrow(0, 0, 0), (0, *n.sizes[1:]), [])
def conjugated_numbers(n):
    if n.is_kind(3):
        n.keep(n.now.conj(), n.sizes, [one.changed(turned=not one.turned) for one in n.readings])
def negative_numbers(n):
    if n.is_kind(2, 3):
        n.keep(n.now._neg_view(), n.sizes, [one.changed(sign=-one.sign) for one in n.readings])
def resolved_numbers(n):
    if n.now.is_conj() or n.now.is_neg():
        n.made(n.now.resolve_conj().resolve_neg(), n.dtype, n.sizes, n.numbers())
def parts_of_numbers(n):
    if n.is_kind(3):
        resolved_numbers(n)
        n.dtype = "float32"
        n.keep(T.view_as_real(n.now), (*n.sizes, 2), [
            one.changed(part=part) for one in n.readings for part in ("real", "imag")])
number_views = {
    "nothing": lambda n: None, "turned": turned_numbers, "rest": rest_of_numbers,
    "last": last_of_numbers, "column": column_of_numbers, "wide": wide_numbers,
    "nested": nested_numbers, "empty": no_numbers, "conjugated": conjugated_numbers,
    "negative": negative_numbers, "resolved": resolved_numbers, "parts": parts_of_numbers,
}

#: number_steps, number_calls, number_step: a call may come next; one that is not exact does nothing
def relu_of_numbers(n):
    if n.is_kind(1, 2):
        n.made(n.now.relu(), n.dtype, n.sizes,
               [pair if pair[0] > 0 else (0, 0) for pair in n.numbers()])
def sum_of_numbers(n):
    if not n.is_exact(n.numbers()):
        return
    dtype = n.dtype if n.is_kind(2, 3) else "int64"
    pair = tuple(sum(column) for column in zip((0, 0), *n.numbers()))
    n.made(n.now.sum(), dtype, (), [as_type(pair, dtype)])
def added(x, y, dtype):
    value = x[0] or y[0] if dtype == "bool" else x[0] + y[0]
    return as_type((value, x[1] + y[1]), dtype)
def multiplied(x, y, dtype):
    value = x[0] and y[0] if dtype == "bool" else x[0] * y[0]
    return as_type((value, x[0] * y[1] + x[1] * y[0]), dtype)
def assigned(x, y, dtype):
    return y
def compute_numbers(n, call, rule, operand):
    own = n.itself()
    dtype, sizes = type_of_result([own, operand]), broadcast_sizes(n.sizes, operand.sizes or ())
    if dtype is None or not n.is_exact(own.pairs + operand.pairs):
        return
    if sizes is None:
        error = raised_by(lambda: call(n.now, operand.value))
        assert error is not None, f"P8: {n.sizes} and {operand.sizes} do not fit; nothing raises"
        return
    pairs = [rule(as_type(x, dtype), as_type(y, dtype), dtype) for x, y in zip(
        broadcast_pairs(own, sizes), broadcast_pairs(operand, sizes))]
    n.made(call(n.now, operand.value), dtype, sizes, pairs)
def write_numbers(n, call, rule, operand):
    own, dtype = n.itself(), n.dtype if rule is assigned else type_of_result([n.itself(), operand])
    is_shared = n.is_shared()
    if dtype is None or not n.is_exact(own.pairs + operand.pairs):
        return
    if is_shared and not is_slotcore:  # torch advises against it
        return
    fits = broadcast_sizes(n.sizes, operand.sizes or ()) == n.sizes
    is_taken = fits and not is_shared and (
        rule is assigned or NUMBER_KINDS[dtype] <= NUMBER_KINDS[n.dtype])
    pairs = [as_type(rule(as_type(x, dtype), as_type(y, dtype), dtype), n.dtype)
             for x, y in zip(own.pairs, broadcast_pairs(operand, n.sizes))] if is_taken else []
    error = raised_by(lambda: call(n.now, operand.value))
    assert (error is None) == is_taken, (
        f"P8: a write of {operand} to {n.dtype} {n.sizes} raises {type(error).__name__}")
    for reading, pair in zip(n.readings, pairs):
        reading.write(pair)
def is_held(operand, dtype):
    if NUMBER_KINDS[dtype] == 1 and operand.value.real >= 2 ** 63:
        return False
    return operand.dtype != "complex64" or dtype in ("bool", "complex64")
def fill_numbers(n, call, rule, operand):
    if operand.sizes is None and (is_slotcore or not n.is_shared()):
        put_numbers(n, call, rule, operand, n.sizes)
def put_numbers(n, call, rule, operand, part=None):
    """A number must fit its type, so that this refuses what a copy converts."""
    sizes = n.sizes[1:] if part is None else part
    if part is None and (not n.sizes or not n.sizes[0] or n.is_shared()):
        return
    while len(operand.sizes or ()) > len(sizes) and operand.sizes[0] == 1:
        operand = Operand(operand.value, operand.dtype, operand.sizes[1:], operand.pairs)
    is_taken = broadcast_sizes(sizes, operand.sizes or ()) == sizes and (
        operand.sizes is not None or is_held(operand, n.dtype))
    error = raised_by(lambda: call(n.now, operand.value))
    assert (error is None) == is_taken, (
        f"P8: {operand} put into {n.dtype} {sizes} raises {type(error).__name__}")
    pairs = broadcast_pairs(operand, sizes) if is_taken else []
    for reading, pair in zip(n.readings, pairs):
        reading.write(as_type(pair, n.dtype))
number_steps = {
    "relu": relu_of_numbers, "sum": sum_of_numbers,
    "cloned": lambda n: n.made(n.now.clone(), n.dtype, n.sizes, n.numbers()),
}
number_calls = {
    "add": (compute_numbers, lambda x, y: x + y, added),
    "multiply": (compute_numbers, lambda x, y: x * y, multiplied),
    "add_to": (write_numbers, lambda x, y: x.add_(y), added),
    "multiply_by": (write_numbers, lambda x, y: x.mul_(y), multiplied),
    "copy": (write_numbers, lambda x, y: x.copy_(y), assigned),
    "fill": (fill_numbers, lambda x, y: x.fill_(y), assigned),
    "put": (put_numbers, lambda x, y: x.__setitem__(0, y), assigned),
}
def number_step(n, name):
    does, _, operand = name.partition(" ")
    if operand:
        act, call, rule = number_calls[does]
        act(n, call, rule, number_operands[operand](n))
    else:
        {**number_views, **number_steps}[name](n)

#: compare_numbers, compare_slope: what a tensor says of its numbers, and the gradient of the leaf
def compare_numbers(n, name):
    values = [value for value, _ in n.numbers()]
    found = tuple(n.now.size()), n.now.dtype, flat_numbers(n.now.tolist())
    expected = n.sizes, getattr(T, n.dtype), values
    if not n.sizes:
        found = *found[:2], [n.now.item()]
    assert found == expected, f"P9: after {name} it is {found}, and not {expected}"
    places = [[*at] for at, value in zip(indices_within(n.sizes), values) if value]
    found = n.now.nonzero().tolist()
    assert found == places, f"P9: after {name} {values} are nonzero at {found}, and not {places}"
    first, readings = n.first
    found, expected = flat_numbers(first.tolist()), [one.numbers()[0] for one in readings]
    assert found == expected, f"P9: after {name} the first numbers are {found}, and not {expected}"
def compare_slope(n, names):
    if not n.now.requires_grad:
        assert not any(slope for _, slope in n.numbers()), f"A7: after {names} nothing is recorded"
        return
    parts_of_numbers(n)
    weights = [float(one) for one in range(1, len(n.readings) + 1)]
    total = (n.now * T.tensor(weights, dtype=getattr(T, n.dtype)).view(n.sizes)).sum()
    found = []
    error = raised_by(lambda: found.extend(T.autograd.grad(total, [n.leaf], allow_unused=True)))
    if "place" in str(error):  # a saved tensor was written (A2b)
        return
    assert error is None, f"A7: after {names} the backward of a sum raises {type(error).__name__}"
    gradient = [0] * 6 if found == [None] else found[0].tolist()
    found = sum((complex(one).conjugate() * slope).real
                for one, (_, slope) in zip(gradient, n.pairs))
    expected = sum(weight * slope for weight, (_, slope) in zip(weights, n.numbers()))
    assert found == expected, f"A7: after {names} a derivative is {found}, and not {expected}"

#: check_numbers: types, sizes, numbers and derivatives after each step (P9, A7)
#> check_numbers: checks
def check_numbers(dtype, *names):
    if in_hermetic():
        return
    with T.enable_grad():
        n = Numbers(dtype)
        for name in names:
            number_step(n, name)
            compare_numbers(n, name)
        compare_slope(n, " and ".join(names))
