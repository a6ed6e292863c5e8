"""Verdicts of triage that come while the jobs of a hunt go on."""

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from slotfuzz.engine import fuzzer
from slotfuzz.hunt import hunt, job
from slotfuzz.hunt.verdicts import Verdicts
from slotfuzz.hunt.workplace import Workplace
from slotfuzz.triage import triage
from slotfuzz.triage.crash import Crash
from slotfuzz.triage.judged import Judged
from tests.driver import records

WAIT_SECONDS = 60


@pytest.fixture
def met(monkeypatch):
    """The crashes that a hunt has met, and a function that waits for COUNT of them."""
    crashes, changed, end = [], threading.Condition(), job.Job.end

    def noted(self, programs):
        ended = end(self, programs)
        with changed:
            crashes.append(ended.found)
            changed.notify_all()
        return ended

    def wait_for(count):
        with changed:
            return changed.wait_for(lambda: len(crashes) >= count, WAIT_SECONDS)
    monkeypatch.setattr(job.Job, "end", noted)
    return crashes, wait_for


def test_a_job_goes_on_while_its_finding_is_judged(plan, released_subject, monkeypatch, tmp_path):
    started, starts = threading.Event(), []

    class Counted(fuzzer.Fuzzer):
        def __init__(self, *words):
            super().__init__(*words)
            starts.append(self)
            if len(starts) == 2:
                started.set()

    def judge(self, found):
        assert started.wait(WAIT_SECONDS), "the job waits for the verdict"
        return "new", Judged(id="one", signature="", folder=tmp_path, text="",
                             finding=records.finding("one"))
    monkeypatch.setattr(job, "Fuzzer", Counted)
    monkeypatch.setattr(triage.Triage, "judge", judge)
    result = hunt.run(plan(subject=released_subject, stop_when=lambda _: True))
    assert [one.id for one in result.new] == ["one"] and len(starts) >= 2


@pytest.mark.parametrize("runs, waits", [(30, True), (None, False)])
def test_only_a_hunt_of_so_many_programs_waits_for_each_verdict(
        plan, released_subject, monkeypatch, tmp_path, runs, waits):
    judged, waited, wait = [], [], hunt._Hunt._wait

    def judge(self, found):
        judged.append(found.text)
        return "known", Judged(id="one", signature="", folder=tmp_path, text=found.text,
                               avoid=(found.text,))

    def noted(self, job, one, seconds):
        waited.append(seconds)
        wait(self, job, one, seconds)
    monkeypatch.setattr(triage.Triage, "judge", judge)
    monkeypatch.setattr(hunt._Hunt, "_wait", noted)
    result = hunt.run(plan(subject=released_subject, runs=runs, seconds=60 if runs else 3,
                           stop_when=None))
    assert result.known and len(judged) == len(result.known)
    assert waited.count(math.inf) == (len(judged) if waits else 0)


def test_a_crash_like_one_that_waits_is_not_judged(plan, released_subject, met, monkeypatch,
                                                   tmp_path):
    _, wait_for = met
    judged = []

    def judge(self, found):
        judged.append(found)
        assert wait_for(2)
        return "new", Judged(id="one", signature="", folder=tmp_path, text="",
                             finding=records.finding("one"))
    monkeypatch.setattr(triage.Triage, "judge", judge)
    monkeypatch.setattr(hunt, "words_of", lambda report: "always the same")
    result = hunt.run(plan(subject=released_subject, stop_when=lambda _: True))
    assert len(judged) == 1 and result.repeats >= 1


def test_crashes_that_nobody_judges_yet_stay_for_the_next_hunt(fake_subject, tmp_path):
    begun, may_end = threading.Event(), threading.Event()

    class Slow:
        def judge(self, found):
            begun.set()
            assert may_end.wait(WAIT_SECONDS)

    place = Workplace(fake_subject, tmp_path / "out")
    with ThreadPoolExecutor(1) as pool:
        verdicts = Verdicts(pool, Slow(), place)
        asked = []
        for number in range(2):
            artifact = place.job("storage", 0) / "crash-x"
            artifact.write_text(f"t0 = T.ones({number})\n")
            recorder = place.job("storage", 0) / "recorder"
            recorder.write_text("")
            found = Crash("storage", artifact.read_text(), "", 1, 1.0, 1, recorder)
            asked.append(verdicts.ask(artifact, found, "words" * number))
            assert not artifact.exists() and not recorder.exists()
        assert begun.wait(WAIT_SECONDS)
        assert verdicts.of_words("words") is asked[1] and verdicts.of_words("") is None
        verdicts.give_up()
        assert verdicts.waiting == asked[:1]
        may_end.set()
    verdicts.take(asked[0])
    verdicts.forget(asked[0])
    place.close()
    later = Workplace(fake_subject, tmp_path / "out")
    assert [(target, Path(path).read_text()) for target, path in later.leftovers()] == [
        ("storage", "t0 = T.ones(1)\n")]
    later.close()


def test_a_job_does_not_wait_long_for_a_verdict(plan, released_subject, met, monkeypatch, tmp_path):
    _, wait_for = met

    def judge(self, found):
        assert wait_for(4), "the job waits for the verdict"
        return "new", Judged(id="one", signature="", folder=tmp_path, text="",
                             finding=records.finding("one"))
    monkeypatch.setattr(triage.Triage, "judge", judge)
    monkeypatch.setattr(hunt, "words_of", lambda report: "always the same")
    monkeypatch.setattr(hunt, "PATIENCE_SECONDS", 0.0)
    result = hunt.run(plan(subject=released_subject, stop_when=lambda _: True))
    assert result.repeats >= 3
