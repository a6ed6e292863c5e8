"""As much of PyTorch as captures need, in plain Python: whole tensors on storages of their own.

A storage is a ctypes buffer. `crash` and `refuse` are the bugs that tests look for.
"""

import ctypes
import math
import os
import signal
import struct
import types

__version__ = "0.1-fake"
SIZES = {"uint8": "B", "int64": "q", "float32": "f"}


class dtype:
    """A type of elements."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"torch.{self.name}"


uint8, int64, float32 = (dtype(name) for name in SIZES)
strided = "torch.strided"


class UntypedStorage:
    """Bytes with an address."""

    def __init__(self, data):
        self.buffer = ctypes.create_string_buffer(bytes(data), len(data))

    def data_ptr(self):
        """The address."""
        return ctypes.addressof(self.buffer)

    def nbytes(self):
        """The size."""
        return len(self.buffer)

    def resizable(self):
        """It owns its bytes."""
        return True


class Tensor:
    """A contiguous tensor that shares its storage with those that detach() makes."""

    is_quantized = False
    layout = strided
    device = types.SimpleNamespace(type="cpu")

    def __init__(self, sizes, values, kind, requires_grad=False):
        self.sizes, self.dtype = tuple(sizes), kind
        self.storage = UntypedStorage(struct.pack(f"<{len(values)}{SIZES[kind.name]}", *values))
        self.requires_grad, self.is_leaf, self.grad, self._base = requires_grad, True, None, None
        self.writes = [0]

    @property
    def _version(self):
        return self.writes[0]

    def size(self):
        """The sizes."""
        return self.sizes

    def stride(self):
        """Those of a contiguous tensor."""
        return tuple(math.prod(max(one, 1) for one in self.sizes[at + 1:])
                     for at in range(len(self.sizes)))

    def storage_offset(self):
        """It begins with its storage."""
        return 0

    def untyped_storage(self):
        """The storage."""
        return self.storage

    def set_(self, storage):
        """A window on a storage."""
        self.storage = storage
        return self

    def is_set_to(self, other):
        """Whether both have one storage."""
        return self.storage is other.storage

    def is_conj(self):
        """No bits."""
        return False

    is_neg = is_conj

    def detach(self):
        """Itself: all that is asked of it is a write that changes no byte."""
        return self

    def as_strided(self, *_):
        """Itself."""
        return self

    def zero_(self):
        """Counts a write."""
        self.writes[0] += 1
        return self

    def crash(self):
        """Dies if there are at least two elements."""
        if math.prod(self.sizes) > 1:
            os.kill(os.getpid(), signal.SIGSEGV)

    def refuse(self, other):
        """Raises if two tensors share no storage and the first has any element but 0."""
        if any(bytes(self.storage.buffer)) and other.storage is not self.storage:
            raise RuntimeError(f"cannot mix {math.prod(self.sizes)} elements")


class Parameter(Tensor):
    """The class of parameters."""


class Sub(Tensor):
    """A class of the user."""


nn = types.SimpleNamespace(Parameter=Parameter)


class no_grad:
    """Nothing is recorded here anyway."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def is_grad_enabled():
    """As if gradients were recorded."""
    return True


def is_inference_mode_enabled():
    """There is no such mode."""
    return False


def zeros(size, dtype=float32, requires_grad=False):
    """Zeros."""
    return Tensor(size, [0] * math.prod(size), dtype, requires_grad)


def full(size, value, dtype=float32, requires_grad=False):
    """Equal elements."""
    return Tensor(size, [value] * math.prod(size), dtype, requires_grad)


def tensor(values, dtype=float32, requires_grad=False):
    """A list of elements."""
    return Tensor((len(values),), values, dtype, requires_grad)


def empty(size, dtype=float32):
    """Nothing yet."""
    return Tensor((size,), [0] * size, dtype)
