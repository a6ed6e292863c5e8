"""The nightly run: a part that did not run is reported, and a part that fails stops no other."""

import datetime
import subprocess
import threading
import time
from pathlib import Path

import pytest

from slotfuzz.ci import nightly
from slotfuzz.ci.checkout import Answer
from slotfuzz.errors import BrokenError, MachineError
from slotfuzz.hunt import workplace
from slotfuzz.scripts import nightly as command
from slotfuzz.subject import catalogue
from tests.driver.conftest import write_program

CLEAN = {"programs": 9, "seconds": 1.0, "seed": 1, "new": [], "known": [], "unreproduced": []}


class Fake:
    """A fake checkout: each command takes SECONDS; ANSWERS has those that are not clean."""

    def __init__(self, root, clock, seconds=1.0, answers=None):
        self.root, self.clock, self.seconds, self.answers = root, clock, seconds, answers or {}
        self.asked = []

    def ask(self, *words, ok=(0, 1)):
        self.asked.append(tuple(map(str, words)))
        self.clock[0] += self.seconds
        answer = self.answers.get(words[0])
        if isinstance(answer, BaseException):
            raise answer
        if answer:
            return answer
        return Answer(0, {"hunt": CLEAN, "mutants": [{"problems": []}],
                          "bench": {"gate": {"summary": {"caught": 1, "mutants": 1}}},
                          "corpus": {"before": 9, "after": 4}}.get(words[0], {}))


@pytest.fixture
def night(tmp_path, monkeypatch):
    """Runs a night with fake scripts; returns the night."""
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path / "build"))
    monkeypatch.setattr(catalogue, "mutant_names", lambda: ["one", "two"])
    monkeypatch.setattr(catalogue, "protocol_mutant_names", lambda: ["three"])
    row = '{"protocol": "claim", "every_program": 7, "verdict": "%s"}'

    def run(budget=2000.0, verdict="verified", coverage="echo pages", sweep="echo 9 kills",
            date=datetime.date(2026, 1, 1), **fields):
        (tmp_path / "ci").mkdir(exist_ok=True)
        # The script plans two sets of operations.
        write_program(tmp_path / nightly.INTERLEAVINGS, "every() { echo '" + row % verdict
                      + "'; }\nevery claim alone wrap\nevery claim one wrap\n")
        write_program(tmp_path / "ci" / "coverage.sh", coverage + "\n")
        write_program(tmp_path / "ci" / "kills_nightly.sh", sweep + "\n")
        clock = [0.0]
        here = Fake(tmp_path, clock, **fields)
        made = nightly.Night(here, tmp_path / "out", budget, date, lambda: clock[0])
        made.run()
        return made
    return run


def part_of(night, name):
    """One part of a night that has run."""
    return next(part for part in night.parts if part.name == name)


def test_a_night_runs_each_part_and_is_clean(night):
    made = night()
    assert made.exit_code == 0 and not any(part.not_run for part in made.parts)
    assert len(part_of(made, "hunts").said) == len(nightly.SANITIZERS) * 2
    assert len(part_of(made, "interleavings").said) == 2
    *looked, last = part_of(made, "mutants").said
    assert {words.partition(":")[0] for words in looked} == {"one", "two", "three"}
    assert last.startswith("3 of 3 mutants")
    assert part_of(made, "sweeps").said == ["9 kills"]
    assert made.here.asked[-1][0] == "report"


def test_work_without_time_left_is_reported_and_not_a_success(night):
    made = night(budget=20.0, seconds=4.0)
    hunts, mutants = part_of(made, "hunts"), part_of(made, "mutants")
    assert 0 < len(hunts.said) < 6 and len(hunts.said) + len(hunts.not_run) == 6
    assert mutants.said[-1].startswith("2 of 3 mutants") and not mutants.not_run
    assert made.exit_code == 2 and "NOT RUN: hunts: hunt" in command.summary(made)


def test_a_night_without_time_for_any_mutant_says_so(night):
    made = night(budget=2.0)
    assert part_of(made, "mutants").not_run == ["3 mutants"]
    assert "NOT RUN: mutants: 3 mutants" in command.summary(made)


def test_each_night_takes_other_mutants_first(night):
    first = set()
    for day in range(1, 20):
        made = night(date=datetime.date(2026, 1, day))
        first.add(part_of(made, "mutants").said[0].partition(":")[0])
    assert first == {"one", "two", "three"}


