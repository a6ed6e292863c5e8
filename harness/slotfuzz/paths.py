"""The folders of sources, of generated files, and of findings.

ROOT is the checkout, or the copy of its sources in an installed package. Generated files go to
build/ of the checkout, or to another folder if this user may not write there.
"""

import hashlib
import os
import re
from pathlib import Path

_PACKAGED = Path(__file__).resolve().parent / "_source"
INSTALLED = _PACKAGED.is_dir()
ROOT = _PACKAGED if INSTALLED else Path(__file__).resolve().parents[2]
# The op table. Targets get its path as a flag, so a changed row needs no build.
OPS = ROOT / "ops"
# The command as a user types it.
COMMAND = "slotfuzz" if INSTALLED else "./slotfuzz"


def build_root() -> Path:
    """The folder of generated files: builds, default corpora, folders of running hunts.

    It is $SLOTFUZZ_BUILD; else build/ of the checkout if this user may write to it; else a folder
    for this checkout in the user's cache.
    """
    named = os.environ.get("SLOTFUZZ_BUILD")
    if named:
        return Path(named).absolute()
    if not INSTALLED and is_writable(ROOT / "build"):
        return ROOT / "build"
    return _cache_folder()


def prebuilt_root() -> Path | None:
    """build/ of a checkout where this user may read builds but not write; else None."""
    own = ROOT / "build"
    if os.environ.get("SLOTFUZZ_BUILD") or INSTALLED or is_writable(own) or not own.is_dir():
        return None
    return own


def findings_root() -> Path:
    """The default folder for findings: repro/ of the checkout if writable, else ./repro."""
    own = ROOT / "repro"
    return own if not INSTALLED and is_writable(own) else Path.cwd() / "repro"


def is_writable(folder: Path) -> bool:
    """Whether this user may create files in FOLDER, and FOLDER itself if it does not exist."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK | os.X_OK)


def _cache_folder() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    cache = Path(named) if os.path.isabs(named) else Path.home() / ".cache"
    mark = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
    return cache / "slotfuzz" / f"{'installed' if INSTALLED else ROOT.name}-{mark}"


def from_root(text: str) -> str:
    """TEXT with source paths relative to the checkout, including paths of a mutant's copies.

    A symbolizer prints absolute paths; a finding must look the same in every checkout.
    """
    text = text.replace(f"{ROOT}/", "").replace(f"{build_root()}/", "build/")
    return re.sub(r"\bbuild/[\w.-]+/mutants/[\w.-]+/(?=core/)", "", text)


def shown(path: Path) -> str:
    """PATH relative to the checkout, or to the working directory if the driver is installed."""
    try:
        return str(path.resolve().relative_to(Path.cwd() if INSTALLED else ROOT))
    except ValueError:
        return str(path)
