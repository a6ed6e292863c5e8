"""Where things are in a checkout. The build folder may be moved with SLOTFUZZ_BUILD."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def build_root() -> Path:
    """The folder of everything that is made: builds, default corpora, work of running hunts."""
    return Path(os.environ.get("SLOTFUZZ_BUILD", ROOT / "build"))


def from_root(text: str) -> str:
    """A report with source paths from the checkout's root on, also those of a mutant's copies.

    A symbolizer makes paths absolute; a finding must look the same in every checkout.
    """
    text = text.replace(f"{ROOT}/", "").replace(f"{build_root()}/", "build/")
    return re.sub(r"\bbuild/[\w.-]+/mutants/[\w.-]+/(?=core/)", "", text)


def shown(path: Path) -> str:
    """The path as a person at the checkout's root would type it."""
    try:
        return str(path.resolve().relative_to(ROOT))
    except ValueError:
        return str(path)
