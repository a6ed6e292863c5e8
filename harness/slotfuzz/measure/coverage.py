"""Measures the code of the core that the corpora reach, with the coverage build.

Each target runs its seeds and its default corpus on both builds of the core; the targets of
protocols run their schedules. llvm-cov writes pages, and this lists the code that was not reached.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from slotfuzz.engine.fuzzer import INPUT_BYTES_MAX
from slotfuzz.errors import BrokenError, MachineError, UserError
from slotfuzz.hunt import workplace
from slotfuzz.paths import ROOT, build_root, shown
from slotfuzz.subject import build, catalogue, registry
from slotfuzz.subject.subjects import core

PRESET = "coverage"
SOURCES = "core/"
# The kind of an llvm-cov region that counts code; gaps, expansions and branches have other kinds.
CODE_REGION = 0


@dataclass
class File:
    """A file of the core: its FUNCTIONS and LINES, and those that no corpus reaches.

    A function is a pair of name and first line. UNREACHED_LINES has the function of each line.
    """

    name: str
    functions: set[tuple[str, int]] = field(default_factory=set)
    lines: set[int] = field(default_factory=set)
    unreached_functions: set[tuple[str, int]] = field(default_factory=set)
    unreached_lines: dict[int, str] = field(default_factory=dict)

    def row(self) -> dict:
        """Its row in the table of all files."""
        return {"file": self.name, "lines": len(self.lines),
                "reached": len(self.lines) - len(self.unreached_lines),
                "functions": len(self.functions),
                "functions reached": len(self.functions) - len(self.unreached_functions)}


def build_all() -> dict[str, Path]:
    """Builds all targets but the canary; returns the binaries by subject and target."""
    targets, protocols = catalogue.fuzzable_targets(), catalogue.protocol_names()
    suffixes = {name: f"-{part}" if part else "" for name, part in core.PROTOCOL_FOLDERS.items()}
    folder = build.build(PRESET, [
        *(f"target-{target}{suffix}" for suffix in suffixes.values() for target in targets),
        *(f"target-{name}" for name in protocols)])
    binaries = {f"{name} {target}": folder / core.PROTOCOL_FOLDERS[name] / "targets" / target
                for name in suffixes for target in targets}
    return binaries | {f"protocol {name}": folder / "targets" / name for name in protocols}


def run_corpora(binaries: dict[str, Path], profiles: Path) -> list[dict]:
    """Runs each binary on its corpora, with a profile in PROFILES; counts the files of each."""
    rows = []
    for name, binary in binaries.items():
        kind, target = name.split()
        kept = workplace.corpus_of(kind, target)
        folders = [path for path in (ROOT / "corpus" / target, kept)
                   if path.is_dir() and any(path.iterdir())]
        if not folders:
            raise UserError(f"{target} has no corpus: corpus/{target} is missing or empty")
        _run(binary, kind, target, folders, profiles / f"{name.replace(' ', '-')}.profraw")
        rows.append({"subject": kind, "target": target,
                     "files": sum(1 for folder in folders for _ in folder.iterdir())})
    return rows


def _run(binary: Path, kind: str, target: str, folders: list[Path], profile: Path) -> None:
    name = kind if kind in core.PROTOCOL_FOLDERS else registry.DEFAULT
    chosen = core.of_folder(name, "none", PRESET, binary.parents[1])
    command = chosen.command(target) if name == kind else [str(binary)]
    profile.unlink(missing_ok=True)
    result = subprocess.run(
        [*command, "-runs=0", f"-max_len={INPUT_BYTES_MAX}", "-detect_leaks=0",
         f"-artifact_prefix={profile.parent}/", *map(str, folders)],
        cwd=ROOT, env={**chosen.environment(), "LLVM_PROFILE_FILE": str(profile)},
        capture_output=True, text=True, errors="replace", check=False)
    if result.returncode:
        tail = "; ".join(result.stderr.strip().splitlines()[-3:])
        raise BrokenError(f"{binary.name} ends with {result.returncode} on"
                          f" {' '.join(map(shown, folders))}; a hunt would report this: {tail}")
    if not profile.exists():
        raise BrokenError(f"{binary.name} has written no profile")


def pages(binaries: Iterable[Path], profiles: Path, out: Path) -> Path:
    """Merges PROFILES and writes llvm-cov's pages to OUT/html; returns the first page."""
    merged = out / "merged.profdata"
    tool("llvm-profdata", "merge", "--sparse", *sorted(profiles.glob("*.profraw")), "-o", merged)
    shutil.rmtree(out / "html", ignore_errors=True)
    tool("llvm-cov", "show", *_objects(binaries), f"-instr-profile={merged}", "-format=html",
          f"-output-dir={out / 'html'}", "-show-line-counts-or-regions", "-Xdemangler",
          _tool_path("llvm-cxxfilt"), SOURCES)
    page = out / "html" / "index.html"
    if not page.exists():
        raise BrokenError("llvm-cov wrote no page")
    return page


def export(binaries: Iterable[Path], out: Path) -> dict:
    """The merged profile in OUT as llvm-cov's JSON, for the core only."""
    text = tool("llvm-cov", "export", *_objects(binaries),
                 f"-instr-profile={out / 'merged.profdata'}", SOURCES)
    return json.loads(text)["data"][0]


