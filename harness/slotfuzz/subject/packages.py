"""Installs the Debian packages that commands need, at the first call on a machine.

A stamp records the lists and the state of dpkg's database. While both stay the same, later calls
do not run apt.
"""

import hashlib
import os
import subprocess
from pathlib import Path

from slotfuzz.errors import MachineError
from slotfuzz.paths import ROOT, build_root, prebuilt_root

# Files in ci/.
LISTS = ("packages.txt",)
TEST_LISTS = (*LISTS, "packages_test.txt")
DATABASE = "/var/lib/dpkg/status"


def ensure(lists: tuple[str, ...] = LISTS) -> None:
    """Installs missing packages of LISTS; if it may not, MachineError says what to run."""
    if not lists:
        return
    mark = _mark(lists)
    name = f".setup-{hashlib.sha256(' '.join(lists).encode()).hexdigest()[:6]}"
    for folder in filter(None, (prebuilt_root(), build_root())):
        if _read(folder / name) == mark:
            return
    command = [ROOT / "ci" / "set_up.sh", *(ROOT / "ci" / one for one in lists)]
    result = subprocess.run(["bash", *command], stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        stamp = build_root() / name
        hint = "" if os.path.exists(DATABASE) else f", then: mkdir -p {stamp.parent}; touch {stamp}"
        raise MachineError((result.stdout.strip() or "ci/set_up.sh failed") + hint)
    try:
        build_root().mkdir(parents=True, exist_ok=True)
        (build_root() / name).write_text(_mark(lists))
    except OSError:
        return  # The next call checks again; a command that must write there reports the error.


def _mark(lists: tuple[str, ...]) -> str:
    """The text of a valid stamp: empty where dpkg is missing, since nothing can be checked."""
    try:
        database = os.stat(DATABASE).st_mtime_ns
    except FileNotFoundError:
        return ""
    texts = "".join((ROOT / "ci" / one).read_text() for one in lists)
    return f"{database} {hashlib.sha256(texts.encode()).hexdigest()}"


def _read(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None
