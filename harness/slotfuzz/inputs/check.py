"""What a description must satisfy, as core/meta/desc_check.cc has it.

Ids are places, bases are no views, layouts fit into 64 bits, flags and version groups agree, and
every row is reached from the roots.
"""

from slotfuzz.inputs.strict_json import INTEGER_MAX, DescError

# The bytes of an element, by the name that PyTorch gives its type.
ITEM_SIZES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint16": 2, "uint32": 4,
    "uint64": 8, "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex32": 4,
    "complex64": 8, "complex128": 16, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
}
DEVICES = ("cpu", "meta")
CREATION_METAS = ("default", "no_grad_mode", "in_custom_function", "multi_output_node")
HEXADECIMAL = frozenset("0123456789abcdef")


def is_complex(dtype: str) -> bool:
    """Whether numbers of this type have conjugates."""
    return dtype.startswith("complex")


def is_differentiable(dtype: str) -> bool:
    """Whether tensors of this type can have gradients."""
    return dtype.startswith(("float", "bfloat", "complex"))


def numel(row: dict) -> int:
    """The number of elements of a tensor."""
    count = 1
    for size in row["size"]:
        count *= size
    return count


def bytes_end(row: dict) -> int:
    """The end of the last byte that a tensor reaches in its storage; 0 if it has no elements."""
    if numel(row) == 0:
        return 0
    last = sum((size - 1) * stride for size, stride in zip(row["size"], row["stride"]))
    return (row["storage_offset"] + last + 1) * ITEM_SIZES[row["dtype"]]


def check(document) -> None:
    """DescError with the JSON pointer of the first row or field of DOCUMENT that cannot be."""
    if not document.roots:
        raise DescError("/roots", "there is no root")
    for table in ("storages", "tensors"):
        for place, row in enumerate(getattr(document, table)):
            if row["id"] != place:
                raise DescError(f"/{table}/{place}/id", f"expected {place}, the place of the row")
    for place, row in enumerate(document.storages):
        _storage(row, f"/storages/{place}/data")
    groups: dict[int, int] = {}
    for place, row in enumerate(document.tensors):
        _references(document, place, row)
        _layout(row, f"/tensors/{place}/size")
        _flags(document, row, f"/tensors/{place}")
        _versions(document, row, f"/tensors/{place}", groups.setdefault(row["version_group"],
                                                                       place))
    _reach(document)


def _storage(row: dict, pointer: str) -> None:
    data = row["data"]
    if data is None:
        return
    if row["device"] == "meta":
        raise DescError(pointer, "a storage on meta has no bytes")
    if len(data) != 2 * row["nbytes"]:
        raise DescError(pointer, f"expected two digits for each of {row['nbytes']} bytes, got"
                                 f" {len(data)} digits")
    if not HEXADECIMAL.issuperset(data):
        raise DescError(pointer, "expected digits 0 to 9 and a to f")


def _references(document, place: int, row: dict) -> None:
    pointer = f"/tensors/{place}"
    if row["storage"] >= len(document.storages):
        raise DescError(f"{pointer}/storage", f"there is no storage {row['storage']}")
    for name, self_words in (("base", "a tensor is no view of itself"),
                             ("grad", "a tensor is not its own gradient")):
        other = row[name]
        if other is None:
            continue
        if other >= len(document.tensors):
            raise DescError(f"{pointer}/{name}", f"there is no tensor {other}")
        if other == place:
            raise DescError(f"{pointer}/{name}", self_words)
        if name == "base" and document.tensors[other]["base"] is not None:
            raise DescError(f"{pointer}/base", "the base is a view itself")
        if _device(document, document.tensors[other]) != _device(document, row):
            raise DescError(f"{pointer}/{name}", "it is on another device")


def _device(document, row: dict) -> str:
    """The device of a row whose storage may not have been checked yet."""
    known = row["storage"] < len(document.storages)
    return document.storages[row["storage"]]["device"] if known else "cpu"


def _layout(row: dict, pointer: str) -> None:
    if len(row["size"]) != len(row["stride"]):
        raise DescError(pointer, f"the number of sizes and of strides differ: {row['size']} and"
                                 f" {row['stride']}")
    if any(one < 0 for one in (*row["size"], *row["stride"])):
        raise DescError(pointer, "sizes and strides cannot be negative")
    bound, count = INTEGER_MAX // ITEM_SIZES[row["dtype"]], 1
    for size in row["size"]:
        count *= max(size, 1)
    if count > bound or bytes_end(row) > INTEGER_MAX or row["storage_offset"] > bound:
        raise DescError(pointer, "it reaches beyond 64 bits")


def _flags(document, row: dict, pointer: str) -> None:
    base = None if row["base"] is None else document.tensors[row["base"]]
    has_gradients = is_differentiable(row["dtype"])
    if row["requires_grad"] and not has_gradients:
        raise DescError(f"{pointer}/requires_grad", f"there are no gradients of {row['dtype']}")
    if not (row["is_leaf"] or row["requires_grad"]
            or base and base["requires_grad"] and has_gradients):
        raise DescError(f"{pointer}/is_leaf",
                        "what was computed requires a gradient, or its base does")
    if row["creation_meta"] != "default" and not base:
        raise DescError(f"{pointer}/creation_meta", "only a view has one")
    if row["is_conj"] and not is_complex(row["dtype"]):
        raise DescError(f"{pointer}/is_conj", f"a number of {row['dtype']} has no conjugate")


def _versions(document, row: dict, pointer: str, first: int) -> None:
    if document.tensors[first]["version"] != row["version"]:
        raise DescError(f"{pointer}/version",
                        f"tensor {first} of the same group has another version")
    base = row["base"]
    if base is not None and document.tensors[base]["version_group"] != row["version_group"]:
        raise DescError(f"{pointer}/version_group",
                        "a view and its base count their writes together")


def _reach(document) -> None:
    found = []
    for place, root in enumerate(document.roots):
        if root >= len(document.tensors):
            raise DescError(f"/roots/{place}", f"there is no tensor {root}")
        found.append(root)
    tensors, storages = set(), set()
    while found:
        place = found.pop()
        if place in tensors:
            continue
        tensors.add(place)
        row = document.tensors[place]
        storages.add(row["storage"])
        found += [row[name] for name in ("base", "grad") if row[name] is not None]
    for table, reached in (("tensors", tensors), ("storages", storages)):
        for place in range(len(getattr(document, table))):
            if place not in reached:
                raise DescError(f"/{table}/{place}", "no root leads to it")
