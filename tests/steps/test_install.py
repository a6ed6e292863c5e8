"""Tests slotfuzz installed by pip with Debian's packages only. Takes 40 s, mostly to compile."""

import os
import subprocess

import pytest

from slotfuzz.paths import ROOT
from tests.steps.run import run

PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Runs a program of a fresh virtual environment in an empty folder, with its own cache."""
    place = tmp_path_factory.mktemp("installed")
    before = sorted(os.listdir(ROOT)), sorted(os.listdir(ROOT / "harness"))
    run("/usr/bin/python3", "-m", "venv", "--system-site-packages", place / "environment")
    run(place / "environment/bin/pip", "install", "--no-index", ROOT)
    assert (sorted(os.listdir(ROOT)), sorted(os.listdir(ROOT / "harness"))) == before
    here = place / "here"
    here.mkdir()

    def call(name, *words, ok=(0,)):
        inherited = {key: value for key, value in os.environ.items()
                     if key not in ("PYTHONPATH", "SLOTFUZZ_BUILD")}
        result = subprocess.run(
            [place / "environment/bin" / name, *words], cwd=here, capture_output=True, text=True,
            check=False, env={**inherited, "XDG_CACHE_HOME": str(place / "cache")})
        assert result.returncode in ok, result.stdout + result.stderr
        return result.stdout
    call.place = place
    return call


def test_the_command_exists_and_prints_its_name(installed):
    assert "usage: slotfuzz COMMAND" in installed("slotfuzz")
    assert installed("slotfuzz", "ops", "--markdown") == (ROOT / "docs/ops.md").read_text()
    assert not (installed.place / "cache").exists()


def test_a_finding_names_the_installed_commit(installed):
    commit = run("git", "-C", ROOT, "rev-parse", "--short", "HEAD").strip()
    script = "from slotfuzz.triage import versions; print(versions.own_version())"
    told = installed("python", "-c", script)
    assert told.strip() == f"0.1+g{commit}"


def test_all_files_of_the_driver_are_installed(installed):
    (module,) = (installed.place / "environment").glob("lib/*/site-packages/slotfuzz")

    def files(folder):
        return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()
                and "__pycache__" not in path.parts and "_source" not in path.parts}
    assert files(module) == files(ROOT / "harness" / "slotfuzz")


def test_the_build_is_in_the_cache_folder(installed):
    told = installed("slotfuzz", "interleave", "disarm")
    assert "disarm" in told and "failed" not in told
    (folder,) = (installed.place / "cache" / "slotfuzz").iterdir()
    assert (folder / "plain" / "targets" / "disarm").exists()


def test_the_state_machine_can_be_imported_anywhere(installed):
    told = installed("python", "-c", "import slotfuzz.stateful as s; print(s.machine, s.__file__)")
    assert str(installed.place) in told


def test_pytest_knows_the_plug_in(installed):
    told = installed("python", *PYTEST, "--collect-only", "--slotfuzz-target", "storage")
    seeds = len(list((ROOT / "corpus" / "storage").glob("*.py")))
    assert told.count("slotfuzz-storage::slotfuzz/corpus/storage/") == seeds > 0
    assert "no tests" in installed("python", *PYTEST, ok=(5,))
