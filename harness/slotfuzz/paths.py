"""Where things are: the sources, the folder of everything that is made, the folder of findings.

ROOT is the checkout, or the copy of its sources in an installed package. What is made goes to
build/ of the checkout, or to another place where that cannot be.
"""

import hashlib
import os
import re
from pathlib import Path

_PACKAGED = Path(__file__).resolve().parent / "_source"
INSTALLED = _PACKAGED.is_dir()
ROOT = _PACKAGED if INSTALLED else Path(__file__).resolve().parents[2]
# The op table. Targets are told where it is, so a changed row needs no build.
OPS = ROOT / "ops"
# How a person calls us.
COMMAND = "slotfuzz" if INSTALLED else "./slotfuzz"


def build_root() -> Path:
    """The folder of everything that is made: builds, default corpora, work of running hunts.

    SLOTFUZZ_BUILD names it. Else it is build/ of a checkout that this user may write to, else a
    folder of its own for this checkout in the user's cache.
    """
    named = os.environ.get("SLOTFUZZ_BUILD")
    if named:
        return Path(named).absolute()
    if not INSTALLED and is_writable(ROOT / "build"):
        return ROOT / "build"
    return _cache_folder()


def prebuilt_root() -> Path | None:
    """build/ of a checkout in which this user may read builds and not make them."""
    own = ROOT / "build"
    if os.environ.get("SLOTFUZZ_BUILD") or INSTALLED or is_writable(own) or not own.is_dir():
        return None
    return own


def findings_root() -> Path:
    """Where findings go by default: repro/ of a checkout that this user may write to, else here."""
    own = ROOT / "repro"
    return own if not INSTALLED and is_writable(own) else Path.cwd() / "repro"


def is_writable(folder: Path) -> bool:
    """Whether this user may make files in FOLDER, and the folder itself if there is none."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK | os.X_OK)


def _cache_folder() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    cache = Path(named) if os.path.isabs(named) else Path.home() / ".cache"
    mark = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
    return cache / "slotfuzz" / f"{'installed' if INSTALLED else ROOT.name}-{mark}"


def from_root(text: str) -> str:
    """A report with source paths from the checkout's root on, also those of a mutant's copies.

    A symbolizer makes paths absolute; a finding must look the same in every checkout.
    """
    text = text.replace(f"{ROOT}/", "").replace(f"{build_root()}/", "build/")
    return re.sub(r"\bbuild/[\w.-]+/mutants/[\w.-]+/(?=core/)", "", text)


def shown(path: Path) -> str:
    """The path as a person would type it, at the checkout's root or where an installed one runs."""
    try:
        return str(path.resolve().relative_to(Path.cwd() if INSTALLED else ROOT))
    except ValueError:
        return str(path)
