"""--rootfs: a Debian tree of another release, with its own Python and PyTorch.

A process enters the tree in a private mount namespace, where the tree's /usr and /etc hide those of
the system. All other paths, pipes and process ids stay the same, so the driver needs no other code.
docs/decisions/015 compares this with alternatives.
"""

import os
import tempfile
from pathlib import Path

from slotfuzz.errors import MachineError, UserError
from slotfuzz.paths import ROOT, build_root, shown

# The parts of a tree that a process sees: configuration, and programs with their libraries.
COVERED = ("etc", "usr")
ENTER = 'mount -o bind,ro "$0/etc" /etc && mount -o bind,ro "$0/usr" /usr && exec "$@"'


def check(folder: Path) -> Path:
    """The absolute path of the tree FOLDER.

    UserError if it is not a Debian tree, MachineError if this user may not enter it.
    """
    tree = folder.resolve()
    if not tree.is_dir():
        raise UserError(f"--rootfs {folder}: no such folder")
    if not all((tree / name).is_dir() for name in COVERED):
        raise UserError(f"--rootfs {folder} is not a Debian tree: it lacks usr/ or etc/;"
                        " make one with ci/torch_rootfs.sh")
    if os.geteuid() != 0:
        raise MachineError(f"only root may enter {shown(tree)}; run it as root")
    for place in (ROOT, build_root().resolve(), Path(tempfile.gettempdir()).resolve()):
        if place.parts[1:2] and place.parts[1] in COVERED:
            raise UserError(f"--rootfs mounts the tree's /{place.parts[1]} over the system's,"
                            f" which hides {place}")
    return tree


def entering(tree: Path | None) -> list[str]:
    """The words to put before a command that shall run in TREE; empty without TREE.

    These words exec and do not fork: process id, signals and exit code are the command's.
    """
    if tree is None:
        return []
    return ["unshare", "--mount", "--propagation", "private", "--", "sh", "-c", ENTER, str(tree)]


def which(tree: Path, name: str) -> str | None:
    """The path of program NAME as a process in TREE sees it; None if TREE lacks it."""
    return f"/usr/bin/{name}" if os.path.lexists(tree / "usr" / "bin" / name) else None
