"""Whether JSON that was read has the shape that its reader relies on, and if not, in words where.

A shape is a type, a tuple of types, `[shape]` for a list of that, or `{str: shape}` for an object
whose values are that. A bool is no number, a number is finite and not below 0, and a text can be
written as UTF-8: all else is nothing that the harness writes.
"""

import json

NUMBER = (int, float)
NUMBER_MAX = 2 ** 63
WORDS = {str: "a text", int: "a whole number from 0 on", float: "a number from 0 on",
         bool: "true or false", list: "a list", dict: "an object", type(None): "null"}


def parsed(text: str | bytes):
    """The JSON in TEXT, or ValueError, also where it is nested too deeply to be read."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def wrong_in(record, needed: dict, optional: dict | None = None) -> str:
    """What is wrong with RECORD, which must have the fields NEEDED and may have the OPTIONAL ones.

    An empty string if nothing is.
    """
    if not isinstance(record, dict):
        return f"it is {WORDS[type(record)]}, not {WORDS[dict]}"
    missing = [name for name in needed if name not in record]
    if missing:
        return f"it lacks {', '.join(missing)}"
    for name, shape in {**needed, **(optional or {})}.items():
        if name in record and not _has(record[name], shape):
            return f"its {name} is not {_told(shape)}"
    return ""


def _has(value, shape) -> bool:
    if isinstance(shape, list):
        return isinstance(value, list) and all(_has(one, shape[0]) for one in value)
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(_has(one, shape[str]) for one in value.values())
    kinds = shape if isinstance(shape, tuple) else (shape,)
    if type(value) not in kinds:
        return False
    if type(value) in NUMBER:
        return 0 <= value < NUMBER_MAX  # false for what is no number at all
    return type(value) is not str or _is_unicode(value)


def _is_unicode(text: str) -> bool:
    """Whether TEXT has no half of a surrogate pair, as an escape in JSON may be."""
    return not any("\ud800" <= one <= "\udfff" for one in text)


def _told(shape) -> str:
    if isinstance(shape, list):
        return f"a list, each of which is {_told(shape[0])}"
    if isinstance(shape, dict):
        return f"an object, each value of which is {_told(shape[str])}"
    return WORDS[shape[-1] if isinstance(shape, tuple) else shape]
