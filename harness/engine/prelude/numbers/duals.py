"""What lines about numbers may call: numbers of all types with a slope, and how tensors read them.

A cell is a number and its derivative along one direction of a leaf (a dual number). A view reads
cells of another tensor, perhaps conjugated, negative, or one part of a complex number, so a write
through it shows wherever else they are read.
"""

#: NUMBER_KINDS, promoted_type, type_of_result: types of elements, in the order of promotion
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

#: as_type: a number and its slope as a type has them
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

#: Reading: how a view reads a cell and writes to it
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

#: indices_within: all indices of sizes, in their order
def indices_within(sizes):
    return cells_in_order(cells_nested(sizes, lambda at: at), len(sizes))

#: Operand, tensor_operand, broadcast_sizes, broadcast_pairs: a tensor or a number, with its slopes
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
