"""A case: a folder with the tensors and the lines of a program, and the script that they make."""

import ast
import io
import json
import re
import textwrap
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from slotfuzz.errors import UserError
from slotfuzz.inputs import capture_file, restore, script, variables
from slotfuzz.inputs.capture_file import Capture
from slotfuzz.inputs.defined import HELPERS
from slotfuzz.inputs.restore import Unrestorable
from slotfuzz.inputs.script import Statement
from slotfuzz.inputs.strict_json import DescError
from slotfuzz.schema import case as schema, shape
from slotfuzz.schema.case import CaseRecord

INPUTS, RECORD, SCRIPT = "inputs.capture", "case.json", "script.py"
# Statements that Python takes at the beginning of a file only.
FUTURE = "from __future__ "
IMPORT = "import torch"
# What the expressions of values consist of, and those of holders.
VALUE = (ast.Expression, ast.Constant, ast.UnaryOp, ast.unaryop, ast.BinOp, ast.Add, ast.Sub,
         ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Attribute, ast.Name, ast.Load)
HOLDER = (*VALUE, ast.Call)
MODULES = ("base64", "os", "subprocess", "sys", "zlib")


@dataclass(frozen=True)
class Case:
    """BEFORE and LINES are the statements of RECORD, whose own texts may be those of a larger case.
    """

    record: CaseRecord
    capture: Capture
    before: tuple[Statement, ...]
    lines: tuple[Statement, ...]

    @property
    def bound(self) -> set[str]:
        """The names that have a value when the lines begin."""
        return {*self.capture.names, *self.record.values, *self.record.holders,
                *(name for one in self.before for name in one.binds)}

    @property
    def missing(self) -> dict[str, str]:
        """Variables that the script had and that no case keeps, with types, if a statement reads
        them."""
        bound, found = self.bound, {}
        for one in (*self.before, *self.lines):
            for name in sorted(one.reads - bound):
                if name in self.record.others:
                    found[name] = self.record.others[name]
            bound |= one.binds
        return found

    @property
    def bytes(self) -> int:
        """The bytes of all storages."""
        return sum(map(len, self.capture.data))


def of(record: CaseRecord, capture: Capture) -> Case:
    """The case of a valid RECORD; UserError if its texts are no statements."""
    _check_function(record)
    parts = []
    for name, texts in (("before", record.before), ("lines", record.lines)):
        found = []
        for place, text in enumerate(texts):
            within = record.function if name == "lines" else ""
            script.check_runs(text, within, f"{RECORD}, /{name}/{place}")
            found += script.statements(text)
        parts.append(tuple(found))
    _check_values(record, capture)
    return Case(record, capture, *parts)


def _check_function(record: CaseRecord) -> None:
    if record.function and (words := variables.wrong(record.function)):
        raise UserError(f"{RECORD}, /function: it {words}")


def _check_values(record: CaseRecord, capture: Capture) -> None:
    """UserError for what is no value that a capture writes, or has the name of another one."""
    known = set(capture.names)
    for field, kinds, names in (("values", VALUE, {"torch"}),
                                ("holders", HOLDER, {"torch", "_storage", *capture.names})):
        for name, text in getattr(record, field).items():
            place = f"{RECORD}, /{field}/{name}"
            if words := variables.wrong(name):
                raise UserError(f"{place}: the name {words}")
            if name in known:
                raise UserError(f"{place}: another variable has this name")
            known.add(name)
            nodes = list(ast.walk(script.parsed(text, place, "eval")))
            if not all(isinstance(one, kinds) for one in nodes) or any(
                    one.id not in names for one in nodes if isinstance(one, ast.Name)) or any(
                    not ast.unparse(one.func).endswith("storage")
                    for one in nodes if isinstance(one, ast.Call)):
                raise UserError(f"{place}: it is no value of a variable")
    for place, name in enumerate(record.parts):
        if name not in capture.names:
            raise UserError(f"{RECORD}, /parts/{place}: there is no tensor `{name}`")


def files(case: Case) -> dict[str, bytes]:
    """The files of a folder that holds CASE, by name."""
    inputs = io.BytesIO()
    capture_file.write(inputs, case.capture)
    record = replace(case.record, before=tuple(one.text for one in case.before),
                     lines=tuple(one.text for one in case.lines))
    return {INPUTS: inputs.getvalue(),
            RECORD: (json.dumps(asdict(record), indent=2) + "\n").encode()}


