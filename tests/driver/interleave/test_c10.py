"""interleave --subject c10 with a fake target: bad input, verdicts, minimizing, known findings."""

import json
import re

import pytest

from tests.driver.conftest import ROOT, write_program
from slotfuzz import cli
from slotfuzz.errors import UserError
from slotfuzz.interleave import c10, c10_input, c10_repro
from slotfuzz.interleave.c10_input import Plan
from slotfuzz.subject.subjects import c10 as libtorch

# A fake target. Its weak-claim fails if two threads wrap and the first choice is not 0, its load
# dies of a signal, and its claim is clean. A hunt saves an input that is larger than necessary.
FAKE = r'''
import sys
OPS = {"claim": ["wrap", "release"], "weak-claim": ["wrap", "release"], "load": ["tag", "ask"]}
flags = [word for word in sys.argv[1:] if word.startswith("-")]
files = [word for word in sys.argv[1:] if not word.startswith("-")]
values = dict(flag.partition("=")[::2] for flag in flags)
if "--describe" in flags:
    import json
    print(json.dumps({"scenarios": [{"name": name, "sentence": "of " + name, "ops": ops}
                                    for name, ops in OPS.items()]}))
    sys.exit(0)
name = values["--scenario"]

def show(words, threads, schedule):
    print(f"c10: {name}: {words}", file=sys.stderr)
    for number, ops in enumerate(threads):
        print(f"  thread {number}:", *ops, file=sys.stderr)
    print("  schedule:", *(f"{byte:02x}" for byte in schedule), file=sys.stderr)

def run(data):
    rest = list(data)
    take = lambda: rest.pop(0) if rest else 0
    threads = [[OPS[name][take() % 2] for _ in range(take() % 5)] for _ in range(2 + take() % 2)]
    if "--explain" in flags:
        show("runs", threads, rest)
        for number, words in (1, "load acquire sees 0"), (0, "store relaxed writes 99"):
            if threads[number]:
                print(f"  step: thread {number} line 1 pointer 0x10 {words}", file=sys.stderr)
    if name == "load" and any("ask" in ops for ops in threads):
        print("== ERROR: libFuzzer: deadly signal\n    #6 c10::f() const <null> (lib+0x1)\nNOTE: "
              "libFuzzer has", file=sys.stderr)
        sys.exit(77)
    if name == "weak-claim" and sum("wrap" in ops for ops in threads) > 1 and any(rest[:1]):
        show("T2: two interpreters have the tag", threads, rest)
        sys.exit(77)

if files:
    for file in files:
        print("Running:", file, file=sys.stderr)
        run(open(file, "rb").read())
    sys.exit(0)
print("#2 INITED cov: 1\nstat::number_of_executed_units: 42", file=sys.stderr)
saved = {"claim": None, "weak-claim": b"\x03\x02\x00\x01\x02\x00\x00\x01\x00\x07\x05\x09",
         "load": b"\x00\x02\x00\x01\x00"}[name]
if saved:
    with open(values["-artifact_prefix"] + "crash-1", "wb") as out:
        out.write(saved)
    run(saved)
'''


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The root folder of a machine with libtorch's headers and the fake target."""
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path / "build"))
    fake = tmp_path / "fake.py"
    fake.write_text(FAKE)
    target = write_program(tmp_path / "c10", f'exec /usr/bin/python3 {fake} "$@"\n')
    header = tmp_path / libtorch.HEADER
    header.parent.mkdir(parents=True)
    header.write_text("// a header\n")
    monkeypatch.setattr(libtorch, "ROOT_FOLDER", tmp_path)
    monkeypatch.setattr(c10.Place, "binary", lambda *_: str(target))
    monkeypatch.setattr(c10, "REPLAYS", 3)
    return tmp_path


def run(*words):
    """The command's exit code."""
    return cli.main(["interleave", "--subject", "c10", *words])


