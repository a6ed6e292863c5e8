"""The series of a hunt: reading gives what was written, also after a kill -9, and it is short."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from slotfuzz.hunt import hunt, series
from slotfuzz.hunt.plan import Plan, Result
from slotfuzz.triage.judged import Judged
from tests.driver.conftest import ROOT

NUMBERS = {"programs": 10, "rate": 5, "coverage": 3, "corpus": 2, "new": 1, "known": 0,
           "unreproduced": 0, "spent": {"fuzzing": 1.0, "judging": 0.5, "restarting": 0.0}}


class Time:
    """A clock that the test moves."""

    def __init__(self):
        self.seconds = 100.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def plan(fake_subject, tmp_path):
    """A plan whose OUT exists."""
    return Plan(fake_subject, ["storage"], tmp_path, seed=7)


def test_reading_gives_what_was_written(plan):
    now = Time()
    written = series.Series(plan, {"slotfuzz": "abc"}, now)
    now.seconds += 5
    written.begin()
    now.seconds += 2.5
    written.sample(**NUMBERS)
    written.found("x-1")
    new = Judged(id="x-1", signature="", folder=Path("x-1"), text="a")
    written.end(Result(programs=12, seconds=3.0, new=[new],
                       spent={"storage.0": NUMBERS["spent"]}))
    (read,), troubles = series.read(plan.out)
    assert troubles == []
    assert (read.start.seed, read.start.targets, read.start.versions) == (
        7, ("storage",), {"slotfuzz": "abc"})
    (sample,) = read.samples
    assert vars(sample) == {**NUMBERS, "seconds": 2.5}
    assert [(one.id, one.seconds) for one in read.found] == [("x-1", 2.5)]
    assert (read.end.set_up, read.end.programs, read.end.new) == (5.0, 12, ("x-1",))


def test_samples_become_rare(plan):
    now = Time()
    written = series.Series(plan, {}, now)
    written.begin()
    for _ in range(24 * 3600):
        if written.is_due():
            written.sample(**NUMBERS)
        now.seconds += 1
    (read,), _ = series.read(plan.out)
    assert 500 < len(read.samples) < 1000
    assert read.samples[1].seconds == 1.0 and read.samples[-1].seconds > 23.5 * 3600


def test_two_hunts_share_a_folder(plan):
    first, second = series.Series(plan, {}), series.Series(replace(plan, seed=8), {})
    second.sample(**NUMBERS)
    first.sample(**{**NUMBERS, "programs": 11})
    hunts, troubles = series.read(plan.out)
    assert [(one.start.seed, [sample.programs for sample in one.samples])
            for one in hunts] == [(7, [11]), (8, [10])] and troubles == []


@pytest.mark.parametrize("kept", [1, 30, -1])
def test_a_line_that_a_killed_hunt_was_writing_is_left_out(plan, kept):
    series.Series(plan, {}).sample(**NUMBERS)
    path = plan.out / series.NAME
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:kept])
    (read,), troubles = series.read(plan.out)
    assert read.samples == [] and troubles == []
    series.Series(plan, {}).sample(**NUMBERS)
    hunts, troubles = series.read(plan.out)
    assert [len(one.samples) for one in hunts] == [0, 1] and troubles == []


@pytest.mark.parametrize("line", [
    "null", "[]", "{}", "nonsense", '{"record": "sample", "hunt": "other"}', '{"record": []}',
    '{"record": "sample", "hunt": "H", "spent": {"fuzzing": 1}}'])
def test_a_line_that_is_not_a_record_is_reported(plan, line):
    series.Series(plan, {})
    with open(plan.out / series.NAME, "a") as file:
        file.write(line + "\n")
    hunts, troubles = series.read(plan.out)
    assert len(hunts) == 1 and troubles == ["line 2: not a record of a hunt"]


def test_a_record_of_a_hunt_without_a_start_is_reported(plan):
    series.Series(plan, {}).sample(**NUMBERS)
    path = plan.out / series.NAME
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[1])
    assert series.read(plan.out) == (
        [], ["line 1: the start of its hunt is missing"])


def test_a_series_that_cannot_be_written_is_an_error_message(plan):
    (plan.out / series.NAME).mkdir()
    written = series.Series(plan, {})
    assert "cannot write" in written.trouble and series.NAME in written.trouble
    written.sample(**NUMBERS)


def test_each_second_of_a_job_is_in_one_phase():
    now = Time()
    clock = series.Clock(["a", "b"], now)
    for seconds, job, phase in [(1, "a", "fuzzing"), (10, "a", "judging"), (100, "a", "restarting"),
                                (1000, "a", "ended"), (10000, "b", "fuzzing")]:
        now.seconds += seconds
        clock.enter(job, phase)
    assert clock.by_job()["a"] == {"fuzzing": 10, "judging": 100, "restarting": 1001}
    now.seconds += 1
    assert clock.by_job()["b"] == {"fuzzing": 1, "judging": 0, "restarting": 11111}
    assert clock.total() == {"fuzzing": 11, "judging": 100, "restarting": 12112}


def test_a_hunt_keeps_its_series(fake_subject, tmp_path, monkeypatch):
    monkeypatch.setattr(series, "SAMPLE_SECONDS", 0.0)
    plan = Plan(fake_subject, ["storage"], tmp_path / "out", runs=300, seed=2,
                     corpus=tmp_path / "corpus", suppressions=())
    result = hunt.run(plan)
    (read,), troubles = series.read(plan.out)
    assert troubles == [] and read.samples
    assert result.new and [one.id for one in read.found] == [one.id for one in result.new]
    assert list(read.end.new) == [one.id for one in result.new]
    assert (read.end.programs, read.end.coverage) == (300, result.coverage)
    spent = read.end.spent["storage.0"]
    assert all(spent[phase] > 0 for phase in series.PHASES)
    assert sum(spent.values()) <= result.seconds + 0.01
    assert read.samples[-1].new == len(result.new)


def test_a_killed_hunt_leaves_a_series_that_can_be_read(fake_subject, tmp_path):
    program = tmp_path / "hunt.py"
    program.write_text(f"""
from pathlib import Path
from slotfuzz.hunt import series
from slotfuzz.hunt.plan import Plan, Result
from types import SimpleNamespace
plan = SimpleNamespace(out=Path({str(tmp_path)!r}), targets=[], seed=1, jobs=1,
                       subject=SimpleNamespace(name="core", sanitizer="address"))
written = series.Series(plan, {{}})
print(flush=True)
while True:
    written.sample(**{NUMBERS!r})
""")
    hunting = subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE,
                               env={**os.environ, "PYTHONPATH": str(ROOT / "harness")})
    hunting.stdout.readline()
    while (tmp_path / series.NAME).stat().st_size < 20000:
        assert hunting.poll() is None
    hunting.send_signal(signal.SIGKILL)
    hunting.wait()
    hunting.stdout.close()
    (read,), troubles = series.read(tmp_path)
    assert troubles == [] and len(read.samples) > 50 and read.end is None
