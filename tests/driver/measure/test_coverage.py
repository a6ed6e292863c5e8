"""Coverage of the core by file, merged over all instances of a function."""

import pytest

from slotfuzz.errors import BrokenError, UserError
from slotfuzz.measure import coverage
from slotfuzz.paths import ROOT
from slotfuzz.subject import catalogue
from tests.driver.conftest import write_program


def function(name, count, *regions, file="core/c10/a.cc"):
    """A function of llvm-cov's export; REGIONS are (first line, last line, count)."""
    return {"name": name, "count": count, "filenames": [file], "regions": [
        [first, 1, last, 9, times, 0, 0, coverage.CODE_REGION] for first, last, times in regions]}


def files(*functions):
    """The files of an export with FUNCTIONS, whose names are not mangled."""
    return coverage.files({"functions": list(functions)}, {})


def test_a_function_that_was_not_called_is_named_with_its_place():
    (one,) = files(function("called", 3, (1, 4, 3)), function("silent", 0, (6, 9, 0)))
    assert coverage.unreached([one]) == ["core/c10/a.cc:6  silent"]
    assert one.row() == {"file": "core/c10/a.cc", "lines": 8, "reached": 4, "functions": 2,
                         "functions reached": 1}


def test_lines_in_a_function_that_was_called_are_named_as_ranges():
    found = files(function("called", 3, (1, 9, 3), (3, 4, 0), (7, 7, 0)))
    assert coverage.unreached(found) == ["core/c10/a.cc:3-4  in called",
                                         "core/c10/a.cc:7  in called"]


def test_a_template_is_reached_if_one_instance_was_called():
    found = files(function("both", 0, (1, 4, 0)), function("both", 2, (1, 4, 2)))
    assert coverage.unreached(found) == []


def test_instances_of_a_template_are_one_function_with_a_demangled_name():
    (one,) = files(function("_ZN1aILm2EE", 0, (1, 4, 0)), function("a", 0, (1, 4, 0)))
    assert coverage.unreached([one]) == ["core/c10/a.cc:1  a"] and len(one.functions) == 1


def test_files_outside_the_core_are_left_out():
    (one,) = files(function("a", 1, (1, 2, 1)), function("b", 0, (5, 6, 0), file="/usr/x.h"),
                   function("c", 1, (3, 4, 1), file=f"{ROOT}/core/c10/a.cc"))
    assert one.name == "core/c10/a.cc" and len(one.functions) == 2


@pytest.fixture
def binary(tmp_path):
    """A target that is a shell script."""
    return lambda text: write_program(tmp_path / "build" / "targets" / "storage", text)


def test_a_corpus_that_fails_is_an_error(binary, tmp_path):
    with pytest.raises(BrokenError, match="ends with 7 on corpus/storage"):
        coverage.run_corpora({"core storage": binary("exit 7\n")}, tmp_path)


def test_a_run_without_a_profile_is_an_error(binary, tmp_path):
    with pytest.raises(BrokenError, match="no profile"):
        coverage.run_corpora({"core storage": binary("exit 0\n")}, tmp_path)


def test_seeds_and_the_default_corpus_are_run_and_counted(binary, tmp_path, monkeypatch):
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path))
    kept = tmp_path / "corpus" / "core" / "storage"
    kept.mkdir(parents=True)
    (kept / "one").write_text("")
    program = binary('echo "$@" > "$LLVM_PROFILE_FILE"\n')
    (row,) = coverage.run_corpora({"core storage": program}, tmp_path)
    assert row["files"] == 1 + len(list((ROOT / "corpus" / "storage").iterdir()))
    words = (tmp_path / "core-storage.profraw").read_text().split()
    assert words[-2:] == [str(ROOT / "corpus" / "storage"), str(kept)] and "-runs=0" in words


def test_a_target_without_a_corpus_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path))
    with pytest.raises(UserError, match="no_such_target has no corpus"):
        coverage.run_corpora({"core no_such_target": tmp_path / "targets" / "x"}, tmp_path)


def test_each_protocol_has_schedules_to_run():
    assert all((ROOT / "corpus" / name).is_dir() for name in catalogue.protocol_names())