def test_a_hunt_that_ends_early_leaves_its_time_to_the_others(night):
    made = night(budget=1000.0)
    assert part_of(made, "gate").not_run, "no time was left"
    seconds = [int(asked[asked.index("--seconds") + 1]) for asked in made.here.asked
               if asked[0] == "hunt"]
    assert seconds[0] == 67 and seconds == sorted(seconds) and seconds[-1] > 300


@pytest.mark.parametrize("answers, code, words", [
    ({"hunt": Answer(1, {**CLEAN, "new": [{}]})}, 1, "1 new"),
    ({"hunt": Answer(2, {"error": "no disk"})}, 2, "no disk"),
    ({"hunt": Answer(0, {**CLEAN, "programs": 0})}, 2, "0 programs"),
    ({"hunt": MachineError("no compiler")}, 2, "no compiler"),
    ({"hunt": BrokenError("silent oracle")}, 3, "silent oracle"),
    ({"mutants": Answer(3, [{"problems": ["not found in 9 s"]}])}, 3, "not found"),
    ({"bench": Answer(0, {"gate": {"summary": {"caught": 0, "mutants": 1}}})}, 3, "0 of 1"),
    ({"bench": Answer(1, {"gate": {"summary": {"caught": 1, "mutants": 1}}})}, 3, "harmless"),
    ({"report": MachineError("no folder")}, 2, "no folder"),
])
def test_a_failure_is_reported_and_the_other_parts_run(night, answers, code, words):
    made = night(answers=answers)
    assert made.exit_code == code and words in command.summary(made)
    assert len(made.parts) == 8 and part_of(made, "interleavings").said


@pytest.mark.parametrize("verdict, code", [("failed", 1), ("cut", 2), ("verified", 0)])
def test_an_interleaving_that_fails_is_a_finding_and_a_cut_one_is_incomplete(
        night, verdict, code):
    assert night(verdict=verdict).exit_code == code


def test_interleavings_that_were_stopped_are_counted(night, tmp_path, monkeypatch):
    until = nightly._until

    def late(process, seconds):
        out, err, _ = until(process, seconds)
        return (out, err, True) if seconds == threading.TIMEOUT_MAX else ("", "", False)
    monkeypatch.setattr(nightly, "_until", late)
    made = night()
    assert part_of(made, "interleavings").not_run == ["2 of 2 sets of operations"]
    assert made.exit_code == 2


def test_a_process_is_stopped_with_its_children_when_its_time_is_over(tmp_path):
    script = write_program(tmp_path / "slow", "echo one\nsleep 600\necho two\n")
    process = subprocess.Popen([str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, start_new_session=True)
    assert nightly._until(process, 0.5) == ("one\n", "", False)


def test_an_interrupt_stops_a_script_with_its_children(tmp_path, monkeypatch):
    script = write_program(tmp_path / "slow", "sleep 600 & echo $!\nwait\n")
    process = subprocess.Popen([str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, start_new_session=True)
    child = int(process.stdout.readline())
    monkeypatch.setattr(process, "communicate", lambda: pytest.fail("interrupted"))
    with pytest.raises(pytest.fail.Exception):
        nightly._until(process, 600)
    process.wait()
    while Path(f"/proc/{child}").exists() and "Z" not in Path(f"/proc/{child}/stat").read_text():
        time.sleep(0.01)


def test_a_failing_coverage_run_is_reported(night):
    made = night(coverage="echo no llvm-cov >&2; exit 2")
    assert made.exit_code == 2 and "no llvm-cov" in command.summary(made)


def test_a_failing_sweep_is_reported(night):
    made = night(sweep="echo 1 failed >&2; exit 1")
    assert made.exit_code == 1 and "1 failed" in command.summary(made)


def test_after_an_interrupt_only_the_report_is_made(night):
    made = night(answers={"hunt": KeyboardInterrupt()})
    assert made.interrupted and [asked[0] for asked in made.here.asked] == ["hunt", "report"]
    assert part_of(made, "mutants").not_run == ["interrupted"]


@pytest.mark.parametrize("one, other, both", [(0, 2, 2), (3, 1, 1), (1, 2, 1), (2, 3, 3)])
def test_a_finding_is_worse_than_any_failure(one, other, both):
    assert nightly.worse(one, other) == both


def test_only_kept_corpora_are_pruned(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path))
    here = Fake(Path(tmp_path), [0.0])
    assert nightly.prune(here) == []
    kept = workplace.corpus_of("core:resurrect", "tensor")
    kept.mkdir(parents=True)
    (kept / "one").write_text("")
    (row,) = nightly.prune(here)
    assert (row["subject"], row["target"], row["after"]) == ("core:resurrect", "tensor", 4)
