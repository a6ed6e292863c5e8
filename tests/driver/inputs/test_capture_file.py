"""The file of a capture: what is written is read back, and a changed file is refused."""

import io
import json

import pytest

from slotfuzz.inputs import capture_file
from slotfuzz.inputs.strict_json import DescError
from tests.driver.inputs import rows

PAIR = rows.capture([rows.storage(5), rows.storage(8)],
                    [rows.tensor((1,)), rows.tensor((2,), storage=1, version_group=1)],
                    {"a": 0, "b": 1, "c": 1}, grad_mode=False)


def written(capture) -> bytes:
    """The file of CAPTURE."""
    file = io.BytesIO()
    capture_file.write(file, capture)
    return file.getvalue()


def changed(edit) -> bytes:
    """The file of PAIR, with its head changed by EDIT, which gets it as JSON."""
    content = written(PAIR)
    (length,) = capture_file.LENGTH.unpack_from(content)
    head = json.loads(content[8:8 + length])
    text = edit(head) or json.dumps(head)
    text = text.encode()
    return capture_file.LENGTH.pack(len(text)) + text + bytes(-(8 + len(text)) % 64) + content[-13:]


def test_what_is_written_is_read_back():
    content = written(PAIR)
    assert capture_file.read(content) == PAIR
    assert (len(content) - 13) % 64 == 0 and content.endswith(b"".join(PAIR.data))


def set_at(*path_and_value):
    """An edit of a head: the last argument is put at the path before it."""
    *path, last, value = path_and_value

    def edit(head):
        for name in path:
            head = head[name]
        head[last] = value
    return edit


@pytest.mark.parametrize("edit, pointer", [
    (set_at("version", 2), "/version"), (set_at("format", "x"), "/format"),
    (set_at("grad_mode", 1), "/grad_mode"), (set_at("more", 1), ""),
    (lambda head: head.pop("names") and None, ""),
    (set_at("names", []), "/names"), (set_at("names", {"a": 0}), "/names"),
    (set_at("names", "b", 2), "/names/b"), (set_at("names", "a b", 0), "/names"),
    (set_at("names", "class", 0), "/names"), (set_at("names", "None", 0), "/names"),
    (set_at("names", "__debug__", 0), "/names"), (set_at("names", "\ufb01", 0), "/names"),
    (set_at("document", "storages", 0, "device", "meta"), "/document/storages/0/device"),
    (lambda head: json.dumps(head).replace('"a": 0', '"a": 0, "a": 1'), "/names/a"),
    (lambda head: json.dumps(head).replace('"version": 1', '"version": 1, "version": 1', 1),
     "/version"),
    (set_at("ranges", {}), "/ranges"), (lambda head: head["ranges"].pop() and None, "/ranges"),
    (set_at("ranges", 1, "begin", 3), "/ranges/1/begin"),
    (set_at("ranges", 1, "begin", 6), "/ranges/1/begin"),
    (set_at("ranges", 1, "end", 12), "/ranges/1/end"),
    (set_at("ranges", 1, "end", -1), "/ranges/1/end"),
    (set_at("ranges", 0, "crc32", 1), "/ranges/0/crc32"),
    (set_at("ranges", 0, "crc32", "x"), "/ranges/0/crc32"),
    (set_at("ranges", 0, "more", 1), "/ranges/0"),
    (set_at("document", "version", 9), "/document/version"),
    (set_at("document", "storages", 0, "data", "0" * 10), "/document/storages/0/data"),
    (set_at("document", "tensors", 1, "base", 1), "/document/tensors/1/base"),
    (set_at("document", "roots", [0, 5]), "/document/roots/1"),
])
def test_a_changed_head_is_refused_with_its_place(edit, pointer):
    with pytest.raises(DescError) as caught:
        capture_file.read(changed(edit))
    assert caught.value.pointer == pointer


def test_an_unchanged_head_is_read():
    assert capture_file.read(changed(lambda head: None)) == PAIR


def test_a_file_that_was_cut_is_refused():
    content = written(PAIR)
    for length in range(len(content)):
        with pytest.raises(DescError):
            capture_file.read(content[:length])


@pytest.mark.parametrize("place", [-1, -8, -13])
def test_a_changed_byte_of_a_storage_is_seen(place):
    content = bytearray(written(PAIR))
    content[place] ^= 1
    with pytest.raises(DescError, match="crc32"):
        capture_file.read(bytes(content))


def test_data_that_belongs_to_nothing_is_refused():
    with pytest.raises(DescError, match="/ranges"):
        capture_file.read(written(PAIR) + b"\0")
    content = bytearray(written(PAIR))
    content[-14] = 1
    with pytest.raises(DescError, match="between"):
        capture_file.read(bytes(content))


def test_a_huge_length_needs_no_memory():
    with pytest.raises(DescError, match="truncated"):
        capture_file.read(b"\xff" * 8 + b"{}")
