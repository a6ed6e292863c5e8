"""Installs the driver, the sources that it builds, and its pytest plug-in: docs/install.md.

There is no pyproject.toml, so that pip uses the installed setuptools and needs no network.
"""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
# Files that no build needs: results, tests, and the driver, which is the package itself.
LEFT_OUT = {"build", "tests", "setup.py", "harness/slotfuzz", "__pycache__"}


def sources() -> list[str]:
    """The source files to install, relative to the checkout."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        place = Path(folder).relative_to(ROOT)
        left_out = {name for name in [*folders, *files] if name.startswith(".")
                    or name.endswith(".egg-info") or {name, str(place / name)} & LEFT_OUT}
        folders[:] = set(folders) - left_out
        found += [str(place / name) for name in files if name not in left_out]
    return sorted(found)


class BuildWithSources(build_py):
    """Copies the sources beside the driver, where slotfuzz.paths looks for them."""

    def run(self):
        """Copies all sources, unless the install is editable and uses them in place."""
        super().run()
        if not self.editable_mode:
            for name, copy in self._copies():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, copy)  # with a new time, since ninja compares times
                shutil.copymode(ROOT / name, copy)

    def get_outputs(self, include_bytecode=1):
        """All files, so that pip removes them with the package."""
        return super().get_outputs(include_bytecode) + [str(copy) for _, copy in self._copies()]

    def _copies(self):
        place = Path(self.build_lib) / "slotfuzz" / "_source"
        return [(name, place / name) for name in sources()]


def version() -> str:
    """The version, with the commit if git knows it, for the `versions` of a finding."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    commit = ""
    if (ROOT / ".git").exists() and shutil.which("git"):
        commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return f"0.1+g{commit}" if commit else "0.1"


def options() -> dict:
    """Temporary folders outside of the checkout, which may be read-only and uses build/ itself."""
    scratch = tempfile.mkdtemp(prefix="slotfuzz-setup-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    return {"build": {"build_base": scratch}, "egg_info": {"egg_base": scratch}}


setup(
    name="slotfuzz", version=version(), license="BSD-3-Clause", python_requires=">=3.11",
    description="Finds life-cycle bugs between C++ objects and their Python wrappers",
    package_dir={"": "harness"}, packages=find_namespace_packages("harness", include=["slotfuzz*"]),
    package_data={"": ["templates/*", "*.cc", "*.h"]},
    cmdclass={"build_py": BuildWithSources},
    # `pip install -e` must keep its metadata beside the package.
    options={} if "develop" in sys.argv else options(),
    entry_points={"console_scripts": ["slotfuzz = slotfuzz.cli:main"],
                  "pytest11": ["slotfuzz = slotfuzz.pytest_plugin"]},
)
