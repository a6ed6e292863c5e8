"""The shape check accepts valid JSON, and describes the error in other JSON."""

from dataclasses import dataclass

import pytest

from slotfuzz.schema.shape import NUMBER, made, wrong_as, wrong_in

SHAPE = {"id": str, "rate": NUMBER, "programs": [str], "fails": {str: bool}}
GOOD = {"id": "x", "rate": 1, "programs": ["a"], "fails": {"2.6.0": True}, "more": None}


def test_a_record_with_all_that_is_needed_is_right():
    assert wrong_in(GOOD, SHAPE) == "" and wrong_in({**GOOD, "rate": 0.5}, SHAPE) == ""
    assert wrong_in({}, {}, SHAPE) == "" and wrong_in(GOOD, {}, SHAPE) == ""


@pytest.mark.parametrize("record, said", [
    (None, "it is null, not an object"), ([], "it is a list, not an object"),
    ("x", "it is a text, not an object"), (1, "it is a whole number from 0 on, not an object"),
    ({"id": "x", "programs": []}, "it lacks rate, fails"),
    ({**GOOD, "id": None}, "its id is not a text"),
    *(({**GOOD, "rate": rate}, "its rate is not a number from 0 on") for rate in (
        True, "1", -1, -0.5, float("nan"), float("inf"), 2 ** 63)),
    ({**GOOD, "id": "\ud800"}, "its id is not a text"),
    ({**GOOD, "programs": "ab"}, "its programs is not a list, each of which is a text"),
    ({**GOOD, "programs": [1]}, "its programs is not a list, each of which is a text"),
    ({**GOOD, "fails": []}, "its fails is not an object, each value of which is true or false"),
    ({**GOOD, "fails": {"a": 1}},
     "its fails is not an object, each value of which is true or false"),
])
def test_what_is_wrong_is_said(record, said):
    assert wrong_in(record, SHAPE) == said


def test_what_is_optional_must_have_its_shape():
    assert wrong_in({"id": []}, {}, SHAPE) == "its id is not a text"


@dataclass(frozen=True)
class Part:
    """A part of a whole."""

    name: str
    number: int | None = None


@dataclass(frozen=True)
class Whole:
    """A dataclass that contains parts."""

    parts: tuple[Part, ...]
    counts: dict[str, int]


def test_the_fields_of_a_dataclass_are_a_schema():
    record = {"parts": [{"name": "a"}, {"name": "b", "number": 7}], "counts": {"x": 1}}
    assert wrong_as(record, Whole) == ""
    assert made(Whole, record) == Whole((Part("a"), Part("b", 7)), {"x": 1})


@pytest.mark.parametrize("changed, said", [
    ({"parts": [{"number": 1}]}, "its parts number 0 is wrong: it lacks name"),
    ({"parts": [{"name": "a", "number": "1"}]},
     "its parts number 0 is wrong: its number is not a whole number from 0 on"),
    ({"parts": {}}, "its parts is not a list, each of which is an object"),
    ({"counts": {"x": "1"}},
     "its counts is not an object, each value of which is a whole number from 0 on"),
    ({"more": 1, "most": 2}, "it has more, most, which Whole lacks"),
])
def test_what_is_wrong_with_an_object_is_said(changed, said):
    assert wrong_as({"parts": [], "counts": {}, **changed}, Whole) == said
