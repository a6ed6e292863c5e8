"""Whole hunts on the fake engine: a finding is minimized, verified, and known the next time."""

import json
import os
import threading

import pytest

from slotfuzz import cli
from slotfuzz.engine import fuzzer
from slotfuzz.errors import BrokenError, MachineError
from slotfuzz.finding import finding
from slotfuzz.hunt import hunt, job
from slotfuzz.schema import shape
from slotfuzz.schema.record import Finding
from slotfuzz.subject import subject
from slotfuzz.triage import triage
from slotfuzz.triage.judged import Judged
from tests.driver import records
from tests.driver.conftest import write_program


def test_a_hunt_finds_minimizes_verifies_and_writes(plan):
    result = hunt.run(plan())
    folder = next(one.folder for one in result.new if one.finding.kind == "heap-use-after-free")
    assert sorted(os.listdir(folder)) == ["NOTES.md", "finding.json", "report.txt", "repro.py",
                                           "timeline.svg"]
    stored = json.loads((folder / "finding.json").read_text())
    assert shape.wrong_as(stored, Finding) == ""
    assert stored["one_minimal"] and stored["lines"] == 5 and stored["rate"] == 1.0
    assert stored["contract"] == "H2" and stored["oracle"] == "address"
    assert stored["runs_to_find"] > 0 and result.exit_code == 1
    assert "AddressSanitizer" in (folder / "report.txt").read_text()


def test_the_next_hunt_suppresses_it(plan):
    first = hunt.run(plan())
    again = hunt.run(plan(runs=300))
    assert not {one.signature for one in first.new} & {one.signature for one in again.new}
    assert again.skipped == len(first.new)


def test_runs_end_a_hunt_and_a_seed_repeats_it(plan, tmp_path):
    programs = []
    for number in range(2):
        result = hunt.run(plan(runs=3, seed=5, corpus=tmp_path / f"corpus{number}"))
        programs.append((result.programs, len(result.new)))
    assert programs[0] == programs[1] and programs[0][0] >= 3


def test_a_process_is_replaced_before_leaks_fill_the_memory(plan, monkeypatch):
    monkeypatch.setattr(job, "PROCESS_PROGRAMS_MAX", 2)
    starts = []

    class Counted(fuzzer.Fuzzer):
        def __init__(self, zygote, corpus, folder, known, seed, runs, *rest):
            starts.append((seed, runs))
            super().__init__(zygote, corpus, folder, known, seed, runs, *rest)
    monkeypatch.setattr(job, "Fuzzer", Counted)
    result = hunt.run(plan(runs=5, seed=3))
    assert result.programs == 5 and all(runs <= 2 for _, runs in starts)
    assert len(starts) >= 3 and len({seed for seed, _ in starts}) == len(starts)


@pytest.mark.parametrize("how, is_judged", [
    ("used: 4099Mb; limit: 4096Mb", False), ("malloc(5368709120)", True),
])
def test_a_full_process_is_replaced_and_a_huge_allocation_is_judged(
    plan, monkeypatch, how, is_judged,
):
    judged, ended = [], []

    class Full(fuzzer.Fuzzer):
        def finish(self):
            code = super().finish()
            if code == 77 and not ended:
                self.tail += f"==7== ERROR: libFuzzer: out-of-memory ({how})\n".encode()
                ended.append(self.progress.programs)
            return code
    monkeypatch.setattr(job, "Fuzzer", Full)
    judge = triage.Triage.judge
    monkeypatch.setattr(triage.Triage, "judge", lambda self, found: (
        judged.append(found.report), judge(self, found))[1])
    result = hunt.run(plan(runs=300, seed=2, stop_when=None))
    assert ended and result.programs == 300
    assert any("out-of-memory" in report for report in judged) == is_judged


def test_findings_of_two_jobs_are_judged_at_the_same_time(plan, monkeypatch):
    both, judge, calls, verdicts = threading.Barrier(2, timeout=60), triage.Triage.judge, [], []

    def together(self, found):
        calls.append(found)
        if len(calls) <= 2:
            both.wait()
        verdicts.append(judge(self, found))
        return verdicts[-1]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(triage.Triage, "judge", together)
    result = hunt.run(plan(jobs=2, runs=300, stop_when=lambda _: len(verdicts) >= 2))
    assert len(verdicts) >= 2 and not both.broken
    assert len({judged.id for judged in result.new}) == len(result.new)


def test_a_corpus_that_cannot_be_written_is_reported_at_the_end(plan, monkeypatch, tmp_path):
    def check_writable(folder):
        if any((tmp_path / "corpus").glob("*")):
            raise MachineError(f"cannot write to {folder}: No space left on device")
        folder.mkdir(parents=True, exist_ok=True)
    (tmp_path / "corpus").mkdir()
    monkeypatch.setattr(finding, "check_writable", check_writable)
    result = hunt.run(plan(runs=50, seed=5))
    assert "No space left" in result.trouble and result.exit_code in (1, 2)


def test_ten_crashes_in_a_row_that_do_not_repeat_end_a_hunt(plan, monkeypatch, tmp_path):
    verdicts = ["unreproduced"] * 9 + ["known"] + ["unreproduced"] * 11
    one = Judged(id="one", signature="", folder=tmp_path, text="", finding=records.finding("one"))
    judged = iter(verdicts)
    monkeypatch.setattr(triage.Triage, "judge", lambda self, found: (next(judged), one))
    with pytest.raises(BrokenError, match="10 crashes in a row did not reproduce"):
        hunt.run(plan())
    assert list(judged) == ["unreproduced"], "a reproduced crash resets the count"


def test_a_failing_empty_program_stops_everything(plan, fake_subject):
    text = fake_subject.target("storage").read_text()
    write_program(fake_subject.target("storage"), text.replace("#!/bin/sh\n", "").replace(
        'exec', 'FAKE_BROKEN=1 exec'))
    with pytest.raises(BrokenError, match="empty program"):
        hunt.run(plan())


def test_a_target_that_dies_at_once_is_a_broken_harness(plan, fake_subject):
    text = fake_subject.target("storage").read_text().replace("#!/bin/sh\n", "")
    write_program(fake_subject.target("storage"),
                  f'case "$*" in *--spawn*) echo no luck >&2; exit 9;; esac\n{text}')
    with pytest.raises(BrokenError, match="no luck"):
        hunt.run(plan())


@pytest.mark.parametrize("option, words", [
    ("--out", "cannot write"), ("--corpus", "not a folder")])
def test_a_bad_folder_is_an_error_before_anything_is_built(
        monkeypatch, capsys, tmp_path, option, words):
    def build(*_, **__):
        raise BrokenError("the subject was built")

    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setattr(subject, "resolve", build)
    assert cli.main(["hunt", "storage", option, str(file)]) == 2
    assert words in capsys.readouterr().err
    assert cli.main(["hunt", "storage", option, str(tmp_path)]) == 3