def rows_of(capsys):
    """The rows of the JSON document."""
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("words, said", [
    (["clam"], "no model 'clam' of c10; did you mean claim"),
    (["claim", "--engine", "model"], "--engine is for the core's protocols"),
    (["claim", "--threads", "3"], "--threads is for the core's protocols"),
    (["claim", "--seconds", "0"], "--seconds must be more than 0"),
    (["claim", "--seconds", "nan"], "--seconds must be more than 0"),
    (["claim", "--seed", "x"], "--seed takes a number"),
    (["claim", "--times", "0"], "--times must be more than 0"),
    (["--schedule", "b594"], "--schedule is for one model"),
    (["claim", "--schedule", "xyz"], "not hex"),
    (["claim", "--schedule", "0000"], "belongs to no model of c10"),
    (["claim", "--schedule", c10_input.schedule_text("weak-claim", b"")], "belongs to weak-claim"),
    (["claim", "--schedule", c10_input.schedule_text("claim", bytes(65))], "at most 64"),
    (["claim", "--rootfs", "/nonexistent"], "is not a tree; make one with ci/torch_rootfs.sh"),
])
def test_bad_input_is_named(words, said, installed, capsys):
    assert run(*words) == 2
    assert said in capsys.readouterr().err


def test_without_libtorch_it_says_what_to_install(installed, capsys):
    (installed / libtorch.HEADER).unlink()
    assert run("claim") == 2
    assert "apt-get install libtorch-dev" in capsys.readouterr().err


