"""Reads the op table from its files, for commands that need no build.

Only the binary can tell which ops a subject lacks: `server.describe`. It also checks each row.
"""

import re
import tomllib

from slotfuzz.errors import UserError
from slotfuzz.paths import OPS
from slotfuzz.schema.record import TIERS

# The order of the themes in the table.
THEMES = ("storage", "tensor", "thread", "interpreter", "autograd", "meta")
VARIABLES, VALUES, NAMES = "variables", "values", "names"
FIELDS = ("operands", "template", "needs", "sentence", "words")
DECLARED, MARKS = TIERS[1:], ("rare", "slow", "certain", "timed")
ATTRIBUTE, OF_STORAGE, CHECKS = "sets_attribute", "storage.", "checks"


def read() -> dict:
    """The `ops` and `kinds` of BIN --describe, without fields that depend on a subject."""
    return merged({path.name: path.read_text() for path in sorted(OPS.glob("*.ops"))})


def merged(texts: dict[str, str]) -> dict:
    """The same for TEXTS, which maps file names to texts; rows are in the engine's order."""
    ops: dict[str, list] = {theme: [] for theme in THEMES}
    kinds = []
    for name, text in texts.items():
        try:
            sections = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise UserError(f"{OPS.name}/{name}: {error}") from error
        for section, rows in sections.items():
            for key, row in rows.items() if isinstance(rows, dict) else [(section, rows)]:
                if wrong := _wrong(section, key, row):
                    raise UserError(f"{OPS.name}/{name}:{_line_of(section, key, text)}: {wrong}")
                if section in ops:
                    ops[section].append(_op(section, key, row))
                else:
                    kinds.append(_kind(section, key, row))
    return {"ops": [op for rows in ops.values() for op in rows], "kinds": kinds}


def _wrong(section: str, key: str, row) -> str:
    """An error in ROW, or an empty string."""
    if section == VARIABLES:
        is_kind = isinstance(row, list) and [type(one) for one in row] == [str, str, int]
        return "" if is_kind else f"{key} is not a row of variables: name, prefix and count"
    if section in (VALUES, NAMES):
        is_kind = (isinstance(row, list) and len(row) == 2 and isinstance(row[0], str)
                   and isinstance(row[1], list))
        return _wrong_value(row[1]) if is_kind else f"{key} is not a row of values: name and list"
    if section not in THEMES or not _is_texts(row, len(FIELDS) - 1, len(FIELDS)):
        return (f"{key} is not a row of a section {', '.join(THEMES)}: operands, template,"
                " needs, sentence and perhaps words, all of them texts")
    return _wrong_tiers(key, row[-1]) if len(row) == len(FIELDS) else ""


def _wrong_value(values: list) -> str:
    for value in values:
        if isinstance(value, str):
            continue
        if not _is_texts(value, 2):
            return f"{value} is not a value: a text, or a list of a text and its words"
        if wrong := _wrong_tiers(*value):
            return wrong
    return ""


def _wrong_tiers(name: str, words: str) -> str:
    declared = [word for word in words.split() if word in DECLARED]
    return f"{name} declares two tiers" if len(declared) > 1 else ""


def _is_texts(row, *counts: int) -> bool:
    return (isinstance(row, list) and len(row) in counts
            and all(isinstance(one, str) for one in row))


def _line_of(section: str, key: str, text: str) -> int:
    """The line number of KEY in SECTION, which tomllib does not give."""
    now = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\[(\w+)\]", line):
            now = header[1]
        if now in (section, "") and line.partition("=")[0].strip() == key:
            return number
    return 1


def _op(theme: str, name: str, row: list[str]) -> dict:
    op = dict(zip(FIELDS, [*row, ""]))
    words = op.pop("words").split()
    attribute = _value_of(ATTRIBUTE, words)
    effects = {word.partition("=")[0] for word in words} - {*DECLARED, *MARKS}
    return {"name": name, **op, "operands": op["operands"].split(), "theme": theme,
            "tier": _tier(words),
            **{mark: mark in words for mark in MARKS}, "effects": sorted(effects),
            "attribute": attribute.removeprefix(OF_STORAGE),
            "attribute_of_storage": attribute.startswith(OF_STORAGE),
            "checks_kind": _value_of(CHECKS, words)}


def _value_of(name: str, words: list[str]) -> str:
    """The value of `NAME=value` among WORDS, or an empty string."""
    return next((word.partition("=")[2] for word in words if word.startswith(name + "=")), "")


def _tier(words: list[str]) -> str:
    return next((word for word in words if word in DECLARED), TIERS[0])


def _kind(section: str, key: str, row: list) -> dict:
    kind = {"key": key, "name": row[0], "prefix": None, "values": [], "value_effects": {},
            "value_tiers": {}, "has_names": section == NAMES}
    if section == VARIABLES:
        return {**kind, "prefix": row[1], "count": row[2]}
    words = {value: of_value.split() for value, of_value in (
        (one, "") if isinstance(one, str) else one for one in row[1])}
    effects = {value: sorted({*some} - {*DECLARED}) for value, some in words.items()}
    tiers = {value: _tier(some) for value, some in words.items()}
    return {**kind, "values": list(words), "count": len(words),
            "value_effects": {value: some for value, some in effects.items() if some},
            "value_tiers": {value: tier for value, tier in tiers.items() if tier != TIERS[0]}}
