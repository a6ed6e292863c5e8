"""A Debian tree of another release, whose Python and PyTorch are meant by --rootfs.

A process enters it by a private mount namespace in which the tree's /usr and /etc stand in the
place of ours: every other path, pipe and process id stays what it is, so the driver need not know.
docs/decisions/015 says what else was tried.
"""

import os
import tempfile
from pathlib import Path

from slotfuzz.errors import MachineError, UserError
from slotfuzz.paths import ROOT, build_root, shown

# What a Debian tree brings along: its programs and libraries, and how they are set up.
COVERED = ("etc", "usr")
ENTER = 'mount -o bind,ro "$0/etc" /etc && mount -o bind,ro "$0/usr" /usr && exec "$@"'


def check(folder: Path) -> Path:
    """The tree FOLDER, absolute. UserError if it is none, MachineError if nobody may enter it."""
    tree = folder.resolve()
    if not tree.is_dir():
        raise UserError(f"--rootfs {folder}: no such folder")
    if not all((tree / name).is_dir() for name in COVERED):
        raise UserError(f"--rootfs {folder} is no Debian tree, it lacks usr/ or etc/;"
                        " make one with ci/torch_rootfs.sh")
    if os.geteuid() != 0:
        raise MachineError(f"only root may enter {shown(tree)}; run it as root")
    for place in (ROOT, build_root().resolve(), Path(tempfile.gettempdir()).resolve()):
        if place.parts[1:2] and place.parts[1] in COVERED:
            raise UserError(f"--rootfs puts the tree's /{place.parts[1]} in the place of ours,"
                            f" which hides {place}")
    return tree


def entering(tree: Path | None) -> list[str]:
    """The words before a command that runs in TREE; none for the system itself.

    Nothing forks: process id, signals and exit code are those of the command.
    """
    if tree is None:
        return []
    return ["unshare", "--mount", "--propagation", "private", "--", "sh", "-c", ENTER, str(tree)]


def which(tree: Path, name: str) -> str | None:
    """What program NAME of TREE is called inside, or None."""
    return f"/usr/bin/{name}" if os.path.lexists(tree / "usr" / "bin" / name) else None
