"""The pytest plug-in on the fake engine: which tests it collects, and when they pass."""

import pytest

from slotfuzz import paths
from slotfuzz.engine import server
from slotfuzz.errors import MachineError
from slotfuzz.hunt import hunt
from slotfuzz.hunt.plan import Result
from slotfuzz.schema.answers import DroppedLine
from slotfuzz.subject import packages, subject
from tests.driver import records
from tests.driver import replies
from tests.driver.conftest import CRASH

pytest_plugins = "pytester"
CLEAN = "t0 = T.ones(1)\n"


@pytest.fixture
def ran(pytester, fake_subject, tmp_path, monkeypatch):
    """Runs pytest in an empty folder on the fake subject, with files in corpus/storage."""
    monkeypatch.setattr(subject, "resolve", lambda *words: fake_subject)
    monkeypatch.setattr(packages, "ensure", lambda: None)
    monkeypatch.setattr(paths, "ROOT", tmp_path / "checkout")

    def run(*words, **files):
        for name, text in files.items():
            path = pytester.path / "corpus" / "storage" / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return pytester.runpytest_inprocess("-p", "slotfuzz.pytest_plugin", "-rs", *words)
    return run


STORAGE = ("--slotfuzz-target", "storage")


def test_nothing_is_collected_without_a_target(ran):
    assert ran(clean=CLEAN).ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_an_unknown_target_is_a_usage_error(ran):
    result = ran("--slotfuzz-target", "storag")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no target 'storag'*did you mean storage*"])


def test_each_program_is_a_test_that_fails_with_the_annotated_verdict(ran):
    result = ran(*STORAGE, clean=CLEAN, crash=CRASH)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*corpus/storage/crash*", "> s0 = t0.untyped_storage()",
                                 "*heap-use-after-free*"])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize("text, words", [
    ("", "*holds no program line*"), ("# nothing\n", "*holds no program line*"),
    ("t0 = T.onse(1)\n", "*line 1: `t0 = T.onse(1)` matches no op*"),
    (CLEAN + "t0 = T.onse(1)\n", "*line 2: `t0 = T.onse(1)` matches no op*"),
])
def test_a_file_with_lines_that_did_not_run_never_passes(ran, text, words):
    result = ran(*STORAGE, program=text)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([words])


def test_a_program_with_ops_that_the_subject_lacks_is_skipped(ran, monkeypatch):
    masked = replies.reply(dropped_count=1, dropped_lines=[
        DroppedLine(1, "x0 = Owner(t0)", "masked")])
    monkeypatch.setattr(server.Server, "run", lambda *words: masked)
    result = ran(*STORAGE, program="x0 = Owner(t0)\n")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*core lacks ops of 1 lines*"])


def test_findings_of_the_target_are_collected(ran, pytester):
    for name, target in ("mine", "storage"), ("other", "tensor"):
        folder = pytester.path / "repro" / name
        folder.mkdir(parents=True)
        (folder / "repro.py").write_text(CLEAN)
        (folder / "finding.json").write_text(records.finding(target=target).text())
    result = ran(*STORAGE, "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["slotfuzz-storage::repro/mine PASSED*"])


def test_tests_are_chosen_by_name(ran):
    ran(*STORAGE, "-k", "clean", clean=CLEAN, crash=CRASH).assert_outcomes(passed=1, deselected=1)


def test_a_hunt_ends_and_fails_with_its_findings(ran, tmp_path):
    result = ran(*STORAGE, "--slotfuzz-seconds", "300")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["* programs, seed *", f"  {tmp_path}/checkout/repro/*",
                                 "t0 = T.ones(*"])
    assert len(list((tmp_path / "checkout" / "repro").glob("*/repro.py"))) == 1


@pytest.mark.parametrize("numbers, passed", [
    (Result(programs=7), 1), (Result(), 0), (Result(programs=7, trouble="why"), 0),
])
def test_a_hunt_passes_only_if_it_ran(ran, monkeypatch, numbers, passed):
    monkeypatch.setattr(hunt, "run", lambda plan: numbers)
    result = ran(*STORAGE, "--slotfuzz-seconds", "1")
    result.assert_outcomes(passed=passed, failed=1 - passed)


def test_a_failed_build_runs_once_and_fails_each_test(ran, monkeypatch):
    tries = []

    def fail(*words):
        tries.append(words)
        raise MachineError("the build failed")
    monkeypatch.setattr(subject, "resolve", fail)
    result = ran(*STORAGE, one=CLEAN, two=CLEAN)
    result.assert_outcomes(failed=2)
    assert len(tries) == 1