def files(exported: dict, demangled: dict[str, str]) -> list[File]:
    """The files of the core, sorted by name.

    Code of a template counts as reached if any instance reached it.
    """
    found: dict[str, File] = {}
    counts: dict[str, dict[tuple, int]] = {}
    # The key is where a function begins, so instances of a template are one function.
    called: dict[tuple[str, int, int], tuple[int, str]] = {}
    names = _names(exported, demangled)
    for function in exported["functions"]:
        name = names[_begin(function)]
        for region in function["regions"]:
            source = _relative(function["filenames"][region[5]])
            if source and region[7] == CODE_REGION:
                spot = (*region[:4], name)
                places = counts.setdefault(source, {})
                places[spot] = max(places.get(spot, 0), region[4])
        key = _begin(function)
        if key[0]:
            called[key] = max(called.get(key, (0, name)), (function["count"], name))
    for (source, line, _), (count, name) in called.items():
        one = found.setdefault(source, File(source))
        one.functions.add((name, line))
        if not count:
            one.unreached_functions.add((name, line))
    for source, places in counts.items():
        _take_lines(found.setdefault(source, File(source)), places)
    return [found[name] for name in sorted(found)]


def _begin(function: dict) -> tuple[str, int, int]:
    """Source, line and column of a function's first region."""
    first = function["regions"][0]
    return _relative(function["filenames"][first[5]]), first[0], first[1]


def _names(exported: dict, demangled: dict[str, str]) -> dict[tuple[str, int, int], str]:
    """One name for each function: the shortest demangled name of its instances."""
    found: dict[tuple[str, int, int], str] = {}
    for function in exported["functions"]:
        name = demangled.get(function["name"], function["name"])
        found[_begin(function)] = min(found.get(_begin(function), name), name,
                                      key=lambda one: (one.startswith("_Z"), len(one), one))
    return found


def _take_lines(one: File, places: dict[tuple, int]) -> None:
    """Sets the lines of a file. A line is reached if the innermost region that has it is."""
    best: dict[int, tuple] = {}
    merged: dict[tuple, tuple[int, str]] = {}
    for (first, column, last, end, name), count in places.items():
        spot = (first, column, last, end)
        merged[spot] = max(merged.get(spot, (-1, "")), (count, name))
    for (first, column, last, end), (count, name) in merged.items():
        for line in range(first, last + 1):
            size = (last - first, end - column if last == first else 0)
            if line not in best or size < best[line][0] or \
                    size == best[line][0] and count > best[line][1]:
                best[line] = (size, count, name)
    one.lines = set(best)
    one.unreached_lines = {line: name for line, (_, count, name) in sorted(best.items())
                           if not count}


def unreached(files_found: list[File]) -> list[str]:
    """Functions that were not called, then unreached lines of others: `file:line  function`."""
    shown_lines = [f"{one.name}:{line}  {name}" for one in files_found
                   for name, line in sorted(one.unreached_functions, key=lambda entry: entry[1])]
    for one in files_found:
        whole = {name for name, _ in one.unreached_functions}
        left = {line: name for line, name in one.unreached_lines.items() if name not in whole}
        shown_lines += [f"{one.name}:{first}{f'-{last}' if last > first else ''}  in {name}"
                        for first, last, name in _ranges(left)]
    return shown_lines


def _ranges(lines: dict[int, str]) -> list[tuple[int, int, str]]:
    """Ranges of consecutive LINES in one function: first, last, function."""
    found: list[tuple[int, int, str]] = []
    for line, name in sorted(lines.items()):
        if found and found[-1][1] == line - 1 and found[-1][2] == name:
            found[-1] = (found[-1][0], line, name)
        else:
            found.append((line, line, name))
    return found


def demangle(exported: dict) -> dict[str, str]:
    """The functions' names as in the source, without function and template arguments."""
    from slotfuzz.evidence.signature import function_name

    # llvm puts the file before the name of a function with internal linkage.
    names = sorted({function["name"] for function in exported["functions"]})
    bare = [re.sub(r"^[^:]*\.(?:cc|h):", "", name) for name in names]
    result = subprocess.run([_tool_path("llvm-cxxfilt")], input="\n".join(bare),
                            capture_output=True, text=True, check=True)
    return dict(zip(names, map(function_name, result.stdout.splitlines())))


def _relative(name: str) -> str:
    """A source's path from the checkout's root; empty if it is not a file of the core."""
    name = os.path.normpath(name).removeprefix(f"{ROOT}/")
    return name if name.startswith(SOURCES) else ""


def _objects(binaries: Iterable[Path]) -> list[str]:
    first, *others = map(str, binaries)
    return [first, *(word for other in others for word in ("-object", other))]


def _tool_path(name: str) -> str:
    """The path of a tool of the compiler's release; other releases cannot read the profiles."""
    wanted = name + Path(build.compiler()).name.removeprefix("clang++")
    path = shutil.which(wanted)
    if not path:
        raise MachineError(f"{wanted} is missing; its package is in ci/packages.txt")
    return path


def tool(name: str, *words) -> str:
    """The output of the compiler's tool NAME; MachineError with its last line if it fails."""
    result = subprocess.run([_tool_path(name), *map(str, words)], cwd=ROOT, capture_output=True,
                            text=True, check=False)
    if result.returncode:
        tail = (result.stderr.strip().splitlines() or ["no message"])[-1]
        raise MachineError(f"{name} {words[0]} failed: {tail}")
    return result.stdout


def folder() -> Path:
    """The folder for pages and lists."""
    return build_root() / PRESET / "report"
