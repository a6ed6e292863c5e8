"""inputs.capture: the tensors of a program with their bytes, as one file.

    8 bytes     the length of the head, little endian
    the head    JSON: names, grad mode, the document, and for each storage the range of its bytes
                with their CRC32
    zeros       up to a multiple of 64
    the bytes   of each storage, in the order of ids, without a hole

This is the framing of safetensors, by storage: safetensors itself refuses tensors that share one.
"""

import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from slotfuzz.inputs import document as documents, strict_json, variables
from slotfuzz.inputs.document import Document
from slotfuzz.inputs.strict_json import DescError

FORMAT, VERSION = "slotfuzz-capture", 1
HEAD = ("format", "version", "grad_mode", "names", "ranges", "document")
RANGE = ("begin", "end", "crc32")
LENGTH = struct.Struct("<Q")
ALIGNMENT = 64


@dataclass(frozen=True)
class Capture:
    """NAMES leads to places among the document's roots; DATA has the bytes of each storage."""

    document: Document
    data: tuple[bytes, ...]
    names: dict[str, int] = field(default_factory=dict)
    grad_mode: bool = True


def made(
    storages: list[dict], tensors: list[dict], data: list[bytes], names: dict[str, int],
    grad_mode: bool,
) -> Capture:
    """A canonical capture of what NAMES, which lead to places in TENSORS, lead to."""
    roots = list(dict.fromkeys(names[name] for name in sorted(names)))
    document, order = documents.ordered(Document(tuple(storages), tuple(tensors), tuple(roots)))
    return Capture(document, tuple(data[place] for place in order),
                   {name: roots.index(names[name]) for name in sorted(names)}, grad_mode)


def write(file: BinaryIO, capture: Capture) -> None:
    """Writes CAPTURE, whose document is canonical."""
    ranges, at = [], 0
    for data in capture.data:
        ranges.append({"begin": at, "end": at + len(data), "crc32": zlib.crc32(data)})
        at += len(data)
    head = json.dumps({
        "format": FORMAT, "version": VERSION, "grad_mode": capture.grad_mode,
        "names": capture.names, "ranges": ranges,
        "document": json.loads(documents.dumps(capture.document))},
        separators=(",", ":")).encode()
    file.write(LENGTH.pack(len(head)) + head)
    file.write(bytes(_padding(len(head))))
    for data in capture.data:
        file.write(data)


def _padding(length: int) -> int:
    return -(LENGTH.size + length) % ALIGNMENT


def read(content: bytes) -> Capture:
    """The capture in CONTENT; DescError names the place in its head that is wrong."""
    if len(content) < LENGTH.size:
        raise DescError("", f"the file is truncated: it has {len(content)} bytes")
    (length,) = LENGTH.unpack_from(content)
    body = memoryview(content)[LENGTH.size:]
    if length > len(body):
        raise DescError("", f"the file is truncated: its head has {length} bytes, {len(body)}"
                            " are there")
    value = strict_json.parse(bytes(body[:length]))
    head = strict_json.members(value, "", HEAD, HEAD)
    strict_json.word(head["format"], "/format", [FORMAT])
    strict_json.version(head["version"], "/version", VERSION)
    grad_mode = strict_json.flag(head["grad_mode"], "/grad_mode")
    document = documents.read(head["document"], "/document")
    names = _names(head["names"], len(document.roots))
    padding = body[length:length + _padding(length)]
    if any(padding):
        raise DescError("", "there is data between the head and the bytes of storages")
    data = tuple(_data(head["ranges"], document, body[length + _padding(length):]))
    return Capture(document, data, names, grad_mode)


def _names(value, roots: int) -> dict[str, int]:
    known = {name for name, _ in value} if isinstance(value, strict_json.Members) else ()
    found = strict_json.members(value, "/names", known, ())
    for name, root in found.items():
        if words := variables.wrong(name):
            raise DescError("/names", f"{strict_json.shown(name)} {words}")
        strict_json.integer(root, f"/names/{name}", 0, roots - 1)
    missing = set(range(roots)) - set(found.values())
    if missing:
        raise DescError("/names", f"no name leads to root {min(missing)}")
    return found


def _data(value, document: Document, body: memoryview) -> Iterable[bytes]:
    ranges = strict_json.items(value, "/ranges")
    if len(ranges) != len(document.storages):
        raise DescError("/ranges", f"expected {len(document.storages)} ranges, one for each"
                                   f" storage, got {len(ranges)}")
    at = 0
    for pointer, one, row in _rows(ranges, document):
        begin, end, crc = (strict_json.integer(one[name], f"{pointer}/{name}") for name in RANGE)
        if begin != at:
            words = "overlaps the one before" if begin < at else "leaves a hole"
            raise DescError(f"{pointer}/begin", f"the range {words}: expected {at}, got {begin}")
        if end - begin != row["nbytes"]:
            raise DescError(f"{pointer}/end", f"the storage has {row['nbytes']} bytes, the range"
                                              f" {end - begin}")
        if end > len(body):
            raise DescError(f"{pointer}/end", f"the file is truncated: {len(body)} bytes of"
                                              " storages are there")
        data = bytes(body[begin:end])
        if zlib.crc32(data) != crc:
            raise DescError(f"{pointer}/crc32", f"the bytes have {zlib.crc32(data)}; the file was"
                                                " changed")
        at = end
        yield data
    if at != len(body):
        raise DescError("/ranges", f"{len(body) - at} bytes at the end belong to no storage")


def _rows(ranges: list, document: Document) -> Iterator[tuple[str, dict, dict]]:
    for place, (one, row) in enumerate(zip(ranges, document.storages)):
        pointer = f"/ranges/{place}"
        if row["data"] is not None:
            raise DescError(f"/document/storages/{place}/data", "the bytes are in a range")
        if row["device"] != "cpu":
            raise DescError(f"/document/storages/{place}/device", "captured tensors are on cpu")
        yield pointer, strict_json.members(one, pointer, RANGE, RANGE), row