def test_hunt_with_this_subject_names_the_right_command(capsys):
    assert cli.main(["hunt", "--subject", "c10"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "./slotfuzz interleave --subject c10" in line


def test_a_clean_model_is_a_row_of_each_sanitizer(installed, capsys):
    assert run("claim", "--json") == 0
    rows = rows_of(capsys)
    assert [row["sanitizer"] for row in rows] == ["thread", "address"]
    assert all(row["verdict"] == "clean" and row["executions"] == 42 for row in rows)


def test_a_finding_is_small_replayed_and_written(installed, tmp_path, capsys):
    assert run("weak-claim", "--json", "--out", str(tmp_path / "out")) == 1
    for row in rows_of(capsys):
        failure = row["failure"]
        assert failure["message"] == "T2: two interpreters have the tag"
        assert (failure["threads"], failure["schedule_bytes"]) == ([["wrap"], ["wrap"]], "01")
        assert failure["one_minimal"] and failure["saved_bytes"] == 12
        assert failure["replays_failed"] == failure["replays"] == 3
        assert failure["known"].endswith("two_winners.cc") and failure["documented"] == ""
        assert [(step["line"], step["value"]) for step in failure["table"]] == [
            ("1 wrap", "sees 0"), ("1 wrap", "writes &2")]
        text = (tmp_path / "out" / f"c10-weak-claim-{row['sanitizer']}.cc").read_text()
        assert "0x00, 0x01, 0x00, 0x01, 0x00, 0x01" in text and "--scenario=weak-claim" in text


def test_a_printed_schedule_fails_again(installed, capsys):
    run("weak-claim", "--json")
    schedule = rows_of(capsys)[0]["failure"]["schedule"]
    assert run("weak-claim", "--schedule", schedule, "--times", "5", "--json") == 1
    assert all(row["failure"]["replays_failed"] == 5 for row in rows_of(capsys))
    clean = c10_input.schedule_text("weak-claim", b"")
    assert run("weak-claim", "--schedule", clean) == 0


def test_a_signal_names_the_function_of_libtorch(installed, capsys):
    assert run("load") == 1
    out = capsys.readouterr().out
    assert "finding (known): signal in c10::f" in out and "load_untagged.cc" in out
    assert "thread 0: ask\n" in out


def test_a_target_that_runs_nothing_is_not_clean(installed, monkeypatch, capsys):
    silent = write_program(installed / "silent", 'case "$1" in --describe) exec "$0.real" "$@";;'
                           " esac\necho 'FATAL: unexpected memory mapping' >&2\nexit 66\n")
    (installed / "silent.real").symlink_to(installed / "c10")
    monkeypatch.setattr(c10.Place, "binary", lambda *_: str(silent))
    assert run("claim") == 2
    assert "unexpected memory mapping" in capsys.readouterr().err


@pytest.mark.parametrize("sentence, documented", [
    ("Fine. A disarm() that is concurrent\n // will trigger TSAN.  My hope.", True),
    ("A disarm() is safe.", False),
])
def test_a_failure_is_documented_if_the_installed_header_says_so(sentence, documented, tmp_path):
    header = tmp_path / "c10/core/impl/PyInterpreter.h"
    header.parent.mkdir(parents=True)
    header.write_text(f"  // {sentence}\n")
    found = c10_repro.known("disarm", "a data race", tmp_path)
    assert found["known"].endswith("disarm_race.cc")
    said = "c10/core/impl/PyInterpreter.h: A disarm() that is concurrent will trigger TSAN."
    assert found["documented"] == (said if documented else "")


def test_another_failure_of_a_known_scenario_is_new(tmp_path):
    assert c10_repro.known("disarm", "hang", tmp_path)["known"] == ""
    assert c10_repro.known("claim", "a data race", tmp_path)["known"] == ""


def test_each_known_program_names_a_scenario_and_how_to_build_it():
    sources = "".join(path.read_text() for path in (ROOT / "targets" / "c10").glob("*.cc"))
    paths = list(c10_repro.REPROS.glob("*.cc"))
    assert paths
    for path in paths:
        text = path.read_text()
        assert c10_repro.BUILD.search(text), path
        for scenario, _ in c10_repro.SHOWS.findall(text):
            assert f'return {{"{scenario}",' in sources
        assert c10_repro.SHOWS.search(text), path


def test_the_printed_plan_is_the_encoded_one():
    plan = Plan((("wrap", "lock"), (), ("lock",)), b"\x01\x02")
    assert plan.encode(["wrap", "lock"]) == b"\x01\x02\x00\x01\x00\x01\x01\x01\x02"
    text = ("c10: x: runs\n  thread 0: lock\n  thread 1: lock\n  schedule: 07\n"
            "c10: x: wrong\n  thread 0: wrap lock\n  thread 1:\n  thread 2: lock\n"
            "  schedule: 01 02\n")
    assert c10_input.printed(text) == plan


def test_every_smaller_plan_is_smaller():
    plan = Plan((("wrap", "lock"), (), ("lock",)), b"\x02\x00\x01")

    def size(one):
        return len(one.encode(["wrap", "lock"])), sum(one.schedule)

    assert all(size(one) < size(plan) for one in c10_input.smaller(plan))
    assert len(set(c10_input.smaller(plan))) >= 1 + 3 + 3


def test_a_schedule_is_read_back():
    data = bytes(range(20))
    text = c10_input.schedule_text("claim", data)
    assert c10_input.schedule_bytes(text, "claim", ["claim", "counts"]) == data
    with pytest.raises(UserError):
        c10_input.schedule_bytes(text, "counts", ["claim", "counts"])


def test_the_marks_of_all_scenarios_differ():
    sources = "".join(path.read_text() for path in (ROOT / "targets" / "c10").glob("*.cc"))
    names = set(re.findall(r'return \{"([\w-]+)",', sources))
    assert len(names) >= 5
    assert len({c10_input.schedule_text(name, b"") for name in names}) == len(names)


def test_a_report_has_no_frames_of_the_scheduler():
    text = ("noise\nWARNING: ThreadSanitizer: data race (pid=1)\n"
            "    #0 c10::f() a.h:1 (c10+0x1) (BuildId: 00ff)\n"
            "    #1 operator() harness/interleave/fibre/fibre.cc:1\n"
            "SUMMARY: ThreadSanitizer: data race\nmore\n")
    assert c10.report_of(text) == ("WARNING: ThreadSanitizer: data race (pid=1)\n"
                                   "    #0 c10::f() a.h:1 (c10+0x1)")


@pytest.mark.parametrize("code, text, message", [
    (0, "c10: claim: runs", None),
    (77, "c10: claim: runs\nc10: claim: T1: lost", "T1: lost"),
    (None, "", "hang"),
    (1, "x.h:1: runtime error: bad\n    #0 0x1 in c10::g(int) x.h:1",
     "sanitizer undefined-behavior in c10::g"),
    (9, "something unknown", "exit 9"),
])
def test_a_failure_is_named_by_the_most_precise_message(code, text, message):
    found = c10.outcome(code, text)
    assert (found.message if found else None) == message
