"""What else is in scope: plain values, storages, and lists and dicts of tensors, as expressions."""

from observed_tensors import storage_of

# What is printed as it is: a script can evaluate its repr().
PLAIN = (int, float, str, bytes, bool, complex, type(None))
PLAIN_LENGTH_MAX = 4096
PLAIN_BITS_MAX = 4096  # of a number; Python refuses to print much longer ones
CONTAINERS = (tuple, list, set, dict)
DEPTH_MAX = 50  # a Python parser takes about 100
PARTS_MAX = 1 << 16


def is_small(value):
    """Whether VALUE is nested so little that an expression can say it; what contains itself is not.

    What contains one list several times counts it as often.
    """
    todo, count = [(value, 0)], 0
    while todo:
        one, depth = todo.pop()
        if type(one) in CONTAINERS:
            count += len(one)
            if depth == DEPTH_MAX or count > PARTS_MAX:
                return False
            parts = [*one, *one.values()] if type(one) is dict else one
            todo += [(part, depth + 1) for part in parts]
    return True


def is_plain(value, torch):
    """Whether a script can evaluate repr(VALUE)."""
    if type(value) in CONTAINERS:
        parts = [*value, *value.values()] if type(value) is dict else value
        return len(value) <= PLAIN_LENGTH_MAX and all(is_plain(one, torch) for one in parts) and (
            type(value) is not set or bool(value))
    if type(value) in (float, complex):
        return value - value == 0  # neither infinite nor NaN
    if type(value) is int:
        return value.bit_length() <= PLAIN_BITS_MAX
    return type(value) in PLAIN or is_of(value, torch.dtype)


def is_of(value, kind):
    """Whether VALUE is of the class KIND; nothing of VALUE runs, as its `__class__` would."""
    return issubclass(type(value), kind)


class Holders:
    """Lists, tuples and dicts of tensors, and storages, as expressions of variables of tensors.

    A tensor that no variable has gets one, which is among the PARTS.
    """

    def __init__(self, torch, tensors, taken):
        self.torch, self.taken, self.parts = torch, taken, {}
        self.variables = {id(tensor): name for name, tensor in sorted(tensors.items())}
        self.tensors = tensors

    def expression(self, value, name):
        """An expression for VALUE of the variable NAME; None if it is or has something else."""
        if is_of(value, self.torch.Tensor):
            return self.variable(value, name)
        if type(value) in (list, tuple) and len(value) <= PLAIN_LENGTH_MAX:
            texts = [self.expression(one, name) for one in value]
            if None in texts:
                return None
            comma = "," if type(value) is tuple and len(texts) == 1 else ""
            begin, end = "[]" if type(value) is list else "()"
            return begin + ", ".join(texts) + comma + end
        if type(value) is dict and len(value) <= PLAIN_LENGTH_MAX:
            texts = [(repr(key), self.expression(one, name)) for key, one in value.items()
                     if is_plain(key, self.torch)]
            if len(texts) < len(value) or None in [text for _, text in texts]:
                return None
            return "{" + ", ".join("%s: %s" % one for one in texts) + "}"
        is_untyped = is_of(value, self.torch.UntypedStorage)
        if is_untyped or type(value) is getattr(self.torch, "TypedStorage", None):
            try:
                variable = self.tensor_on(value, None if is_untyped else value.dtype, name)
            except (RuntimeError, NotImplementedError):
                return None  # on another device, for example
            return "_storage(%s)" % variable if is_untyped else "%s.storage()" % variable
        return repr(value) if is_plain(value, self.torch) else None

    def variable(self, tensor, name):
        """The variable of TENSOR, a new one if no variable has it."""
        if id(tensor) not in self.variables:
            number = 0
            while "%s_%d" % (name, number) in self.taken:
                number += 1
            self.variables[id(tensor)] = new = "%s_%d" % (name, number)
            self.taken.add(new)
            self.parts[new] = tensor
        return self.variables[id(tensor)]

    def tensor_on(self, storage, dtype, name):
        """The variable of a tensor on STORAGE, with elements of DTYPE unless that is None."""
        window = self.torch.empty(0, dtype=dtype or self.torch.uint8).set_(storage)
        for other, tensor in {**self.tensors, **self.parts}.items():
            if type(tensor) is self.torch.Tensor and dtype in (None, tensor.dtype) and (
                    self.is_on(tensor, window)):
                return other
        return self.variable(window, name)

    def is_on(self, tensor, window):
        """Whether TENSOR is on the storage of WINDOW."""
        try:
            mine = self.torch.empty(0, dtype=window.dtype).set_(storage_of(tensor))
        except (RuntimeError, NotImplementedError):
            return False  # a tensor without a storage
        return mine.is_set_to(window)
