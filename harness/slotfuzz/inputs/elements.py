"""Bytes as Python expressions: short where they can be, and exact always."""

import base64
import math
import struct
import zlib

from slotfuzz.inputs.check import ITEM_SIZES, numel

HEXADECIMAL_MAX = 64
LISTED_MAX = 16
# Longer texts of bytes stay in the file of the capture, and so do longer bytes.
INLINE_MAX = 1 << 14
PACKED_MAX = 1 << 20
# How struct names the types whose values Python can write.
CODES = {"bool": "?", "uint8": "B", "int8": "b", "int16": "h", "int32": "i", "int64": "q",
         "float16": "e", "float32": "f", "float64": "d"}


def bytes_expression(data: bytes) -> str | None:
    """DATA as an expression; None if it is too long for a script."""
    if is_zero(data):
        return f"bytes({len(data)})"
    if data == data[:1] * len(data):
        return f'bytes.fromhex("{data[:1].hex()}") * {len(data)}'
    if len(data) <= HEXADECIMAL_MAX:
        return f'bytes.fromhex("{data.hex()}")'
    if len(data) > PACKED_MAX:
        return None
    packed = base64.b85encode(zlib.compress(data, 9)).decode()
    if len(packed) > INLINE_MAX:
        return None
    lines = "\n".join(f'    "{packed[at:at + 90]}"' for at in range(0, len(packed), 90))
    return f"zlib.decompress(base64.b85decode(\n{lines}))"


def is_zero(data: bytes) -> bool:
    """Whether all bytes are zero. It takes less time than any() on bytes that are."""
    return data.count(0) == len(data)


def contiguous(sizes: list[int]) -> list[int]:
    """The strides of a new tensor of SIZES."""
    strides, expected = [], 1
    for size in reversed(sizes):
        strides.insert(0, expected)
        expected *= max(size, 1)
    return strides


def is_plain(row: dict, storage: dict) -> bool:
    """Whether the tensor of ROW is contiguous and fills its STORAGE, so that a factory makes it."""
    return (row["stride"] == contiguous(row["size"]) and row["storage_offset"] == 0
            and storage["nbytes"] == numel(row) * ITEM_SIZES[row["dtype"]]
            and storage["resizable"])


def factory(row: dict, data: bytes) -> str | None:
    """A call without its last `)` that makes a plain tensor of DATA; None if none is short."""
    size, dtype = tuple(row["size"]), row["dtype"]
    typed = "" if dtype == "float32" else f", dtype=torch.{dtype}"
    if is_zero(data):
        return f"torch.zeros({size}{typed}"
    if dtype not in CODES:
        return None
    item = ITEM_SIZES[dtype]
    is_constant = data == data[:item] * (len(data) // item)
    if not is_constant and len(data) > LISTED_MAX * item:
        return None
    shown = data[:item] if is_constant else data
    values = [value for (value,) in struct.iter_unpack(f"<{CODES[dtype]}", shown)]
    if not all(map(math.isfinite, values)) or (
            struct.pack(f"<{len(values)}{CODES[dtype]}", *values) != shown):
        return None  # repr() of a NaN does not give its bytes back
    typed = typed or ", dtype=torch.float32"
    if is_constant:
        return f"torch.full({size}, {values[0]!r}{typed}"
    return f"torch.tensor({_nested(values, size)}{typed}"


def _nested(values: list, size: tuple[int, ...]):
    for length in reversed(size[1:]):
        values = [values[at:at + length] for at in range(0, len(values), length)]
    return values if size else values[0]
