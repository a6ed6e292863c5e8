"""Finds the targets, protocols and subjects that a change affects, from its changed files.

A binary is affected if one of its sources has changed. A change of the op table affects only the
targets that draw an op whose row, or a kind of whose operands, has changed.
"""

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from slotfuzz.errors import UserError
from slotfuzz.language import op_table
from slotfuzz.language.program import MARKS
from slotfuzz.paths import ROOT
from slotfuzz.subject import catalogue
from slotfuzz.subject.subjects.core import PROTOCOL_FOLDERS, PROTOCOL_WORDS

PROTOCOL_SOURCES = "core/c10/impl/protocol/"
OP_TABLE = re.compile(r"ops/[^/]+\.ops")
BUILD_FILES = ("CMakeLists.txt", "CMakePresets.json")


@dataclass
class Scope:
    """TARGETS to fuzz on SUBJECTS, PROTOCOLS to explore, and the changed FILES that matter."""

    targets: list[str] = field(default_factory=list)
    protocols: list[str] = field(default_factory=list)
    subjects: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to fuzz."""
        return not self.targets and not self.protocols


def of_change(changed: list[str], drawing: Callable[[], list[str]]) -> Scope:
    """The scope of the CHANGED files. DRAWING gives the targets that draw a changed op."""
    targets, protocols, subjects, files = set(), set(), set(), []
    programs = catalogue.fuzzable_targets()
    for name in changed:
        mine = _concerned(name, programs, drawing)
        if mine:
            files.append(name)
            protocols |= mine & set(catalogue.protocol_names())
            targets |= mine & set(programs)
            subjects |= _subjects(name) if mine & set(programs) else set()
    return Scope([name for name in programs if name in targets],
                 [name for name in catalogue.protocol_names() if name in protocols],
                 [name for name in PROTOCOL_FOLDERS if name in subjects], files)


def _concerned(name: str, programs: list[str], drawing: Callable[[], list[str]]) -> set[str]:
    """The targets, of programs and of protocols, that are built from file NAME."""
    protocols = catalogue.protocol_names()
    path = Path(name)
    if name in BUILD_FILES or name.startswith(PROTOCOL_SOURCES):
        return {*programs, *protocols}
    if OP_TABLE.fullmatch(name):
        return set(drawing())
    if name.startswith(("core/", "harness/engine/")):
        return set(programs)
    if name.startswith("harness/interleave/"):
        return set(protocols)
    if path.parent in map(Path, ("targets/programs", "targets/protocols")):
        return {path.stem} & {*programs, *protocols}
    return set()


def _subjects(name: str) -> set[str]:
    """The builds of the core that file NAME is part of.

    The name of a file that only one build has contains the word of its preservation protocol.
    """
    own = {one for one, word in PROTOCOL_WORDS.items()
           if name.startswith("core/") and word in Path(name).name}
    return own or set(PROTOCOL_WORDS)


def changed_files(base: str) -> list[str]:
    """Files in which the working tree differs from revision BASE, including new files."""
    named = git("diff", "--name-only", "-z", base, "--").split("\0")
    new = git("ls-files", "-z", "--others", "--exclude-standard").split("\0")
    return sorted({*named, *new} - {""})


def changed_ops(base: str) -> set[str]:
    """Names of the ops that are new since revision BASE or whose row has changed."""
    texts = {}
    for name in git("ls-tree", "--name-only", base, "ops/").splitlines():
        if OP_TABLE.fullmatch(name):
            texts[name] = git("show", f"{base}:{name}")
    before = _with_kinds(op_table.merged(texts))
    texts = {path.name: path.read_text() for path in sorted((ROOT / "ops").glob("*.ops"))}
    return {name for name, row in _with_kinds(op_table.merged(texts)).items()
            if before.get(name) != row}


def _with_kinds(table: dict) -> dict[str, tuple]:
    """Each op's row, and those of the kinds of its operands."""
    kinds = {kind["key"]: kind for kind in table["kinds"]}
    return {op["name"]: (op, [kinds.get(word.lstrip(MARKS)) for word in op["operands"]])
            for op in table["ops"]}


def git(*words: str) -> str:
    """The output of git in this checkout; UserError with git's message if it fails."""
    result = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True,
                            check=False)
    if result.returncode:
        problem = (result.stderr.strip().splitlines() or ["no message"])[0]
        raise UserError(f"git {words[0]} failed: {problem}")
    return result.stdout


def commit_of(base: str) -> str:
    """The commit that BASE names; UserError if BASE is unknown."""
    try:
        return git("rev-parse", "--verify", "--quiet", f"{base}^{{commit}}").strip()
    except UserError as error:
        raise UserError(f"{base} is not a revision of this repository") from error
