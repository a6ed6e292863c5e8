"""Descriptions of tensors as values, with the text that core/meta writes and reads.

`loads` refuses what the core's reader refuses, with the same JSON pointers. It knows more types of
elements and more dimensions, because PyTorch does. Sizes that are expressions are for the core
alone: the reader here refuses them.
"""

import json
from dataclasses import dataclass

from slotfuzz.inputs import check, strict_json
from slotfuzz.inputs.strict_json import DescError
from slotfuzz.schema import meta_fields

FORMAT, VERSION = "slotfuzz-meta", 2
TABLES = ("storages", "tensors")
HEAD = ("format", "version", *TABLES, "roots")
ENVIRONMENT = "shape_env"
DIMENSIONS_MAX = 64


@dataclass(frozen=True)
class Document:
    """Rows that refer to each other by their places; a row has a value for each field."""

    storages: tuple[dict, ...]
    tensors: tuple[dict, ...]
    roots: tuple[int, ...]


def dumps(document: Document) -> str:
    """The canonical text of a DOCUMENT: no white space, the order of fields.def."""
    made = canonical(document)
    lists = {table: [_written(table, row) for row in getattr(made, table)] for table in TABLES}
    return json.dumps({"format": FORMAT, "version": VERSION, **lists, "roots": list(made.roots)},
                      separators=(",", ":"))


def _written(table: str, row: dict) -> dict:
    return {one.name: row[one.name] for one in meta_fields.rows(table)
            if one.always or row[one.name] != one.initial}


class _Numbers(dict):
    """New numbers in the order in which they are asked for; ORDER has the places."""

    def __init__(self):
        super().__init__()
        self.order = []

    def __missing__(self, place):
        self[place] = number = len(self.order)
        self.order.append(place)
        return number


def canonical(document: Document) -> Document:
    """DOCUMENT with rows in the order of first visits from the roots, and without other rows."""
    return ordered(document)[0]


def ordered(document: Document) -> tuple[Document, list[int]]:
    """The canonical form of DOCUMENT, and the former places of its storages."""
    tensors, storages, groups, rows = _Numbers(), _Numbers(), _Numbers(), []
    roots = tuple(tensors[place] for place in document.roots)
    for place in tensors.order:  # which grows
        row = dict(document.tensors[place], id=len(rows))
        row["storage"] = storages[row["storage"]]
        for name in ("base", "grad"):
            row[name] = None if row[name] is None else tensors[row[name]]
        row["version_group"] = groups[row["version_group"]]
        rows.append(row)
    kept = tuple({**document.storages[place], "id": number}
                 for number, place in enumerate(storages.order))
    return Document(kept, tuple(rows), roots), storages.order


def loads(text: bytes) -> Document:
    """Reads any form of a text; DescError names the first field that is wrong."""
    return read(strict_json.parse(text))


def read(value, pointer: str = "") -> Document:
    """The document that the parsed VALUE at POINTER stands for, checked."""
    head = strict_json.members(value, pointer, (*HEAD, ENVIRONMENT), HEAD)
    if ENVIRONMENT in head:
        raise DescError(f"{pointer}/{ENVIRONMENT}", "tensors here have no symbolic sizes")
    strict_json.word(head["format"], f"{pointer}/format", [FORMAT])
    strict_json.version(head["version"], f"{pointer}/version", VERSION)
    tables = {table: tuple(_row(table, one, f"{pointer}/{table}/{place}") for place, one in
                           enumerate(strict_json.items(head[table], f"{pointer}/{table}")))
              for table in TABLES}
    roots = tuple(strict_json.integer(one, f"{pointer}/roots/{place}") for place, one in
                  enumerate(strict_json.items(head["roots"], f"{pointer}/roots")))
    document = Document(tables["storages"], tables["tensors"], roots)
    try:
        check.check(document)
    except DescError as error:
        raise DescError(f"{pointer}{error.pointer}", error.message) from error
    return document


def _row(table: str, value, pointer: str) -> dict:
    fields = meta_fields.rows(table)
    found = strict_json.members(value, pointer, [one.name for one in fields],
                                [one.name for one in fields if one.always])
    kinds = {one.name: one.kind for one in fields}
    return meta_fields.row_of(table, **{
        name: READERS[kinds[name]](one, f"{pointer}/{name}") for name, one in found.items()})


def _dims(value, pointer: str) -> list[int]:
    found = strict_json.items(value, pointer)
    if len(found) > DIMENSIONS_MAX:
        raise DescError(f"{pointer}/{DIMENSIONS_MAX}",
                        f"a tensor has at most {DIMENSIONS_MAX} dimensions")
    return [strict_json.integer(one, f"{pointer}/{place}", -2 ** 63)
            for place, one in enumerate(found)]


# How a value is read, by the C++ type of its field.
READERS = {
    "Natural": strict_json.integer,
    "Size": strict_json.integer,
    "StorageRef": strict_json.integer,
    "TensorRef": strict_json.integer,
    "uint32_t": lambda value, pointer: strict_json.integer(value, pointer, 0, 2 ** 32 - 1),
    "bool": strict_json.flag,
    "ScalarType": lambda value, pointer: strict_json.word(value, pointer, check.ITEM_SIZES),
    "Device": lambda value, pointer: strict_json.word(value, pointer, check.DEVICES),
    "CreationMeta": lambda value, pointer: strict_json.word(value, pointer, check.CREATION_METAS),
    "Bytes": strict_json.word,
    "Dims": _dims,
}
