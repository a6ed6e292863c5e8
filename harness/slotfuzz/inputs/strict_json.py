"""JSON from anywhere: every error names the place by its JSON pointer, and nothing is guessed.

The parser of Python takes doubled names, floats, NaN and integers of any length; this one does not.
"""

import json

from slotfuzz.errors import UserError

WORDS_MAX = 40
INTEGER_MAX = 2 ** 63 - 1


class DescError(UserError):
    """A text is no description. POINTER is that of the field that is wrong."""

    def __init__(self, pointer: str, message: str):
        super().__init__(f'"{pointer}": {message}')
        self.pointer, self.message = pointer, message


class Members(list):
    """The names and values of an object, doubled names included."""


class NotInteger(str):
    """A number that is no integer of 64 bits, as it was written."""


def parse(text: bytes):
    """The value that TEXT stands for, with objects as Members; DescError if it is no JSON."""
    if text.startswith(b"\xef\xbb\xbf"):
        raise DescError("", "the text begins with a byte order mark")
    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=Members, parse_int=_integer,
                          parse_float=NotInteger, parse_constant=NotInteger)
    except RecursionError as error:
        raise DescError("", "it is nested too deeply") from error
    except ValueError as error:
        raise DescError("", f"it is no JSON: {error}") from error


def _integer(text: str) -> int | NotInteger:
    value = int(text) if len(text) < 20 else INTEGER_MAX + 1
    return value if -INTEGER_MAX - 1 <= value <= INTEGER_MAX else NotInteger(text)


def members(value, pointer: str, known, needed) -> dict:
    """VALUE as an object with names of KNOWN, each there once, and all that are NEEDED."""
    if not isinstance(value, Members):
        raise DescError(pointer, f"expected an object, got {shown(value)}")
    found: dict = {}
    for name, one in value:
        if name not in known:
            raise DescError(pointer, f'there is no field "{name[:WORDS_MAX]}"')
        if name in found:
            raise DescError(f"{pointer}/{name}", "the field is there twice")
        found[name] = one
    for name in needed:
        if name not in found:
            raise DescError(pointer, f'the field "{name}" is missing')
    return found


def items(value, pointer: str) -> list:
    """VALUE as a list."""
    if isinstance(value, Members) or not isinstance(value, list):
        raise DescError(pointer, f"expected a list, got {shown(value)}")
    return value


def integer(value, pointer: str, lowest: int = 0, highest: int = INTEGER_MAX) -> int:
    """VALUE as an integer from LOWEST to HIGHEST."""
    if type(value) is not int or not lowest <= value <= highest:
        raise DescError(pointer, f"expected an integer from {lowest} to {highest},"
                                 f" got {shown(value)}")
    return value


def flag(value, pointer: str) -> bool:
    """VALUE as true or false."""
    if not isinstance(value, bool):
        raise DescError(pointer, f"expected true or false, got {shown(value)}")
    return value


def word(value, pointer: str, known=None) -> str:
    """VALUE as a text, one of KNOWN if these are given."""
    if not isinstance(value, str) or isinstance(value, NotInteger):
        raise DescError(pointer, f"expected a text, got {shown(value)}")
    if known is not None and value not in known:
        names = ", ".join(f'"{one}"' for one in known)
        raise DescError(pointer, f"expected one of {names}, got {shown(value)}")
    return value


def version(value, pointer: str, newest: int) -> None:
    """VALUE must be a version up to NEWEST; the first one is 1."""
    number = integer(value, pointer)
    if number > newest:
        raise DescError(pointer, f"version {number} is newer than this reader, which knows"
                                 f" {newest}")
    if number < 1:
        raise DescError(pointer, f"there is no version {number}")


def shown(value) -> str:
    """VALUE in words for a message, shortened."""
    if isinstance(value, Members):
        return "an object"
    if isinstance(value, list):
        return "a list"
    text = value if isinstance(value, NotInteger) else json.dumps(value)
    return text if len(text) <= WORDS_MAX else text[:WORDS_MAX] + ".."
