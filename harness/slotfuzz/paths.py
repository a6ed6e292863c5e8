"""Where things are in a checkout. The build folder may be moved with SLOTFUZZ_BUILD."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def build_root() -> Path:
    """The folder of everything that is made: builds, default corpora, work of running hunts."""
    return Path(os.environ.get("SLOTFUZZ_BUILD", ROOT / "build"))


def shown(path: Path) -> str:
    """The path as a person at the checkout's root would type it."""
    try:
        return str(path.resolve().relative_to(ROOT))
    except ValueError:
        return str(path)
