"""Checks that JSON has the shape that its reader needs, and says in words where it does not.

A shape is a type, a tuple of types, `[shape]` for a list of that, `frozenset([type])` for a list
whose order does not matter, `{str: shape}` for an object with such values, or a dataclass for an
object with its fields. A bool is not a number. A number is finite and not below 0. A text can be
encoded as UTF-8. The harness writes no other values.
"""

import dataclasses
import functools
import json
import types
import typing

NUMBER = (int, float)
NUMBER_MAX = 2 ** 63
WORDS = {str: "a text", int: "a whole number from 0 on", float: "a number from 0 on",
         bool: "true or false", list: "a list", dict: "an object", type(None): "null"}


def parsed(text: str | bytes):
    """The JSON in TEXT; ValueError if it is invalid or nested too deeply for the parser."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def wrong_in(record, needed: dict, optional: dict | None = None) -> str:
    """An error in RECORD, which must have the fields NEEDED and may have the OPTIONAL ones.

    An empty string if RECORD is valid.
    """
    if not isinstance(record, dict):
        return f"it is {WORDS[type(record)]}, not {WORDS[dict]}"
    missing = [name for name in needed if name not in record]
    if missing:
        return f"it lacks {', '.join(missing)}"
    for name, shape in {**needed, **(optional or {})}.items():
        if name in record and (wrong := _wrong(record[name], shape)):
            return f"its {name} {wrong}"
    return ""


def wrong_as(record, schema: type) -> str:
    """An error in RECORD as an object of the dataclass SCHEMA; it must have no other fields.

    A field with a default may be missing. An empty string if RECORD is valid.
    """
    needed, optional = fields_of(schema)
    if wrong := wrong_in(record, needed, optional):
        return wrong
    unknown = [name for name in record if name not in needed and name not in optional]
    return f"it has {', '.join(unknown)}, which {schema.__name__} lacks" if unknown else ""


def made(schema: type, record: dict):
    """The valid RECORD as an object of the dataclass SCHEMA, with its lists as tuples or sets."""
    parts = {name: _made(shape, record[name]) for name, shape in _parts(schema).items()
             if name in record}
    return schema(**{**record, **parts} if parts else record)


@functools.cache
def fields_of(schema: type) -> tuple[dict, dict]:
    """The shapes of the fields of the dataclass SCHEMA: those without and those with a default.

    A field whose default is None may be missing, but is not null.
    """
    needed, optional = {}, {}
    shapes = _shapes(schema)
    for field in dataclasses.fields(schema):
        is_needed = (field.default is dataclasses.MISSING
                     and field.default_factory is dataclasses.MISSING)
        shape = shapes[field.name]
        if field.default is None and isinstance(shape, tuple):
            shape = tuple(one for one in shape if one is not types.NoneType)
        (needed if is_needed else optional)[field.name] = shape
    return needed, optional


@functools.cache
def _parts(schema: type) -> dict:
    """The shapes of the fields that hold more than one value."""
    return {name: shape for name, shape in _shapes(schema).items()
            if isinstance(shape, (list, frozenset)) or dataclasses.is_dataclass(shape)}


@functools.cache
def _shapes(schema: type) -> dict:
    hints = typing.get_type_hints(schema)
    return {field.name: _of_annotation(hints[field.name]) for field in dataclasses.fields(schema)}


def _of_annotation(hint):
    """The shape for a field's annotation: `int | None` is a tuple, `tuple[str, ...]` a list."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        return [_of_annotation(arguments[0])]
    if origin is frozenset:
        return frozenset([_of_annotation(arguments[0])])
    if origin is dict:
        return {str: _of_annotation(arguments[1])}
    return arguments if origin is types.UnionType else hint


def _made(shape, value):
    if dataclasses.is_dataclass(shape):
        return made(shape, value)
    if isinstance(shape, frozenset):
        return frozenset(value)
    (part,) = shape
    has_parts = isinstance(part, list) or dataclasses.is_dataclass(part)
    return tuple(_made(part, one) for one in value) if has_parts else tuple(value)


def _wrong(value, shape) -> str:
    """An error in VALUE, worded to follow its field's name; an empty string if VALUE is valid."""
    if dataclasses.is_dataclass(shape):
        wrong = wrong_as(value, shape)
        return wrong and f"is wrong: {wrong}"
    if isinstance(shape, list) and isinstance(value, list) and dataclasses.is_dataclass(shape[0]):
        return next((f"number {number} is wrong: {wrong}" for number, one in enumerate(value)
                     if (wrong := wrong_as(one, shape[0]))), "")
    return "" if _has(value, shape) else f"is not {_in_words(shape)}"


def _has(value, shape) -> bool:
    if isinstance(shape, (list, frozenset)):
        (part,) = shape
        return isinstance(value, list) and all(_has(one, part) for one in value)
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(_has(one, shape[str]) for one in value.values())
    kinds = shape if isinstance(shape, tuple) else (shape,)
    if type(value) not in kinds:
        return False
    if type(value) in NUMBER:
        return 0 <= value < NUMBER_MAX  # false for NaN
    return type(value) is not str or _is_unicode(value)


def _is_unicode(text: str) -> bool:
    """Whether TEXT has no lone surrogate, which an escape in JSON can produce."""
    return not any("\ud800" <= one <= "\udfff" for one in text)


def _in_words(shape) -> str:
    if isinstance(shape, (list, frozenset)):
        (part,) = shape
        return f"a list, each of which is {_in_words(part)}"
    if isinstance(shape, dict):
        return f"an object, each value of which is {_in_words(shape[str])}"
    if dataclasses.is_dataclass(shape):
        return WORDS[dict]
    return WORDS[shape[-1] if isinstance(shape, tuple) else shape]
