"""Writes mutated files, and drops the edits that do not compile.

The compiler checks each file; the mutants that it blames are dropped until there is no error.
"""

import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from slotfuzz.errors import BrokenError
from slotfuzz.mutation import rewrite
from slotfuzz.mutation.site import Edit
from slotfuzz.mutation.source import ENCODING
from slotfuzz.paths import ROOT, build_root
from slotfuzz.subject import build

PRESET = "mutation"
ADDED = {"chosen.h": "core/c10/chosen.h", "chosen.cc": "core/c10/chosen.cc"}
INCLUDE = f'#include "{ADDED["chosen.h"]}"\n#line 1\n'
# Every round drops at least one edit for each file that has an error.
ROUNDS_MAX = 12
CHECKS_AT_ONCE = 2
ERROR = re.compile(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?P<column>\d+): "
                   r"(?P<kind>fatal error|error|note): (?P<words>.*)$", re.MULTILINE)


def folder() -> Path:
    """The copy of core/ with all mutants."""
    return build_root() / PRESET / "sources"


class Flags:
    """The compiler's flags for each file of the core."""

    def __init__(self):
        commands = json.loads((build.build(PRESET, []) / "compile_commands.json").read_text())
        self._commands = {str(Path(one["file"]).relative_to(folder())): one["command"].split()
                          for one in commands if one["file"].startswith(f"{folder()}/")}

    def of(self, name: str, root: Path | None = None) -> list[str]:
        """The flags for NAME, whose includes of the core come from ROOT or are mutated."""
        command = self._commands.get(name) or self._commands["core/python/module/c10_module.cc"]
        kept = [word for before, word in zip(command[1:], command[2:])
                if before == "-isystem" or word == "-isystem"
                or word.startswith(("-I", "-D", "-std=", "-f"))
                and not word.startswith(("-fsanitize", "-fno-sanitize"))]
        return ([f"-I{root}"] if root else []) + kept


def write_all(by_file: dict[str, dict[int, Edit]], checked: set[str], flags: Flags) -> set[int]:
    """Writes all files of BY_FILE; returns the mutants in the files CHECKED that do not compile."""
    dropped: set[int] = set()
    written = {name: _rewrite(name, edits) for name, edits in by_file.items()}
    # Headers come first: an error in one is an error in many files.
    for names in ([name for name in sorted(checked) if name.endswith(".h")],
                  [name for name in sorted(checked) if name.endswith(".cc")]):
        for _ in range(ROUNDS_MAX):
            errors = _check(names, flags)
            if not errors:
                break
            # What had no error has none with fewer mutants.
            names = list(errors)
            blamed = set().union(*(_blamed(places, written) for of_file in errors.values()
                                   for places in of_file))
            # One error may be the consequence of another.
            if not blamed:
                raise BrokenError(f"no mutant is to blame for the errors {errors}")
            dropped |= blamed
            for name, edits in by_file.items():
                if blamed & set(edits):
                    written[name] = _rewrite(name, {number: edit for number, edit in edits.items()
                                                    if number not in dropped})
        else:
            raise BrokenError(f"after {ROUNDS_MAX} rounds there are errors: {errors}")
    return dropped


def _rewrite(name: str, edits: dict[int, Edit]) -> rewrite.Written:
    written = rewrite.write((ROOT / name).read_text(ENCODING), edits)
    write(folder() / name, INCLUDE + written.text)
    return written


def write(path: Path, text: str) -> None:
    """Writes TEXT unless it is there already, so that ninja compiles nothing anew."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(ENCODING) != text:
        path.write_text(text, ENCODING)


def _check(names: list[str], flags: Flags) -> dict[str, list[list[tuple[str, int, int]]]]:
    """By file, for each error of the compiler the places that it names in mutated files."""
    compiler = build.compiler()

    def check(name: str) -> list[list[tuple[str, int, int]]]:
        command = [compiler, "-x", "c++", *flags.of(name), "-w", "-Wno-narrowing",
                   "-fsyntax-only", "-ferror-limit=0", "-fno-caret-diagnostics",
                   "-ftemplate-backtrace-limit=0", str(folder() / name)]
        errors = []
        for match in ERROR.finditer(subprocess.run(
                command, capture_output=True, text=True, check=False, cwd=folder()).stderr):
            if match["kind"] != "note":
                errors.append([])
            if (path := Path(match["file"])).is_relative_to(folder()):
                errors[-1].append((str(path.relative_to(folder())), int(match["line"]),
                                   int(match["column"])))
        return errors
    with ThreadPoolExecutor(CHECKS_AT_ONCE) as pool:
        return {name: errors for name, errors in zip(names, pool.map(check, names)) if errors}


def _blamed(places: list[tuple[str, int, int]], written: dict[str, rewrite.Written]) -> set[int]:
    """The mutants that the first place of an error, or of its notes, leads to; maybe none."""
    for name, line, column in places:
        if name in written:
            text = written[name].text
            before = sum(len(one) + 1 for one in text.split("\n")[:line - 1])
            if found := written[name].at(before + column - 1):
                return found
    return set()
