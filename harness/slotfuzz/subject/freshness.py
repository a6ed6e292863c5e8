"""Decides whether a build is up to date. It writes nothing and takes no lock.

The stamp of a build folder records a hash of the sources when ninja last finished, and the output
files of its targets. For a build without such a stamp a dry run of ninja decides.
"""

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

from slotfuzz.paths import OPS, ROOT, build_root

STAMP = ".fresh"
CACHE = "CMakeCache.txt"
# These folders are large or change often, and no build waits for them: the driver tells a target
# where `ops` is, and a target uses its compiled copy only where there is no checkout.
NO_SOURCES = {"build", "corpus", "docs", "ops", "repro", "__pycache__"}
PACKAGES = "var/lib/dpkg/status"


def sources_mark(tree: Path | None = None) -> str | None:
    """A hash of name, size and time of all sources and of the installed packages (in TREE).

    None if there is no dpkg database, since a new compiler or header would go unnoticed. None also
    if this user may not read a folder.
    """
    try:
        packages = os.stat((tree or Path("/")) / PACKAGES)
        rows = [f"{ROOT} {packages.st_mtime_ns}", *_files()]
    except OSError:
        return None
    return hashlib.sha256("\n".join(sorted(rows)).encode()).hexdigest()


def is_stamped(folder: Path, targets: list[str], mark: str | None) -> bool:
    """Whether ninja finished TARGETS in FOLDER when the sources had this MARK."""
    stamp = _read(folder)
    if mark is None or not targets or stamp["sources"] != mark:
        return False
    return all(target in stamp["outputs"] and all(
        _about(folder / name) == about for name, about in stamp["outputs"][target].items())
        for target in targets)


def stamp(folder: Path, targets: list[str], mark: str | None) -> None:
    """Records that ninja finished TARGETS, and that the sources had this MARK before it began."""
    if mark is None:
        return
    old = _read(folder)
    outputs = old["outputs"] if old["sources"] == mark else {}
    for target in targets:
        files = {name: _about(folder / name) for name in _made_by(folder, target)}
        if files and None not in files.values():
            outputs[target] = files
    part = folder / f"{STAMP}.part"
    part.write_text(json.dumps({"sources": mark, "outputs": outputs}))
    part.replace(folder / STAMP)


def is_up_to_date(folder: Path, targets: list[str]) -> bool:
    """Whether ninja would do nothing for TARGETS in FOLDER. FOLDER may be read-only."""
    rules = folder / "build.ninja"
    if not targets or not rules.exists() or other_place(folder):
        return False
    globs = folder / "CMakeFiles" / "VerifyGlobs.cmake"
    if globs.exists():
        answer = _ask(["cmake", "-P", str(globs)], folder)
        if answer is None or "GLOB mismatch" in answer:
            return False
    made = rules.stat().st_mtime_ns
    # cmake rewrites its verify_globs file when globs differ; VerifyGlobs.cmake checked that above.
    for name in _inputs(folder, "build.ninja"):
        if (folder / name).resolve().parent == OPS:
            continue
        about = _about(folder / name)
        if not name.endswith("cmake.verify_globs") and not (about and about[1] <= made):
            return False
    # ninja does not recognize the absolute path as an output, so it does not run cmake first.
    answer = _ask(["ninja", "-C", str(folder), "-n", "-f", str(rules), *targets], folder)
    return answer is not None and "no work to do" in answer


def other_place(folder: Path) -> str:
    """The folder that the cmake cache of FOLDER was made for; empty if it is FOLDER and ROOT.

    Without this check a checkout that was copied with its builds would compile the old sources.
    """
    try:
        text = (folder / CACHE).read_text(errors="replace")
    except FileNotFoundError:
        return ""
    for key, place in ("CMAKE_HOME_DIRECTORY", ROOT), ("CMAKE_CACHEFILE_DIR", folder):
        found = re.search(rf"^{key}:\w+=(.*)$", text, re.MULTILINE)
        if not found or os.path.realpath(found[1]) != os.path.realpath(place):
            return found[1] if found else "an unknown folder"
    return ""


def _files() -> list[str]:
    """One row for each source file: path, size and time."""
    rows, made, folders = [], str(build_root()), [str(ROOT)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.startswith(".") or entry.name in NO_SOURCES or entry.path == made:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    about = entry.stat(follow_symlinks=False)
                    rows.append(f"{entry.path} {about.st_size} {about.st_mtime_ns}")
    return rows


def _read(folder: Path) -> dict:
    try:
        stamp = json.loads((folder / STAMP).read_text())
        return {"sources": stamp["sources"], "outputs": stamp["outputs"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {"sources": None, "outputs": {}}


def _about(path: Path) -> list[int] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return [about.st_size, about.st_mtime_ns]


def _made_by(folder: Path, target: str) -> list[str]:
    """The files that TARGET makes: itself if it is a file, else its inputs if all are files."""
    if (folder / target).is_file():
        return [target]
    inputs = _inputs(folder, target)
    return inputs if all((folder / name).is_file() for name in inputs) else []


def _inputs(folder: Path, target: str) -> list[str]:
    answer = _ask(["ninja", "-C", str(folder), "-t", "query", target], folder) or ""
    inputs = answer.partition("  input:")[2].partition("  outputs:")[0]
    return [line.strip(" |") for line in inputs.splitlines()[1:]]


def _ask(command: list[str], folder: Path) -> str | None:
    try:
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return result.stdout + result.stderr if result.returncode == 0 else None
