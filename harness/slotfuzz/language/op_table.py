"""Reads the op table from its files, for commands that need no build.

Only the binary can tell which ops a subject lacks: `server.describe`. It also checks each row.
"""

import tomllib

from slotfuzz.errors import UserError
from slotfuzz.paths import OPS

# The order of the themes in the table.
THEMES = ("storage", "tensor", "thread", "interpreter")
VARIABLES, VALUES, NAMES = "variables", "values", "names"
FIELDS = ("operands", "template", "needs", "sentence", "words")
TIERS, MARKS = ("underscore", "odd"), ("rare", "slow")
ATTRIBUTE, OF_STORAGE = "sets_attribute", "storage."


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
                if section in (VARIABLES, VALUES, NAMES):
                    kinds.append(_kind(section, key, row))
                elif section in ops and _is_row(row):
                    ops[section].append(_op(section, key, row))
                else:
                    raise UserError(f"{OPS.name}/{name}:{_line_of(key, text)}: {key} is not a row"
                                    f" of a section {', '.join(THEMES)}: operands, template,"
                                    " needs, sentence and perhaps words, all of them texts")
    return {"ops": [op for rows in ops.values() for op in rows], "kinds": kinds}


def _is_row(row) -> bool:
    return (isinstance(row, list) and len(row) in (len(FIELDS) - 1, len(FIELDS))
            and all(isinstance(one, str) for one in row))


def _line_of(key: str, text: str) -> int:
    """The line number of KEY, which tomllib does not give."""
    lines = text.splitlines()
    return next((number for number, line in enumerate(lines, 1)
                 if line.partition("=")[0].strip() == key), 1)


def _op(theme: str, name: str, row: list[str]) -> dict:
    op = dict(zip(FIELDS, [*row, ""]))
    words = op.pop("words").split()
    attribute = next((word.partition("=")[2] for word in words
                      if word.startswith(ATTRIBUTE + "=")), "")
    effects = {word.partition("=")[0] for word in words} - {*TIERS, *MARKS}
    return {"name": name, **op, "operands": op["operands"].split(), "theme": theme,
            "tier": next((word for word in words if word in TIERS), "public"),
            **{mark: mark in words for mark in MARKS}, "effects": sorted(effects),
            "attribute": attribute.removeprefix(OF_STORAGE),
            "attribute_of_storage": attribute.startswith(OF_STORAGE)}


def _kind(section: str, letter: str, row: list) -> dict:
    kind = {"letter": letter, "name": row[0], "prefix": None, "values": [], "value_effects": {},
            "has_names": section == NAMES}
    if section == VARIABLES:
        return {**kind, "prefix": row[1], "count": row[2]}
    pairs = [(one, "") if isinstance(one, str) else tuple(one) for one in row[1]]
    return {**kind, "values": [value for value, _ in pairs], "count": len(pairs),
            "value_effects": {value: sorted(words.split()) for value, words in pairs if words}}
