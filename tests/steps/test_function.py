"""`hunt --function`: right functions pass each check, each wrong one fails the check for it."""

import json
from pathlib import Path

import pytest

from slotfuzz import cli
from slotfuzz.engine.server import Server
from slotfuzz.errors import UserError
from slotfuzz.finding import finding
from slotfuzz.hunt import first_calls
from slotfuzz.subject import subject, tested

FILE = Path(__file__).with_name("tested_functions.py")
TARGET = "autograd"
CHECKS = {"check_tested_gradient", "check_tested_twice", "check_tested_freed",
          "check_tested_references", "check_tested_nested", "check_tested_threads"}
CALLS = {"Square": {"tested_one", "tested_first"}, "thirds": {"tested_three"},
         "Product": {"tested_two", "tested_first_of_two"}}


def subject_of(name):
    """The core without a sanitizer, with the function NAME."""
    return subject.resolve("core", "none", [TARGET], function=tested.read(f"{FILE}:{name}"))


@pytest.mark.parametrize("name", CALLS)
def test_a_right_function_is_called_and_checked_by_all_its_ops(name):
    chosen = subject_of(name)
    ran, failed = first_calls.check(chosen, TARGET)
    assert set(ran) == CALLS[name] | CHECKS and not failed
    with Server(chosen, TARGET) as server:
        for check in CHECKS:
            reply = server.run(f"{check}()\n")
            assert len(reply.lines) == 1 and not reply.is_finding, (check, reply.message)


@pytest.mark.parametrize(("name", "check", "number"), [
    ("Wrong", "check_tested_gradient", "A7"),
    ("Once", "check_tested_twice", "A2a"),
    ("Keeping", "check_tested_freed", "A4a"),
    ("Hoarding", "check_tested_references", "A9"),
    ("Shared", "check_tested_nested", "A5d"),
    ("Shared", "check_tested_threads", "A5b"),
])
def test_a_wrong_function_fails_the_check_for_it(name, check, number):
    with Server(subject_of(name), TARGET) as server:
        reply = server.run(f"{check}()\n")
        assert (reply.kind, reply.contract, reply.check) == ("exception", number, check)
        others = {other for other in CHECKS - {check} if server.run(f"{other}()\n").contract
                  not in ("", "P5")}
        assert len(others) <= (name == "Shared")


def test_a_function_that_no_op_can_call_is_an_error_with_its_words():
    with pytest.raises(UserError, match=r"t1 = tested\(t0\) raises ValueError: only matrices"):
        first_calls.check(subject_of("raising"), TARGET)


def test_a_function_that_never_returns_is_an_error():
    with pytest.raises(UserError, match=r"t1 = tested\(t0\) does not return"):
        first_calls.check(subject_of("endless"), TARGET)


def test_a_hunt_writes_a_finding_that_runs_from_its_folder(tmp_path, capsys):
    out = tmp_path / "out"
    code = cli.main(["hunt", "--function", f"{FILE}:Wrong", "--sanitizer", "none", "--runs", "5000",
                     "--seed", "1", "--stop-at-first", "--out", str(out), "--corpus",
                     str(tmp_path / "corpus"), "--json"])
    assert code == 1
    (new,) = json.loads(capsys.readouterr().out)["new"]
    folder = Path(new["folder"])
    record = finding.read(folder)
    assert record.contract == "A7" and record.rate == 1
    assert record.versions["function"] == "tested_functions.py:Wrong"
    assert (folder / FILE.name).read_text() == FILE.read_text()
    moved = folder.rename(tmp_path / "moved")
    assert cli.main(["replay", str(moved / "repro.py")]) == 1
    assert "contract A7" in capsys.readouterr().out
    assert not finding.known([out], subject.resolve("core", "none", [TARGET]))


def test_an_import_that_fails_is_the_users_error(tmp_path, capsys):
    (tmp_path / "mine.py").write_text("import slotcore\ndef (\n")
    code = cli.main(["hunt", "--function", f"{tmp_path}/mine.py:F", "--sanitizer", "none",
                     "--out", str(tmp_path / "out")])
    assert code == 2
    assert "the function under test, of mine.py: SyntaxError" in capsys.readouterr().err