def read(folder: Path) -> Case:
    """The case in FOLDER; UserError says which file or field is wrong."""
    if not folder.is_dir():
        raise UserError(f"no such folder: {folder}")
    for name in (RECORD, INPUTS):
        if not (folder / name).is_file():
            raise UserError(f"{folder} is no case: it lacks {name}; ./slotfuzz capture makes one")
    try:
        value = shape.parsed((folder / RECORD).read_bytes())
    except ValueError as error:
        raise UserError(f"{folder / RECORD} is no JSON: {error}") from error
    if isinstance(value, dict) and isinstance(value.get("version"), int) and (
            value["version"] > schema.VERSION):
        raise UserError(f'{folder / RECORD}: "/version": version {value["version"]} is newer than'
                        f" this reader, which knows {schema.VERSION}")
    if wrong := shape.wrong_as(value, CaseRecord):
        raise UserError(f"{folder / RECORD}: {wrong}")
    try:
        capture = capture_file.read((folder / INPUTS).read_bytes())
    except DescError as error:
        raise UserError(f"{folder / INPUTS}: {error}") from error
    return of(shape.made(CaseRecord, value), capture)


def text(case: Case, bytes_file: str, title: str, check: str = "") -> str:
    """A script that makes the tensors of CASE and runs its lines.

    CHECK are lines for `--check`, or nothing. BYTES_FILE is an expression for the path from which
    long bytes are read.
    """
    read_names = frozenset().union(*(one.reads for one in (*case.before, *case.lines)))
    given = {name: value for name, value in {**case.record.holders, **case.record.values}.items()
             if name in read_names}
    _check_hidden(case, given)
    more, late = ([f"{name} = {given[name]}" for name in given
                   if (name in variables.MENTIONED) == is_late] for is_late in (False, True))
    parts = [name for name in case.record.parts if name in case.capture.names]
    late += [f"del {', '.join(parts)}"] * bool(parts)
    inputs = restore.lines(case.capture, bytes_file, more, _names(case), late)
    _check_overwritten(case, inputs)
    before = [one.text for one in case.before]
    first = [text for text in before if text.startswith(FUTURE)]
    body = [*(text for text in before if text not in first), "", *inputs, "", *_rest(case)]
    words = "\n".join([*inputs, check])
    modules = [name for name in MODULES if f"{name}." in words]
    parts = [*(f"# {one}" for one in title.splitlines()), *first]
    parts += [f"import {', '.join(modules)}"] * bool(modules)
    parts += [IMPORT] * (IMPORT not in {one.text for one in case.before})
    parts += ["", check.rstrip("\n"), ""] * bool(check)
    return "\n".join([*parts, *body]) + "\n"


def _names(case: Case) -> set[str]:
    """All names of the user: whatever the script makes, it must not bind one of them."""
    record = case.record
    return {*case.capture.names, *record.values, *record.holders, *record.others}.union(
        *(one.names for one in (*case.before, *case.lines)))


def _check_hidden(case: Case, given: dict[str, str]) -> None:
    """Unrestorable if a value needs what a variable of the user hides: torch, or a helper."""
    hidden = _names(case) & HELPERS.keys()
    hidden |= variables.MENTIONED & (case.capture.names.keys() | given.keys())
    for name, value in given.items():
        for other in sorted(hidden & variables.read_by(value)):
            raise Unrestorable(f"the variable `{name}` needs `{other}`, whose name another variable"
                               " of the script has")


def _check_overwritten(case: Case, inputs: list[str]) -> None:
    """Unrestorable if an import, a function or a class hides what the lines INPUTS mention."""
    needed = [name for name in sorted(variables.MENTIONED)
              if any(re.search(rf"\b{name}\b", line) for line in inputs)]
    for one in case.before:
        for name in needed:
            if script.hides(one.text, name):
                raise Unrestorable(f"the script binds `{name}`, which the lines that make its"
                                   " tensors need")


def _rest(case: Case) -> list[str]:
    lines = [one.text for one in case.lines]
    if not case.record.function:
        return lines
    names = ", ".join(case.capture.names)
    body = textwrap.indent("\n".join(lines) or "pass", script.INDENT)
    return [f"def {case.record.function}({names}):", body, "", f"{case.record.function}({names})"]


def title(case: Case) -> str:
    """The first words of a script, one comment line each."""
    record = case.record
    words = [f"{record.script} from line {record.line} on, with its tensors; torch {record.torch}"]
    return "\n".join(words + [f"not kept: {name}, a {kind}"
                              for name, kind in case.missing.items()])
