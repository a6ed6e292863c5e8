"""A fleet's variables, the files that are packed, and the folders that fleets read."""

import re
import subprocess
import zipfile

import pytest
import yaml

from slotfuzz import cli
from slotfuzz.ci import fleet, fleet_out
from slotfuzz.errors import MachineError, UserError
from slotfuzz.paths import ROOT, build_root
from slotfuzz.scripts import fuzz_build

FOLDERS = (".clusterfuzzlite", "ci/oss-fuzz")
# The values that OSS-Fuzz's presubmit check and ClusterFuzzLite accept.
FIELDS = {"homepage", "main_repo", "language", "base_os_version", "sanitizers", "fuzzing_engines",
          "architectures"}


def test_each_variable_has_a_default(monkeypatch):
    monkeypatch.setattr(fleet.build, "compiler", lambda: "clang++-19")
    wish = fleet.wish_of({})
    assert (wish.compiler, wish.sanitizer, wish.engine) == ("clang++-19", "address", "libfuzzer")
    assert "-fsanitize=address" in wish.flags and "fuzzer-no-link" in wish.flags
    assert "undefined" not in wish.flags, "a fleet refuses a build with two sanitizers"
    assert wish.engine_link == "-fsanitize=fuzzer" and wish.out == build_root() / "fuzz-out"


def test_variables_of_a_fleet_are_used_unchanged():
    wish = fleet.wish_of({
        "CXX": "/x/clang++", "CFLAGS": "-c-flags", "CXXFLAGS": "-cxx-flags", "OUT": "/out",
        "LIB_FUZZING_ENGINE": "/x/engine.a", "SANITIZER": "undefined",
        "FUZZING_ENGINE": "centipede", "WORK": "/work"})
    assert (wish.compiler, wish.flags, wish.engine_link) == ("/x/clang++", "-cxx-flags",
                                                             "/x/engine.a")
    assert (str(wish.out), str(wish.folder)) == ("/out", "/work/fleet-undefined-centipede")


def test_without_cxxflags_cflags_are_used():
    assert fleet.wish_of({"CFLAGS": "-O0", "CXX": "clang++"}).flags == "-O0"


@pytest.mark.parametrize("sanitizer", sorted(fleet.SANITIZER_FLAGS))
def test_only_a_fuzzing_build_counts_edges(sanitizer):
    flags = fleet.wish_of({"SANITIZER": sanitizer, "CXX": "clang++"}).flags
    assert ("fuzzer-no-link" in flags) == (sanitizer != "coverage")


@pytest.mark.parametrize("variables, words", [
    ({"SANITIZER": "memory"}, "MemorySanitizer would need an instrumented CPython"),
    ({"SANITIZER": "adress"}, "did you mean address?"),
    ({"ARCHITECTURE": "i386"}, "no cross builds"),
    ({"FUZZING_ENGINE": "honggfuzz"}, "needs LIB_FUZZING_ENGINE"),
])
def test_a_build_that_is_not_possible_is_an_error(variables, words):
    with pytest.raises(UserError, match=re.escape(words)):
        fleet.wish_of({"CXX": "clang++", **variables})


@pytest.mark.parametrize("arguments, words", [
    (["storge"], "did you mean storage"), (["--mutant", "hermetic"], "no mutant 'hermetic'"),
])
def test_an_unknown_name_is_an_error(arguments, words, capsys):
    assert cli.script(fuzz_build.NAME, fuzz_build, arguments) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("name", ["seed.py", "seed_without_a_suffix"])
def test_seeds_of_any_name_are_packed(name, tmp_path):
    (tmp_path / name).write_text("a seed")
    (tmp_path / ".hidden").write_text("none")
    fleet_out._zip(tmp_path / "seeds.zip", fleet_out._files(tmp_path))
    with zipfile.ZipFile(tmp_path / "seeds.zip") as archive:
        assert [(one, archive.read(one)) for one in archive.namelist()] == [(name, b"a seed")]


def test_a_target_whose_library_is_missing_is_not_packed(tmp_path, monkeypatch):
    monkeypatch.setattr(fleet_out, "_linked", lambda path: {"libgone.so.1": None})
    with pytest.raises(MachineError, match="needs libgone.so.1"):
        fleet_out._libraries(tmp_path, [tmp_path / "target"], needed=True)


@pytest.mark.parametrize("folder", FOLDERS)
def test_project_file_has_the_fields_that_the_fleet_reads(folder):
    project = yaml.safe_load((ROOT / folder / "project.yaml").read_text())
    assert project["language"] == "c++" and set(project) <= FIELDS
    for sanitizer in project.get("sanitizers", []):
        for engine in project.get("fuzzing_engines", []):
            fleet.wish_of({"CXX": "clang++", "SANITIZER": sanitizer, "FUZZING_ENGINE": engine})


@pytest.mark.parametrize("folder", FOLDERS)
def test_dockerfile_brings_the_checkout_and_the_script_that_builds_it(folder):
    project = yaml.safe_load((ROOT / folder / "project.yaml").read_text())
    text = (ROOT / folder / "Dockerfile").read_text().replace("\\\n", "")
    words = [line.split() for line in text.splitlines() if line and line[0] != "#"]
    assert words[0] == ["FROM", f"gcr.io/oss-fuzz-base/base-builder:{project['base_os_version']}"]
    copied = [line for line in words if line[0] == "COPY" and line[-1] == "$SRC/"]
    assert len(copied) == 1 and copied[0][1].rpartition("/")[2] == "build.sh"
    if "main_repo" in project:
        assert f"git clone --depth 1 {project['main_repo']} $SRC/slotfuzz" in text
    else:
        assert ["COPY", ".", "$SRC/slotfuzz"] in words
    installed = next(line for line in text.splitlines() if "apt-get install" in line)
    assert installed.index("apt-get update") < installed.index("apt-get install")


@pytest.mark.parametrize("folder", FOLDERS)
def test_build_script_of_a_fleet_calls_ours_with_its_python(folder, tmp_path):
    script = ROOT / folder / "build.sh"
    ours = tmp_path / "slotfuzz" / "ci" / "fuzz_build.sh"
    ours.parent.mkdir(parents=True)
    ours.write_text('#!/bin/sh\necho "built with $SLOTFUZZ_PYTHON"\n')
    ours.chmod(0o755)
    told = subprocess.run(["bash", "-eux", script], env={"SRC": str(tmp_path), "PATH": "/usr/bin"},
                          capture_output=True, text=True, check=True)
    assert told.stdout == "built with /usr/local/bin/python3\n"
