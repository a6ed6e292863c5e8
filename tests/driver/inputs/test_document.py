"""Descriptions: what is written is read back, and what nobody has written is refused."""

import json

import pytest

from slotfuzz.inputs import check, core_reader, document, strict_json
from slotfuzz.inputs.strict_json import DescError
from slotfuzz.schema import meta_fields
from tests.driver.inputs import hostile, rows


def test_the_fields_are_those_of_the_core():
    text = meta_fields.FIELDS.read_text()
    names = [one.name for table in document.TABLES for one in meta_fields.rows(table)]
    assert len(names) == text.count("_FIELD(Natural") + sum(
        text.count(f"_FIELD({kind},") for kind in document.READERS if kind != "Natural")
    assert {one.kind for table in document.TABLES for one in meta_fields.rows(table)} <= set(
        document.READERS)


def test_the_core_knows_no_other_types_of_elements():
    header = meta_fields.ROOT / "core" / "c10" / "tensor" / "scalar_type.h"
    names = [line.partition(", ")[2].partition(")")[0].rstrip("_")
             for line in header.read_text().splitlines() if line.startswith("  ROW(")]
    assert len(names) > 3 and set(names) <= set(check.ITEM_SIZES)


@pytest.mark.parametrize("capture", [
    rows.single(), rows.single((0, 3)), rows.single((), "complex64", is_conj=True), rows.viewed(),
    rows.viewed(requires_grad=True), rows.single(requires_grad=True, is_leaf=False),
    rows.capture([rows.storage(4), rows.storage(8, resizable=False)],
                 [rows.tensor((1,), grad=1), rows.tensor((1,), storage=1, grad=0, version_group=1)],
                 {"b": 1, "a": 0}),
])
def test_what_is_written_is_read_back(capture):
    text = document.dumps(capture.document)
    assert document.loads(text.encode()) == capture.document
    assert document.dumps(document.loads(text.encode())) == text
    assert " " not in text


def test_equal_graphs_have_equal_texts():
    storages = [rows.storage(4), rows.storage(8)]
    first = rows.capture(storages, [rows.tensor((1,)), rows.tensor((2,), storage=1,
                                                                  version_group=1)],
                         {"a": 0, "b": 1})
    second = rows.capture(storages[::-1], [rows.tensor((2,), version_group=7),
                                           rows.tensor((1,), storage=1, version_group=3)],
                          {"b": 0, "a": 1})
    assert document.dumps(first.document) == document.dumps(second.document)


def test_any_form_is_read():
    loose = json.dumps(json.loads(hostile.GOOD), indent=3, sort_keys=True)
    assert document.dumps(document.loads(loose.encode())) == hostile.GOOD


def test_a_text_of_a_former_writer_is_read():
    """It left out that a view requires a gradient, whose node was made after a write."""
    view = rows.tensor((2,), base=0, requires_grad=True, is_leaf=False)
    leaf = rows.tensor((4,), requires_grad=True)
    text = document.dumps(rows.capture([rows.storage(16)], [leaf, view], {"a": 0, "b": 1}).document)
    former = text.replace('"requires_grad":true,"is_leaf":false', '"is_leaf":false')
    assert former != text and document.dumps(document.loads(former.encode())) == former


@pytest.mark.parametrize("text, pointer", hostile.TEXTS)
def test_a_hostile_text_is_refused_with_its_place(text, pointer):
    with pytest.raises(DescError) as caught:
        document.loads(text.encode())
    # Our parser does not say in which field a text ends that is no JSON.
    assert caught.value.pointer == ("" if "no JSON" in caught.value.message else pointer)


@pytest.mark.parametrize("text", ["[" * 1_000_000, '{"a":' * 1_000_000,
                                  '{"format":"slotfuzz-meta","version":' + "[" * 100_000,
                                  "9" * 1_000_000, b"\xff\xfe"])
def test_a_huge_or_deep_text_is_refused(text):
    with pytest.raises(DescError):
        document.loads(text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize("text", ["1e2", "NaN", "Infinity", "-0.5", str(2 ** 63)])
def test_only_integers_of_64_bits_are_numbers(text):
    with pytest.raises(DescError) as caught:
        strict_json.integer(strict_json.parse(text.encode()), "/x")
    assert caught.value.pointer == "/x"


@pytest.fixture
def built_core():
    """Skips if no core is built."""
    if core_reader.python() is None:
        pytest.skip("no core is built")


def test_the_core_takes_what_we_write(built_core):
    for capture in (rows.single(), rows.viewed(), rows.single((), "complex64", is_conj=True)):
        core_reader.check(document.dumps(capture.document))


def test_the_core_refuses_the_same_texts_at_the_same_places(built_core):
    said = {text: core_reader.refusal(text) for text, _ in hostile.TEXTS}
    assert [(text, error and error.pointer) for text, error in said.items()] == hostile.TEXTS
