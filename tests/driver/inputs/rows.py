"""Small captures for tests, as rows with only the fields that matter."""

from slotfuzz.inputs.capture_file import Capture, made
from slotfuzz.inputs.check import ITEM_SIZES
from slotfuzz.inputs.elements import contiguous
from slotfuzz.schema import meta_fields


def storage(nbytes: int, **values) -> dict:
    """A row of a storage."""
    return meta_fields.row_of("storages", id=0, nbytes=nbytes, **values)


def tensor(size=(2,), dtype="float32", **values) -> dict:
    """A row of a contiguous tensor at the beginning of storage 0."""
    size = list(size)
    return meta_fields.row_of("tensors", **{
        "id": 0, "dtype": dtype, "size": size, "stride": contiguous(size), "storage": 0,
        "version_group": 0, **values})


def capture(storages: list[dict], tensors: list[dict], names: dict[str, int], data=None,
            grad_mode: bool = True) -> Capture:
    """A canonical capture; storages have the bytes 1, 2, 3 and so on if no DATA is given."""
    data = data or [bytes(at % 251 + 1 for at in range(row["nbytes"])) for row in storages]
    return made(storages, tensors, data, names, grad_mode)


def single(size=(2,), dtype="float32", data=None, **values) -> Capture:
    """One tensor `a` that fills its storage."""
    row = tensor(size, dtype, **values)
    count = ITEM_SIZES[dtype]
    for one in size:
        count *= one
    return capture([storage(count)], [row], {"a": 0}, data and [data])


def viewed(**values) -> Capture:
    """A tensor `a` of 4 elements, and `b`, a view of its last two."""
    return capture([storage(16)], [tensor((4,)), tensor((2,), storage_offset=2, base=0, **values)],
                   {"a": 0, "b": 1})
