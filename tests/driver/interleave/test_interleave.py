"""The command interleave with fake binaries: bad input, verdicts, and the written programs."""

import argparse
import json

import pytest

from tests.driver.conftest import write_program
from slotfuzz import cli
from slotfuzz.commands import interleave as command
from slotfuzz.errors import BrokenError, MachineError, UserError
from slotfuzz.interleave import binaries, interleave_repro
from slotfuzz.subject import catalogue
from slotfuzz.schema import schedules, shape

FAILED = {
    "protocol": "counts", "engine": "model", "threads": 2, "shape": "lent",
    "programs": "adopt;borrow", "executions": 4, "graphs": 3, "bound": 1, "seconds": 0.001,
    "verdict": "failed", "failure": {
        "kind": "check", "contract": "P2", "message": "a wrapper that is referred to lives",
        "table": [{"step": 7, "thread": 1, "line": "1 borrow", "location": "slot",
                   "operation": "load acquire", "value": "sees 0", "stale": True,
                   "note": "a newer store was there"}],
        "schedule": "e1010205010d010e000000000001", "schedule_bytes": "000000000001", "bytes": 6}}


@pytest.fixture
def fake_binaries(tmp_path, monkeypatch):
    """A function that makes all binaries print a document and end with a code."""
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path / "build"))

    def answer(document, code=0, stderr=""):
        text = document if isinstance(document, str) else json.dumps(document)
        path = write_program(tmp_path / "binary", f'echo "$@" >>{tmp_path}/calls\n'
                             f"cat <<'EOF'\n{text}\nEOF\necho '{stderr}' >&2\nexit {code}\n")
        monkeypatch.setattr(binaries, "binary", lambda *_: path)
        return tmp_path / "calls"

    return answer


def run(*words):
    """The command's exit code."""
    return cli.main(["interleave", *words])


@pytest.mark.parametrize("words, said", [
    (["clam"], "did you mean claim"),
    (["--subject", "mutant:no-such"], "no mutant 'no-such' of a protocol"),
    (["--subject", "torch"], "no subject 'torch' here"),
    (["--schedule", "c101"], "--schedule and --programs are for one model"),
    (["--seconds", "0"], "--seconds must be more than 0"),
])
def test_bad_input_is_named(words, said, fake_binaries, capsys):
    fake_binaries({})
    assert run(*words) == 2
    assert said in capsys.readouterr().err


def test_an_input_that_the_binary_rejects_is_a_user_error(fake_binaries, capsys):
    fake_binaries("", 2, "slotfuzz: --threads=100: claim has 1 to 8 threads")
    assert run("claim", "--threads", "100") == 2
    assert capsys.readouterr().err == "slotfuzz: --threads=100: claim has 1 to 8 threads\n"


def test_a_cut_search_is_not_verified(fake_binaries, capsys):
    fake_binaries({**FAILED, "verdict": "cut", "failure": None})
    assert run("counts", "--executions", "10") == 0
    out = capsys.readouterr().out
    assert "cut" in out and "verified" not in out


def test_all_models_by_default(fake_binaries, capsys):
    calls = fake_binaries({**FAILED, "verdict": "verified", "failure": None})
    assert run("--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["verdict"] for row in rows] == ["verified"] * len(catalogue.protocol_names())
    assert "--threads=7" in calls.read_text() and "--threads=3" in calls.read_text()


def test_a_failure_is_shown_replayed_and_written(fake_binaries, tmp_path, capsys):
    fake_binaries({**FAILED, "times": 100, "failures": 100}, 1)
    assert run("counts", "--programs", "adopt;borrow", "--out", str(tmp_path / "out")) == 1
    out = capsys.readouterr().out
    assert "stale" in out and "6 bytes of choices (000000000001)" in out
    assert "fails 100 of 100 times" in out
    text = (tmp_path / "out" / "counts-core-model.cc").read_text()
    assert "const Schedule schedule{0, 0, 0, 0, 0, 1};" in text


def test_a_failure_of_the_fakes_has_the_schema():
    assert shape.wrong_as(FAILED["failure"], schedules.Failure) == ""
    assert schedules.words_of(FAILED["failure"]) == "check: P2: a wrapper that is referred to lives"


def test_a_crash_is_a_failure(fake_binaries, capsys):
    fake_binaries("", 139, "AddressSanitizer: SEGV")
    assert run("claim", "--json") == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert row["failure"]["kind"] == "crash" and "SEGV" in row["failure"]["report"]
    assert shape.wrong_as(row["failure"], schedules.Failure) == ""


def test_a_written_program_has_the_plan_of_the_schedule():
    text = interleave_repro.text_of(FAILED, "mutant:some-mutant", "name.cc")
    assert "plan.threads = 2;" in text and "plan.shape = 5;  // lent" in text
    assert " plan.add(0, 13);  // thread 0: adopt" in text
    assert "CountsScenario<ModelPolicy>" in text
    assert "ci/apply_mutant.sh . mutants/some-mutant.patch build/mutated" in text
    assert all(len(line) <= 100 for line in text.splitlines() if not line.startswith("//"))


def test_reports_are_cut_to_the_last():
    text = "WARNING: ThreadSanitizer: first\n====\nWARNING: ThreadSanitizer: last\n  #0 f\n===="
    assert binaries._report(text) == "WARNING: ThreadSanitizer: last\n  #0 f"


@pytest.mark.parametrize("program, scenario", [
    ("golden 3", binaries.Scenario("claim", threads=3)),
    ("two: wrap,die;wrap", binaries.Scenario("claim", "two", "wrap,die;wrap")),
])
def test_a_mutants_header_says_the_scenario(program, scenario, monkeypatch):
    header = argparse.Namespace(target="claim", program=(program,))
    monkeypatch.setattr(binaries.mutant, "read_header", lambda _: header)
    assert binaries.mutant_scenario("any") == scenario


def test_a_mutants_header_without_a_scenario_is_broken(monkeypatch):
    header = argparse.Namespace(target="claim", program=("wrap",))
    monkeypatch.setattr(binaries.mutant, "read_header", lambda _: header)
    with pytest.raises(BrokenError):
        binaries.mutant_scenario("any")


def test_an_unknown_engine_is_an_error():
    parser = cli.parser_of("./slotfuzz interleave", command)
    with pytest.raises(UserError):
        parser.parse_args(["--engine", "loom"])


def test_a_binary_that_something_outside_kills_is_a_machine_error(tmp_path, capsys):
    killed = write_program(tmp_path / "claim", "kill -9 $$\n")
    with pytest.raises(MachineError, match="was killed"):
        binaries.ask(killed, [])
    assert capsys.readouterr().err.count("claim was killed") == 5
