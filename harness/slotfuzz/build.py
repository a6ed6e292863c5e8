"""Builds what a command needs, when it needs it: cmake once per preset, ninja each time.

A no-op costs a fraction of a second. A lock per build folder lets two commands build at once. The
output goes to build/<preset>/build.log; a failure shows its tail.
"""

import fcntl
import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from slotfuzz import rootfs
from slotfuzz.console import say
from slotfuzz.errors import MachineError
from slotfuzz.paths import ROOT, build_root, shown

COMPILERS = ("clang++-19", "clang++-14", "clang++")
TAIL_LINES = 25
NOTICED_SECONDS = 1.5


def compiler(tree: Path | None = None) -> str:
    """The newest clang++ of those that are tested, here or in TREE; MachineError without one."""
    for name in COMPILERS:
        found = _which(tree, name)
        if found:
            return found
    where = f" in {shown(tree)}" if tree else ""
    raise MachineError(f"no clang++ found{where}; looked for {', '.join(COMPILERS)}")


def symbolizer(tree: Path | None = None) -> str | None:
    """llvm-symbolizer of the same release as the compiler, if there is one."""
    suffix = Path(compiler(tree)).name.removeprefix("clang++")
    return _which(tree, "llvm-symbolizer" + suffix) or _which(tree, "llvm-symbolizer")


def _which(tree: Path | None, name: str) -> str | None:
    return rootfs.which(tree, name) if tree else shutil.which(name)


def build(
    preset: str, targets: list[str], python: str | None = None, tree: Path | None = None,
) -> Path:
    """Builds ninja TARGETS in the build folder of PRESET and returns that folder.

    PYTHON asks for another interpreter than the preset's, in TREE if given: the folder is then
    named after it by the caller, who passes the folder's name as PRESET. Errors: MachineError with
    the tail of the log.
    """
    folder = build_root() / preset
    with _locked(folder):
        if not (folder / "build.ninja").exists():
            command = rootfs.entering(tree) + _configuration(preset, folder, python, tree)
            _logged(command, folder, f"configuring {shown(folder)}")
        if targets:
            what = f"building {', '.join(targets)} in {shown(folder)}"
            command = [*rootfs.entering(tree), "ninja", "-C", str(folder), *targets]
            _logged(command, folder, what)
    return folder


def ninja_targets(preset: str) -> set[str]:
    """Names of the ninja targets of PRESET, configured if need be."""
    folder = build(preset, [])
    text = subprocess.run(
        ["ninja", "-C", str(folder), "-t", "targets", "all"],
        capture_output=True, text=True, check=False,
    ).stdout
    return {line.split(":")[0] for line in text.splitlines() if ":" in line}


def _configuration(
    preset: str, folder: Path, python: str | None, tree: Path | None,
) -> list[str]:
    command = ["cmake", "-S", str(ROOT), "-B", str(folder),
               f"-DCMAKE_CXX_COMPILER={compiler(tree)}"]
    ccache = _which(tree, "ccache")
    if ccache:
        command.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}")
    if python:
        return [*command, "-G", "Ninja", "-DSLOTFUZZ_SANITIZER=none", f"-DSLOTFUZZ_PYTHON={python}"]
    return [*command, "--preset", preset]


def _logged(command: list[str], folder: Path, what: str) -> None:
    """Runs COMMAND into the log; says WHAT only when it takes long enough to be noticed."""
    log = folder / "build.log"
    start = time.monotonic()
    with open(log, "wb") as out:
        try:
            process = subprocess.Popen(command, stdout=out, stderr=out, cwd=ROOT)
        except FileNotFoundError as error:
            raise MachineError(f"{command[0]} is missing") from error
        try:
            code = process.wait(NOTICED_SECONDS)
        except subprocess.TimeoutExpired:
            say(what)
            code = process.wait()
            say(f"{what}: {time.monotonic() - start:.0f} s")
    if code != 0:
        lines = log.read_text(errors="replace").splitlines()
        wrong = [i for i, line in enumerate(lines) if "error:" in line or "FAILED:" in line]
        first = wrong[0] if wrong else max(0, len(lines) - TAIL_LINES)
        tail = "\n".join(lines[first:first + TAIL_LINES])
        raise MachineError(f"the build failed; {shown(log)} says:\n{tail}")


@contextmanager
def _locked(folder: Path):
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ".lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise MachineError(f"cannot write to {folder}: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
