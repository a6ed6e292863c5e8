"""Texts of descriptions that no writer has written, with the JSON pointer of what is wrong."""

import json

from slotfuzz.inputs import document
from tests.driver.inputs import rows

GOOD = document.dumps(rows.viewed().document)


def edited(pointer: str, value) -> str:
    """GOOD with VALUE at POINTER; `...` removes what is there."""
    found = json.loads(GOOD)
    *path, last = pointer.split("/")[1:]
    place = found
    for name in path:
        place = place[int(name) if isinstance(place, list) else name]
    if value is ...:
        del place[last]
    elif isinstance(place, list):
        place[int(last)] = value
    else:
        place[last] = value
    return json.dumps(found, separators=(",", ":"))


# (text, pointer): a reader must name the pointer.
TEXTS = [
    ("", ""), ("{", ""), ("[]", ""), ("\ufeff" + GOOD, ""),
    (GOOD[:-1], "/roots"), (GOOD + "x", ""),
    (edited("/format", "safetensors"), "/format"),
    (edited("/version", 3), "/version"), (edited("/shape_env", "s0"), "/shape_env"),
    (edited("/shape_env", 1), "/shape_env"),
    (edited("/tensors/0/size/0", "s0"), "/tensors/0/size/0"),
    (edited("/storages/0/nbytes", "4*s0"), "/storages/0/nbytes"),
    (edited("/tensors/0/id", "s0"), "/tensors/0/id"), (edited("/version", 0), "/version"),
    (edited("/roots", ...), ""), (edited("/roots", []), "/roots"),
    (edited("/roots/0", 7), "/roots/0"), (edited("/roots/0", "0"), "/roots/0"),
    (edited("/storages/0/nbytes", -1), "/storages/0/nbytes"),
    (edited("/storages/0/nbytes", 1.5), "/storages/0/nbytes"),
    (edited("/storages/0/device", "cuda"), "/storages/0/device"),
    (edited("/storages/0/data", "zz" * 16), "/storages/0/data"),
    (edited("/storages/0/data", "00"), "/storages/0/data"),
    (edited("/storages/0/id", 3), "/storages/0/id"),
    (edited("/tensors/0/color", 1), "/tensors/0"),
    (edited("/tensors/0/dtype", ...), "/tensors/0"),
    (edited("/tensors/0/dtype", "quint8"), "/tensors/0/dtype"),
    (edited("/tensors/0/size", 4), "/tensors/0/size"),
    (edited("/tensors/0/size", [True]), "/tensors/0/size/0"),
    (edited("/tensors/0/size", [-1]), "/tensors/0/size"),
    (edited("/tensors/0/size", [4, 4]), "/tensors/0/size"),
    (edited("/tensors/0/size", [2 ** 62]), "/tensors/0/size"),
    (edited("/tensors/0/storage_offset", 2 ** 63), "/tensors/0/storage_offset"),
    (edited("/tensors/0/storage", 1), "/tensors/0/storage"),
    (edited("/tensors/1/base", 1), "/tensors/1/base"),
    (edited("/tensors/0/base", 1), "/tensors/0/base"),
    (edited("/tensors/0/grad", 0), "/tensors/0/grad"),
    (edited("/tensors/0/grad", 9), "/tensors/0/grad"),
    (edited("/tensors/0/is_leaf", False), "/tensors/0/is_leaf"),
    (edited("/tensors/0/is_conj", True), "/tensors/0/is_conj"),
    (edited("/tensors/0/creation_meta", "no_grad_mode"), "/tensors/0/creation_meta"),
    (edited("/tensors/1/creation_meta", "odd"), "/tensors/1/creation_meta"),
    (edited("/tensors/1/version", 1), "/tensors/1/version"),
    (edited("/tensors/1/version", 2 ** 32), "/tensors/1/version"),
    (edited("/tensors/1/version_group", 5), "/tensors/1/version_group"),
    (GOOD.replace('"id":0', '"id":0,"id":0', 1), "/storages/0/id"),
    (GOOD.replace('"roots":[0,1]', '"roots":[0]'), "/tensors/1"),
]
