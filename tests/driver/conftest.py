"""Fixtures of the driver's tests: a subject whose binaries are the fakes in this folder."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# A program that crashes the fake engine, in its last line.
CRASH = ("t0 = T.ones(1)\ns0 = t0.untyped_storage()\nenter_hermetic()\ndel s0\nexit_hermetic()\n"
         "s0 = t0.untyped_storage()\n")
# The smallest program that does.
MINIMAL = ["t0 = T.ones(1)", "s0 = t0.untyped_storage()", "enter_hermetic()", "del s0",
           "t0.untyped_storage()"]
sys.path.insert(0, str(ROOT / "harness"))

from slotfuzz.subject import subjects  # noqa: E402
from slotfuzz.subject.subject import Subject  # noqa: E402

RELEASED = """\
\"""The core as an installed PyTorch would be: of a release, with many bugs, without a trace.\"""
from dataclasses import replace
from slotfuzz.subject.subjects import core
CAPABILITIES = replace(core.CAPABILITIES, names=("released",), release_key="released",
                       has_many_bugs=True, is_imported_slowly=True, trace_variable="")
"""


def write_program(path: Path, text: str) -> Path:
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


@pytest.fixture
def fake_subject(tmp_path, monkeypatch):
    """The subject `core` on the fake engine, with a build folder of its own."""
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path / "build"))
    folder = tmp_path / "binaries"
    write_program(folder / "targets" / "storage",
                  f'PYTHONPATH={HERE}:{ROOT} exec /usr/bin/python3 {HERE}/fake_engine.py "$@"\n')
    modules = tmp_path / "modules"
    modules.mkdir()
    os.symlink(HERE / "fake_slotcore.py", modules / "slotcore.py")
    python = write_program(folder / "slotpython",
                           f'PYTHONPATH={modules} exec /usr/bin/python3 "$@"\n')
    return Subject("core", "address", "address", folder, str(python))


@pytest.fixture
def add_subject(tmp_path, monkeypatch):
    """Adds the file of a subject, by its name and text, to those in subjects/, for one test."""
    folder = tmp_path / "subjects"
    folder.mkdir()
    monkeypatch.setattr(subjects, "__path__", [*subjects.__path__, str(folder)])

    def add(name: str, text: str) -> None:
        monkeypatch.delitem(sys.modules, f"{subjects.__name__}.{name}", raising=False)
        (folder / f"{name}.py").write_text(text)
    return add


@pytest.fixture
def released_subject(fake_subject, add_subject):
    """The subject `released` on the fake engine."""
    add_subject("released", RELEASED)
    return replace(fake_subject, name="released", versions={"released": "2.6.0"})
