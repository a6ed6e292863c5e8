"""The rules of structure as tests: which room may use which, and how large a folder is."""

import ast
import re
from pathlib import Path

import pytest

from tests.test_style import FILES, SOURCE_FILES, text_of

# A file may include what is in its own room or in a room above it.
ROOMS = {
    "harness/engine": ("language", "process", "generate", "run", "owners", "judge", "session",
                       "planted", "serve"),
    "harness/interleave": ("fibre", "model", "explore", "compiled", "scenarios", "command"),
    "core/python": ("runtime", "preserve", "sizes", "storage", "tensor", "autograd", "function",
                    "meta", "module"),
    "harness/slotfuzz": ("errors", "paths", "console", "progress", "schema", "evidence", "language",
                         "reduce", "subject", "engine", "finding", "triage", "inputs", "hunt",
                         "interleave", "mutation", "measure", "report", "ci", "options"),
}
# What every room of a folder may use, and what may use every room.
BELOW = {"harness/engine": ("check.h", "python.h"), "harness/slotfuzz": ("__init__.py",)}
ABOVE = {"harness/slotfuzz": ("cli.py", "stateful.py", "pytest_plugin.py", "__main__.py",
                              "commands", "scripts")}
ROOM_FILES_MAX = 20
# What only the room of subjects may ask: which subject it is, instead of what that can do.
SUBJECT_NAMES = re.compile(
    r"""([=!]=\s*["'](core|torch|c10|slotcore)\b|["'](core|torch|c10|slotcore)["']\s*[=!]=
    |\bin\s*\(["'](core|torch|c10)\b|startswith\(["']mutant|removeprefix\(["']mutant
    |(if|not|and|or|bool\()\s*[\w.]*subject\.(release|mutant|module)\b|subject\.sanitizer\s*[=!]=
    |subject\.name\s*[=!]=)""", re.VERBOSE)
# A folder of data has a file for each thing that it lists.
DATA_FOLDERS = ("mutants/", "corpus/", "repro/", "docs/decisions/", "ci/")


def room_of(name: str) -> tuple[str, str] | None:
    """The folder of ROOMS that a file is in, and which room; None outside of them."""
    folder = next((one for one in ROOMS if name.startswith(one + "/")), None)
    return folder and (folder, name.removeprefix(folder + "/").partition("/")[0])


def used_files(name: str, text: str) -> list[str]:
    """The files, or folders, of this project that a source includes or imports."""
    if not name.endswith(".py"):
        return re.findall(r'#include "([\w/]+\.\w+)"', text)
    modules = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("slotfuzz"):
            modules |= {f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.Import):
            modules |= {one.name for one in node.names if one.name.startswith("slotfuzz.")}
    return sorted(f"harness/{module.replace('.', '/')}" for module in modules)


def wrong_uses(name: str, text: str) -> list[str]:
    """What a file includes or imports of rooms that come after its own."""
    if (place := room_of(name)) is None or place[1] in ABOVE.get(place[0], ()):
        return []
    folder, rooms = place[0], ROOMS[place[0]]
    order = {room: number for number, room in enumerate(rooms)}
    order |= dict.fromkeys(BELOW.get(folder, ()), -1)
    mine = order.get(place[1], order.get(place[1].removesuffix(".py")))
    wrong = []
    for used in used_files(name, text):
        other = room_of(used)
        if other and other[0] == folder and (
                mine is None or order.get(other[1], len(order)) > mine):
            wrong.append(used)
    return wrong


def test_rooms_use_only_earlier_rooms():
    used = {name: used_files(name, text_of(name)) for name in SOURCE_FILES
            if name.endswith((".py", ".cc", ".h")) and room_of(name)}
    assert sum(map(len, used.values())) > 500
    assert {name: wrong for name in used if (wrong := wrong_uses(name, text_of(name)))} == {}


@pytest.mark.parametrize("name, text, wrong", [
    ("harness/engine/language/program.cc", '#include "harness/engine/judge/judge.h"',
     ["harness/engine/judge/judge.h"]),
    ("harness/engine/judge/checks.cc", '#include "harness/engine/language/program.h"', []),
    ("harness/engine/attic/new.cc", '#include "harness/engine/language/program.h"',
     ["harness/engine/language/program.h"]),
    ("harness/slotfuzz/evidence/report.py", "from slotfuzz.hunt import hunt",
     ["harness/slotfuzz/hunt/hunt"]),
    ("harness/slotfuzz/evidence/report.py", "from slotfuzz import options",
     ["harness/slotfuzz/options"]),
    ("harness/slotfuzz/hunt/hunt.py", "from slotfuzz.evidence import report", []),
    ("harness/slotfuzz/reduce/minimize.py", "from slotfuzz.engine.server import Server",
     ["harness/slotfuzz/engine/server/Server"]),
    ("harness/slotfuzz/reduce/minimize.py", "from slotfuzz.subject import build",
     ["harness/slotfuzz/subject/build"]),
    ("harness/slotfuzz/new.py", "from slotfuzz.evidence import report",
     ["harness/slotfuzz/evidence/report"]),
    ("harness/slotfuzz/cli.py", "from slotfuzz import options", []),
])
def test_a_wrong_use_is_seen(name, text, wrong):
    assert wrong_uses(name, text) == wrong


def test_subjects_are_asked_for_capabilities_and_not_for_names():
    asking = [name for name in SOURCE_FILES if name.endswith(".py")
              and name.startswith(("harness/slotfuzz/", "bench/"))
              and not name.startswith("harness/slotfuzz/subject/")]
    assert len(asking) > 80
    assert [f"{name}: {match[0]}" for name in asking
            for match in SUBJECT_NAMES.finditer(text_of(name))] == []


@pytest.mark.parametrize("text", [
    'if name == "torch":', "if 'core' != name:", 'if name.startswith("mutant:"):',
    "if self.subject.release and x:", "not subject.mutant", 'subject.sanitizer == "none"',
    'if name in ("core", "torch"):', "if server.subject.name == name:",
])
def test_a_question_for_a_name_is_seen(text):
    assert SUBJECT_NAMES.search(text)


def test_the_design_lists_the_rooms_as_they_are():
    text = text_of("docs/design.md")
    for folder, rooms in ROOMS.items():
        assert re.search(rf"^ +{folder}: +{' → '.join(rooms)}$", text, re.MULTILINE), folder
        made = {Path(name).relative_to(folder).parts[0].removesuffix(".py")
                for name in SOURCE_FILES if name.startswith(folder + "/")}
        others = {word.removesuffix(".py") for word in (*BELOW.get(folder, ()),
                                                        *ABOVE.get(folder, ()))}
        assert made - others - {"check.h", "python.h", "prelude"} == set(rooms), folder


def test_rooms_are_small():
    counts: dict[str, int] = {}
    for name in FILES:
        folder = str(Path(name).parent) + "/"
        if not folder.startswith(DATA_FOLDERS):
            counts[folder] = counts.get(folder, 0) + 1
    assert len(counts) > 40
    assert {folder: count for folder, count in counts.items() if count > ROOM_FILES_MAX} == {}
