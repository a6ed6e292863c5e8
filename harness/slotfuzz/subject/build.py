"""Builds what a command needs, when it needs it: cmake once per preset, ninja when sources changed.

A lock per build folder lets two commands build at once. The output goes to
build/<preset>/build.log; a failure shows its tail.
"""

import fcntl
import os
import re
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

from slotfuzz.console import say
from slotfuzz.errors import MachineError
from slotfuzz.paths import ROOT, build_root, prebuilt_root, shown
from slotfuzz.progress import ProgressLine
from slotfuzz.subject import freshness, rootfs

COMPILERS = ("clang++-19", "clang++-14", "clang++")
TAIL_LINES = 25
NOTICED_SECONDS = 1.5
TICK_SECONDS = 1.0
LOCK = ".lock"
# CMakeLists.txt reads it: each line is a mutant and the binaries of it that a build has.
MUTANTS = "mutants.txt"
# A build knows so many mutants at most, since cmake needs more time for each. Binaries of earlier
# ones stay, and are not linked anew if nothing has changed when their mutant comes back.
MUTANTS_MAX = 32
# The progress that ninja prints before each step, and libc's message for a full disk.
STEP = re.compile(rb"^\[\d+/\d+\]", re.MULTILINE)
FULL = "No space left on device"
# With less free space any tool may have failed because of that, whatever its message.
SPACE_BYTES_MIN = 1 << 20
ELSEWHERE = "; SLOTFUZZ_BUILD=DIR builds elsewhere"


def compiler(tree: Path | None = None) -> str:
    """The newest tested clang++, on this system or in TREE; MachineError if none is found."""
    for name in COMPILERS:
        found = _which(tree, name)
        if found:
            return found
    where = f" in {shown(tree)}" if tree else ""
    raise MachineError(f"no clang++ found{where}; looked for {', '.join(COMPILERS)}")


def symbolizer(tree: Path | None = None) -> str | None:
    """The llvm-symbolizer of the compiler's release, else any, or None."""
    suffix = Path(compiler(tree)).name.removeprefix("clang++")
    return _which(tree, "llvm-symbolizer" + suffix) or _which(tree, "llvm-symbolizer")


def _which(tree: Path | None, name: str) -> str | None:
    return rootfs.which(tree, name) if tree else shutil.which(name)


def build_mutant(preset: str, mutant: str, names: list[str]) -> Path:
    """Builds the binaries NAMES, `slotpython` or targets, with the bug of MUTANT.

    Returns their folder. Errors: MachineError with the tail of the log.
    """
    targets = [f"{name}-{mutant}" for name in names]
    folder = build(preset, targets, before=lambda folder: add_mutant(folder, mutant, names))
    return folder / "mutants" / mutant


def add_mutant(folder: Path, mutant: str, names: list[str]) -> None:
    """Adds the binaries NAMES of MUTANT to the build in FOLDER, the next time that cmake runs."""
    file = folder / MUTANTS
    lines = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
    wanted = {name: binaries for name, *binaries in lines}
    if set(names) <= set(wanted.get(mutant, ())):
        return
    wanted[mutant] = sorted({*wanted.pop(mutant, ()), *names})
    kept = list(wanted.items())[-MUTANTS_MAX:]
    file.write_text("".join(" ".join([name, *binaries]) + "\n" for name, binaries in kept))


def build(
    preset: str, targets: list[str], python: str | None = None, tree: Path | None = None,
    before: Callable[[Path], None] | None = None,
) -> Path:
    """Builds ninja TARGETS in the build folder of PRESET and returns that folder.

    PYTHON chooses another interpreter than the preset's, in TREE if given. The caller then names
    the build folder after that interpreter and passes the folder's name as PRESET. A build that is
    up to date is used as it is, even if this user may not write to it. Otherwise BEFORE is called
    with the folder first. Errors: MachineError with the tail of the log.
    """
    # The mark is taken before ninja runs, so that the next call notices files edited meanwhile.
    mark = None if python else freshness.sources_mark(tree)
    for root in filter(None, (prebuilt_root(), build_root())):
        if freshness.is_stamped(root / preset, targets, mark):
            return root / preset
    prebuilt = prebuilt_root()
    if prebuilt and freshness.is_up_to_date(prebuilt / preset, targets):
        return prebuilt / preset
    folder = build_root() / preset
    what = f"building {', '.join(targets)} in {shown(folder)}"
    try:
        with _locked(folder, what):
            if before:
                before(folder)
            _configure(preset, folder, python, tree)
            if targets:
                command = [*rootfs.entering(tree), "ninja", "-C", str(folder), *targets]
                _logged(command, folder, what)
                freshness.stamp(folder, targets, mark)
    except OSError as error:
        raise MachineError(f"cannot write to {folder}: {error.strerror}{ELSEWHERE}") from error
    return folder


