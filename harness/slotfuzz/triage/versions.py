"""The versions that affect a finding: interpreter, compiler, slotfuzz, subject."""

import platform
import subprocess
from pathlib import Path

from slotfuzz.paths import INSTALLED, ROOT
from slotfuzz.subject import build
from slotfuzz.subject.subject import Subject


def versions(subject: Subject) -> dict[str, str]:
    """The versions for a finding of SUBJECT, by name."""
    return {"python": platform.python_version(), "compiler": Path(build.compiler()).name,
            "slotfuzz": own_version(), **subject.versions}


def own_version() -> str:
    """The commit of the checkout, or an installed package's version, which names the commit."""
    if INSTALLED:
        from importlib import metadata

        return metadata.version("slotfuzz")
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"],
                            capture_output=True, text=True, check=False).stdout.strip()
    return commit or "unknown"
