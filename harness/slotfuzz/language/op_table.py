"""The op table read from its source text, for what needs no build: names, lines, sentences.

Which ops a subject lacks only the binary knows, by trying: `server.describe`.
"""

import ast
import re

from slotfuzz.errors import BrokenError
from slotfuzz.paths import ROOT

FOLDER = "harness/engine/language"
STRING, CHARACTER = r'"(?:[^"\\]|\\.)*"', r"'[^']'"
ROW = re.compile(rf"\b[A-Z_]+\(((?:[^()\"']|{STRING}|{CHARACTER})*)\)")
WORD = re.compile(rf"{STRING}|{CHARACTER}|\w+|,")
INCLUDE = re.compile(rf'^#include "({FOLDER}/\w+\.def)"$', re.MULTILINE)
OP_FIELDS = ("name", "operands", "template", "needs", "sentence", "words")


def read() -> dict:
    """The `ops` and `kinds` of BIN --describe, without what depends on a subject."""
    kinds = _rows(f"{FOLDER}/kinds.h")
    for path in sorted((ROOT / FOLDER).glob("kinds_*.h")):
        kinds += _rows(f"{FOLDER}/{path.name}")
    # A row of kinds has a letter, other macros of these headers have none.
    return {"ops": [_op(row) for row in _rows(f"{FOLDER}/ops.def")],
            "kinds": [_kind(row) for row in kinds if row[0][0] == "'"]}


def _op(row: list[str]) -> dict:
    row = row + [""] * (len(row) == len(OP_FIELDS) - 1)
    if len(row) != len(OP_FIELDS):
        raise BrokenError(f"a row of {FOLDER}/ops*.def has {len(row)} fields: {row[0]}")
    op = dict(zip(OP_FIELDS, row))
    return {**op, "operands": op["operands"].split(), "words": op["words"].split()}


def _kind(row: list[str]) -> dict:
    letter, name, text, *count = row
    kind = {"letter": letter[1], "name": name, "prefix": None, "values": []}
    if count:
        return {**kind, "prefix": text, "count": int(count[0])}
    return {**kind, "values": text.split("|"), "count": text.count("|") + 1}


def _rows(name: str) -> list[list[str]]:
    """The rows of a file and, at its end, of those that it includes."""
    text = (ROOT / name).read_text().replace("\\\n", "\n")
    text = re.sub(r"^//.*$", "", text, flags=re.MULTILINE)
    found = [_fields(row[1]) for row in ROW.finditer(text)]
    for included in INCLUDE.findall(text):
        found += _rows(included)
    return found


def _fields(text: str) -> list[str]:
    """The arguments of a macro; string literals side by side are one."""
    fields = [""]
    for word in WORD.findall(text):
        if word == ",":
            fields.append("")
        else:
            fields[-1] += ast.literal_eval(word) if word[0] == '"' else word
    return fields