def ninja_targets(preset: str) -> set[str]:
    """Names of the ninja targets of PRESET; configures its build folder if that is not done yet."""
    folder = build(preset, [])
    text = subprocess.run(
        ["ninja", "-C", str(folder), "-t", "targets", "all"],
        capture_output=True, text=True, check=False,
    ).stdout
    return {line.split(":")[0] for line in text.splitlines() if ":" in line}


def _configure(preset: str, folder: Path, python: str | None, tree: Path | None) -> None:
    other = freshness.other_place(folder)
    if other:
        say(f"{shown(folder)} was made for {other}; configuring it afresh")
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != LOCK:
                path.unlink()
    if not (folder / "build.ninja").exists():
        command = rootfs.entering(tree) + _configuration(preset, folder, python, tree)
        _logged(command, folder, f"configuring {shown(folder)}")


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
    """Runs COMMAND and logs its output; shows WHAT and the steps if it takes NOTICED_SECONDS."""
    log = folder / "build.log"
    with open(log, "wb") as out:
        try:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       cwd=ROOT)
        except FileNotFoundError as error:
            raise MachineError(f"{command[0]} is missing") from error
        try:
            _watch(process, out, what)
        except BaseException:
            process.terminate()  # ninja stops its compilers and removes their partial outputs
            raise
        finally:
            process.stdout.close()
            code = process.wait()
    if code != 0:
        text = log.read_text(errors="replace")
        if FULL in text or shutil.disk_usage(folder).free < SPACE_BYTES_MIN:
            raise MachineError(f"no space is left for the build in {folder}{ELSEWHERE}")
        lines = text.splitlines()
        wrong = [i for i, line in enumerate(lines) if "error:" in line or "FAILED:" in line]
        first = wrong[0] if wrong else max(0, len(lines) - TAIL_LINES)
        tail = "\n".join(lines[first:first + TAIL_LINES])
        raise MachineError(f"the build failed; {shown(log)} says:\n{tail}")


def _watch(process: subprocess.Popen, out, what: str) -> None:
    """Copies the output of PROCESS to OUT until it ends; shows WHAT and the progress."""
    start, step, line = time.monotonic(), "", None
    output = process.stdout.fileno()
    while True:
        pause = TICK_SECONDS if line else NOTICED_SECONDS
        ready = select.select([output], [], [], pause)[0]
        seconds = time.monotonic() - start
        if line is None and seconds >= NOTICED_SECONDS:
            say(what)
            line = ProgressLine()
        chunk = os.read(output, 1 << 16) if ready else None
        if chunk == b"":
            break
        if chunk:
            out.write(chunk)
            steps = STEP.findall(chunk)
            step = steps[-1].decode() + " " if steps else step
        if line:
            line.show(f"slotfuzz: {what}: {step}{seconds:.0f} s")
    if line:
        line.close()
        say(f"{what}: {time.monotonic() - start:.0f} s")


@contextmanager
def _locked(folder: Path, what: str):
    """Holds the lock of FOLDER and writes WHAT into it.

    If another command holds the lock, this prints what that command does, and waits.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
    try:
        if not _try_lock(handle, NOTICED_SECONDS):
            other = os.pread(handle, 1 << 12, 0).decode(errors="replace").strip()
            say(f"waiting for another command, which is {other or 'building'}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        os.ftruncate(handle, 0)
        os.pwrite(handle, what.encode(), 0)
        yield
    finally:
        os.close(handle)


def _try_lock(handle: int, seconds: float) -> bool:
    """Whether the lock was free within SECONDS: most builds have nothing to do and end soon."""
    end = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
        time.sleep(0.05)
