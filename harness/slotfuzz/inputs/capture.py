"""Captures: runs a script in the user's interpreter up to a line, and writes a case."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.errors import BrokenError, MachineError, UserError
from slotfuzz.evidence import signature
from slotfuzz.inputs import case as cases, core_reader, document as documents, script
from slotfuzz.inputs.capture_file import Capture
from slotfuzz.inputs.case import Case
from slotfuzz.inputs.document import Document
from slotfuzz.inputs.strict_json import DescError
from slotfuzz.paths import ROOT, shown
from slotfuzz.schema import case as schema, meta_fields
from slotfuzz.subject import interpreter, rootfs

DEFAULT_PYTHONS = ("python3", interpreter.SYSTEM_PYTHON)
HAS_TORCH = "import importlib.util as util; print(bool(util.find_spec('torch')))"
OBSERVER = Path(__file__).parent / "observer"
UNWRITABLE_CODE = 3
STDERR = 2  # what the script prints is not the result
TREE_MARK = ".slotfuzz-bootstrapped"


@dataclass(frozen=True)
class Place:
    """An interpreter that can import torch, in a Debian TREE or in the system."""

    python: str
    tree: Path | None = None

    @property
    def command(self) -> list[str]:
        """The words that start it."""
        return [*rootfs.entering(self.tree), self.python]


def place_of(python: str | None, tree: Path | None) -> Place:
    """The interpreter that --python and --rootfs name, or else one that has torch.

    UserError if it lacks torch.
    """
    if python and not tree:
        tree = _tree_around(Path(python))
        python = f"/{Path(python).absolute().relative_to(tree)}" if tree else python
    if tree:
        name = python or interpreter.SYSTEM_PYTHON
        if rootfs.which(tree, Path(name).name) != name:
            raise UserError(f"--rootfs {tree} has no {name}; ci/torch_rootfs.sh installs it")
        names = [name]
    else:
        if python and not shutil.which(python):
            raise UserError(f"--python {python}: no such program")
        names = [python] if python else [one for one in DEFAULT_PYTHONS if shutil.which(one)]
    for name in names:
        answer = interpreter.ask(name, tree, HAS_TORCH, interpreter.NO_PYTHON,
                                 user_environment()).strip()
        if answer == "True":
            return Place(shutil.which(name) or name if not tree else name, tree)
    raise UserError(f"{' and '.join(names)} cannot import torch; --python names an interpreter that"
                    " can, --rootfs a tree made by ci/torch_rootfs.sh")


def user_environment() -> dict[str, str]:
    """The user's environment, without the folder that our launcher adds to the path of imports."""
    kept = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep)
            if one != str(ROOT / "harness")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, kept))}


def _tree_around(python: Path) -> Path | None:
    """The tree of ci/torch_rootfs.sh that PYTHON is in: outside of it, it finds no libraries."""
    trees = [one for one in python.absolute().parents if (one / TREE_MARK).exists()]
    return rootfs.check(trees[0]) if trees else None


def capture(path: Path, line: int, place: Place, folder: Path) -> Case:
    """Runs the script PATH in PLACE up to LINE; fills FOLDER, which is empty, with files of a case.
    """
    source = script.read(path)
    rest = script.rest_from(source, line, str(path))
    answer = _observed(path, line, place, folder)
    found = Capture(_document(answer), _data(answer, folder), answer["names"],
                    answer["grad_mode"])
    record = schema.CaseRecord(
        schema.VERSION, path.name, line, answer["torch"], place.python, (),
        str(place.tree or ""), function=rest.function, values=answer["values"],
        holders=answer["holders"], parts=tuple(answer["parts"]), others=answer["others"])
    case = Case(record, found, rest.before, rest.lines)
    (folder / "bytes").unlink()
    (folder / "answer.json").unlink()
    for name, content in cases.files(case).items():
        (folder / name).write_bytes(content)
    (folder / cases.SCRIPT).write_text(source)
    return case


def _observed(path: Path, line: int, place: Place, folder: Path) -> dict:
    command = [*place.command, str(OBSERVER), str(path), str(line), str(folder)]
    ended = subprocess.run(command, stdout=STDERR, env=user_environment(), check=False)
    answer_path = folder / "answer.json"
    if ended.returncode == UNWRITABLE_CODE and not answer_path.read_bytes():
        raise MachineError(f"cannot write to {shown(folder.parent)}: is the disk full?")
    if not answer_path.exists():
        raise UserError(f"{path} {_ending(ended.returncode)} before line {line} was reached;"
                        " nothing is captured")
    answer = json.loads(answer_path.read_text())
    if "unwritable" in answer:
        raise MachineError(f"cannot write the bytes of the tensors: {answer['unwritable']}")
    if "refused" in answer:
        raise UserError(f"line {line} of {path}: {answer['refused']}; nothing is captured")
    if not answer["names"]:
        raise UserError(f"no tensor is in scope at line {line} of {path}; choose a later line")
    return answer


def _ending(code: int) -> str:
    if code < 0:
        return f"died of {signature.signal_name(-code)}"
    return "ended" if code == 0 else f"ended with exit code {code}"


def _document(answer: dict) -> Document:
    """The rows of the answer, checked like any other text."""
    rows = {table: tuple(meta_fields.row_of(table, **row) for row in answer[table])
            for table in documents.TABLES}
    document = Document(rows["storages"], rows["tensors"], tuple(answer["roots"]))
    text = documents.dumps(document)
    try:
        found = documents.loads(text.encode())
    except DescError as error:
        raise UserError(f"no description can say this: {error}") from error
    if documents.ordered(document)[1] != list(range(len(document.storages))):
        raise BrokenError("the storages came in another order than that of first visits")
    core_reader.check(text)
    return found


def _data(answer: dict, folder: Path) -> tuple[bytes, ...]:
    """The bytes of each storage, in the order of the canonical document."""
    found, content = [], (folder / "bytes").read_bytes()
    for row in answer["storages"]:
        found.append(content[:row["nbytes"]])
        content = content[row["nbytes"]:]
    if content:
        raise BrokenError(f"{len(content)} bytes belong to no storage")
    return tuple(found)
