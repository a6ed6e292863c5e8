# P8 check_numbers: AssertionError: P8: N.223372036854776e+N put into int64 (N,) raises NoneType, torch 2.6.0
# contract: P8
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: P8: (?:N|\d+)\.223372036854776e\+(?:N|\d+) put into int64 \((?:N|\d+),\) raises NoneType"
    failed, others = [], []
    for run in range(runs):
        end = subprocess.run([sys.executable, __file__], stderr=subprocess.PIPE, text=True,
                             errors="replace")
        code, said = end.returncode, end.stderr.strip().splitlines()
        said = [line for line in said if "SUMMARY" in line] or said[-2:]
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        if code and re.search(stated, f"{end.stderr}\n{how}", re.MULTILINE):
            failed.append((code, said))
        elif code:
            others.append(": ".join([how, *said[-1:]]))
        print(f"\r{run + 1} of {runs} runs, {len(failed)} failed", end="", file=sys.stderr)
        sys.stderr.flush()
    print(file=sys.stderr)
    codes = sorted({code for code, _ in failed})
    print(f"failed {len(failed)} of {runs}, exit codes {codes}")
    for line in failed[0][1] if failed else []:
        print(line)
    for how in sorted(set(others)):
        print(f"{others.count(how)} ended otherwise: {how}")
    sys.exit(1 if failed else 2 if others else 0)

is_slotcore = False
def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
def raised_by(function):
    try:
        function()
    except RuntimeError as error:
        return error
    return None
def flat_numbers(value):
    return [one for part in value for one in flat_numbers(part)] if type(value) is list else [value]
def cells_nested(sizes, pick, at=()):
    if len(at) == len(sizes):
        return pick(at)
    return [cells_nested(sizes, pick, (*at, i)) for i in range(sizes[len(at)])]
def cells_in_order(cells, rank):
    if rank == 0:
        return [cells]
    for _ in range(rank - 1):
        cells = [part for row in cells for part in row]
    return cells
def product_of(sizes):
    product = 1
    for size in sizes:
        product *= size
    return product
NUMBER_KINDS = {"bool": 0, "uint8": 1, "int64": 1, "float32": 2, "float64": 2, "complex64": 3}
def promoted_type(a, b):
    order = [*NUMBER_KINDS]
    low, high = sorted((a, b), key=order.index)
    return None if (low, high) == ("float64", "complex64") else high  # of a type that T may lack
def type_of_result(operands):
    """The type of a result: tensors precede those without dimensions, and these precede numbers."""
    found = None
    for rank in ("number", "element", "tensor"):
        types = [one.dtype for one in operands if one.rank() == rank]
        if types:
            here = types[0] if len(types) == 1 else promoted_type(*types)
            if here is None:
                return None
            if found is None or NUMBER_KINDS[found] <= NUMBER_KINDS[here]:
                found = here
            else:
                found = promoted_type(found, here)
                if found is None:
                    return None
    return found
def as_type(pair, dtype):
    value, slope = pair
    kind = NUMBER_KINDS[dtype]
    if kind == 3:
        return complex(value), complex(slope)
    value, slope = (one.real if type(one) is complex else one for one in pair)
    if kind == 2:
        return float(value), float(slope)
    if dtype == "bool":
        return pair[0] != 0, 0
    return (int(value) % 256 if dtype == "uint8" else int(value)), 0
class Reading:
    def __init__(self, cell, sign=1, turned=False, part=None):
        self.cell, self.sign, self.turned, self.part = cell, sign, turned, part
    def changed(self, **how):
        return Reading(**{**vars(self), **how})
    def of(self, number):
        number = self.sign * (number.conjugate() if self.turned else number)
        return number if self.part is None else getattr(number, self.part)
    def numbers(self):
        return tuple(map(self.of, self.cell))
    def write(self, pair):
        for place, number in enumerate(pair):
            number = self.sign * (number.conjugate() if self.turned else number)
            if self.part is not None:
                former = complex(self.cell[place])
                number = (complex(number, former.imag) if self.part == "real" else
                          complex(former.real, number))
            self.cell[place] = number
def indices_within(sizes):
    return cells_in_order(cells_nested(sizes, lambda at: at), len(sizes))
class Operand:
    def __init__(self, value, dtype, sizes=None, pairs=None):
        self.value, self.dtype, self.sizes = value, dtype, sizes
        self.pairs = [(value, 0)] if pairs is None else pairs
    def __str__(self):
        return f"{self.value}" if self.sizes is None else f"{self.dtype} {self.sizes}"
    def rank(self):
        return "number" if self.sizes is None else "tensor" if self.sizes else "element"
def tensor_operand(values, dtype, sizes):
    pairs = [as_type((one, 0), dtype) for one in values]
    made = T.tensor([one for one, _ in pairs], dtype=getattr(T, dtype)).view(sizes)
    return Operand(made, dtype, sizes, pairs)
def broadcast_sizes(a, b):
    """The sizes of a result, or None if the two do not fit."""
    a, b = ((1,) * (len(other) - len(one)) + one for one, other in ((a, b), (b, a)))
    if any(1 not in (x, y) and x != y for x, y in zip(a, b)):
        return None
    return tuple(y if x == 1 else x for x, y in zip(a, b))
def broadcast_pairs(operand, sizes):
    """The numbers of OPERAND for each element of SIZES, in their order."""
    own = operand.sizes or ()
    steps, step = [], 1
    for size in reversed(own):
        steps.insert(0, 0 if size == 1 else step)
        step *= size
    return [operand.pairs[sum(i * step for i, step in zip(at[len(at) - len(own):], steps))]
            for at in indices_within(sizes)]
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
    def is_shared(self):
        places = [(id(one.cell), one.part) for one in self.readings]
        return len({*places}) < len(places)
    def is_kind(self, *kinds):
        return NUMBER_KINDS[self.dtype] in kinds
    def is_exact(self, pairs):
        parts = [part for pair in pairs for one in pair
                 for part in (complex(one).real, complex(one).imag)]
        return all(abs(part) < 300 and part * 16 % 1 == 0 for part in parts)
number_operands = {
    "two": lambda n: Operand(2, "int64"), "huge": lambda n: Operand(2.0 ** 63, "float32"),
    "column": lambda n: tensor_operand(range(n.sizes[0]), "float32", (n.sizes[0], 1))
        if n.sizes else tensor_operand([3], "float32", ()),
    }
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
def assigned(x, y, dtype):
    return y
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
    "copy": (write_numbers, lambda x, y: x.copy_(y), assigned),
    "put": (put_numbers, lambda x, y: x.__setitem__(0, y), assigned),
}
def number_step(n, name):
    does, _, operand = name.partition(" ")
    if operand:
        act, call, rule = number_calls[does]
        act(n, call, rule, number_operands[operand](n))
    else:
        {**number_views, **number_steps}[name](n)
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
def check_numbers(dtype, *names):
    if in_hermetic():
        return
    with T.enable_grad():
        n = Numbers(dtype)
        for name in names:
            number_step(n, name)
            compare_numbers(n, name)
        compare_slope(n, " and ".join(names))

check_numbers('int64', 'nothing', 'put huge', 'nothing', 'nothing')
