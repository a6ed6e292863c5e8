"""Whole hunts on the fake engine: a finding is minimized, verified, and known the next time."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from slotfuzz import cli
from slotfuzz.console import Output
from slotfuzz.engine import fuzzer
from slotfuzz.engine.server import Server
from slotfuzz.errors import BrokenError, MachineError
from slotfuzz.finding import finding
from slotfuzz.hunt import hunt, job
from slotfuzz.hunt.plan import Plan, Result
from slotfuzz.hunt.workplace import Workplace
from slotfuzz.schema.answers import State
from slotfuzz.schema.record import FIELDS, KEYS
from slotfuzz.subject import subject
from slotfuzz.triage import triage, verify
from tests.driver.conftest import CRASH, ROOT, write_program

MINIMAL = ["t0 = T.ones(1)", "s0 = t0.untyped_storage()", "enter_hermetic()", "del s0",
           "t0.untyped_storage()"]


@pytest.fixture
def plan(fake_subject, tmp_path):
    """A plan for the fake subject; fields can be replaced."""
    def make(**fields):
        return Plan(**{**dict(
            subject=fake_subject, targets=["storage"], out=tmp_path / "out", seconds=60,
            seed=1, corpus=tmp_path / "corpus", suppressions=(),
            stop_when=lambda record: record["kind"] == "heap-use-after-free"), **fields})
    return make


def test_a_hunt_finds_minimizes_verifies_and_writes(plan):
    result = hunt.run(plan())
    record = next(r for r in result.new if r["kind"] == "heap-use-after-free")
    folder = Path(record["folder"])
    assert sorted(os.listdir(folder)) == ["NOTES.md", "finding.json", "report.txt", "repro.py",
                                           "timeline.svg"]
    stored = json.loads((folder / "finding.json").read_text())
    assert set(FIELDS) <= set(stored)
    assert stored["one_minimal"] and stored["lines"] == 5 and stored["rate"] == 1.0
    assert stored["contract"] == "H2" and stored["oracle"] == "address"
    assert stored["runs_to_find"] > 0 and result.exit_code == 1
    assert "AddressSanitizer" in (folder / "report.txt").read_text()


def test_the_next_hunt_suppresses_it(plan):
    first = hunt.run(plan())
    again = hunt.run(plan(runs=300))
    assert not {r["signature"] for r in first.new} & {r["signature"] for r in again.new}
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
        def __init__(self, spawner, corpus, folder, known, seed, runs, *rest):
            starts.append((seed, runs))
            super().__init__(spawner, corpus, folder, known, seed, runs, *rest)
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
    result = hunt.run(plan(jobs=2, runs=300, stop_when=lambda record: len(verdicts) >= 2))
    assert len(verdicts) >= 2 and not both.broken
    assert len({record["id"] for record in result.new}) == len(result.new)


def test_an_error_that_stops_the_hunt_ends_a_waiting_judge(fake_subject, tmp_path):
    text = fake_subject.target("storage").read_text().replace("#!/bin/sh\n", "")
    mark = f"slotfuzz-test-{os.getpid()}-judge"
    endless = ("import sys, time; from tests.driver import fake_engine;"
               " fake_engine.execute = lambda *_: time.sleep(99); fake_engine.main(sys.argv[1:])")
    write_program(fake_subject.target("storage"),
                  f'case "$*" in *--serve*) cd {ROOT}; exec /usr/bin/python3 -c "{endless}"'
                  f" --serve {mark};; esac\n{text}")
    with (pytest.raises(KeyboardInterrupt), ThreadPoolExecutor(1) as pool,
          triage.Triage(fake_subject, tmp_path, 2) as judge):
        found = triage.Found("storage", CRASH, "", 9, 1.0, 1)
        verdict = pool.submit(judge.judge, found)
        assert _wait(lambda: _running(mark)), "the server did not start"
        raise KeyboardInterrupt
    with pytest.raises(BrokenError, match="died|was ended"):
        verdict.result()


def test_the_next_hunt_judges_crashes_of_a_killed_hunt(plan, fake_subject, tmp_path):
    dead = Workplace(fake_subject, tmp_path / "out")
    (dead.job("storage", 0) / "crash-x").write_text("\n".join(
        [*MINIMAL[:4], "exit_hermetic()", "s1 = t0.untyped_storage()"]) + "\n")
    os.close(dead._lock)
    result = hunt.run(plan(resumes=True))
    assert [r["kind"] for r in result.new] == ["heap-use-after-free"]
    assert result.programs == 0 and not dead.folder.exists()


@pytest.mark.parametrize("name, out, resumes", [
    ("mutant:weak-slot", "out", True), ("core", "other", True), ("core", "out", False)])
def test_other_commands_ignore_a_crash_of_a_killed_hunt(
        plan, fake_subject, tmp_path, name, out, resumes):
    """Such as a hunt on a mutant, a hunt with another folder, `mutants` and `bench`."""
    chosen = replace(fake_subject, name=name)
    dead = Workplace(chosen, tmp_path / "out")
    left = dead.job("storage", 0) / "crash-x"
    left.write_text("t0 = T.ones(1)\n")
    os.close(dead._lock)
    result = hunt.run(plan(subject=chosen, out=tmp_path / out, resumes=resumes, runs=20,
                           stop_when=None))
    assert left.exists() and result.programs == 20


def test_two_hunts_do_not_take_each_others_work(fake_subject, tmp_path):
    first, second = (Workplace(fake_subject, tmp_path) for _ in range(2))
    (first.job("storage", 0) / "crash-x").write_text("t0 = T.ones(1)\n")
    assert second.leftovers() == [] and first.folder.exists()
    first.close()
    assert [target for target, _ in second.leftovers()] == ["storage"]
    assert not first.folder.exists()
    second.close()
    assert second.folder.exists(), "a crash that was not judged is gone"


def test_a_corpus_that_cannot_be_written_is_reported_at_the_end(plan, monkeypatch, tmp_path):
    def check_writable(folder):
        if any((tmp_path / "corpus").glob("*")):
            raise MachineError(f"cannot write to {folder}: No space left on device")
        folder.mkdir(parents=True, exist_ok=True)
    (tmp_path / "corpus").mkdir()
    monkeypatch.setattr(finding, "check_writable", check_writable)
    result = hunt.run(plan(runs=50, seed=5))
    assert "No space left" in result.trouble and result.exit_code in (1, 2)


def test_a_crash_that_does_not_repeat_is_unreproduced(plan, fake_subject, tmp_path):
    with triage.Triage(fake_subject, finding.check_writable(tmp_path / "out"), 2) as judge:
        verdict, record = judge.judge(triage.Found(
            "storage", "t0 = T.ones(1)\n", "==1== ERROR: libFuzzer: deadly signal\n", 9, 1.0, 1))
    assert verdict == "unreproduced" and record["rate"] == 0.0
    assert "Seen once" in (Path(record["folder"]) / "NOTES.md").read_text()


def test_a_crash_that_needs_earlier_programs_is_found_in_the_ring(plan, fake_subject, tmp_path):
    ring = tmp_path / "recorder"
    halves = ["\n".join(MINIMAL[:4]) + "\n", "exit_hermetic()\ns0 = t0.untyped_storage()\n"]
    ring.write_text(json.dumps({"count": 3, "programs": ["t1 = T.ones(4)\n", *halves]}))
    with triage.Triage(fake_subject, finding.check_writable(tmp_path / "out"), 2) as judge:
        verdict, _ = judge.judge(
            triage.Found("storage", halves[1], "", 9, 1.0, 1, ring))
    assert verdict == "unreproduced"  # programs of the fake engine share no state


def test_a_sequence_becomes_one_program_that_unbinds_names_in_between(fake_subject):
    """The engine does so between programs; objects that remain may break the next one."""
    first, second = CRASH.splitlines()[:-1], CRASH.splitlines()[-1:]
    sequence = ["\n".join(one) + "\n" for one in (first, second)]
    with Server(fake_subject, "storage") as server:
        text = triage.as_one(sequence, server)
    dropped = text.splitlines()[len(first):]
    assert text.startswith(sequence[0])
    assert dropped[:dropped.index("gc.collect()") + 1] == ["del s0", "del t0", "gc.collect()"]
    assert dropped[3:4] == second


def test_programs_that_fail_in_one_process_only_are_kept_in_order(
        fake_subject, tmp_path, monkeypatch):
    texts = [f"t{number} = T.ones(4)\n" for number in range(4)]
    (tmp_path / "recorder").write_text(json.dumps({"count": 4, "programs": texts}))
    monkeypatch.setattr(Server, "states", lambda self, programs: [
        State("finding" if {texts[1], texts[3]} <= set(programs) else "clean", False, True, None)])
    with triage.Triage(fake_subject, finding.check_writable(tmp_path / "out"), 2) as judge:
        verdict, record = judge.judge(
            triage.Found("storage", texts[3], "", 9, 1.0, 1, tmp_path / "recorder"))
    folder = Path(record["folder"])
    assert verdict == "unreproduced" and record["sequence"] == 2
    assert [path.read_text() for path in sorted(folder.glob("sequence-*"))] == texts[1::2]


def test_a_crash_that_no_fresh_process_repeats_is_not_new_and_hides_nothing(
        released_subject, tmp_path, monkeypatch):
    rates = iter([0, 0, 2])
    monkeypatch.setattr(verify, "verify", lambda *_, **__: verify.Verified(2, next(rates), ""))
    out = finding.check_writable(tmp_path / "out")
    found = triage.Found("storage", CRASH, "", 9, 1.0, 1)
    with triage.Triage(released_subject, out, 2) as judge:
        first = judge.judge(found)
    with triage.Triage(released_subject, out, 2) as judge:
        judge.recall("storage", out / first[1]["id"])
        again, third, last = (judge.judge(found) for _ in range(3))
    assert [verdict for verdict, _ in (first, again, third, last)] == [
        "unreproduced", "unreproduced", "new", "known"]
    assert len({record["folder"] for _, record in (first, again, third, last)}) == 1
    assert first[1]["avoid"] and first[1]["rate"] == 0
    assert KEYS in again[1], "a program repeats the crash"
    assert finding.read(Path(first[1]["folder"]))["rate"] == 1.0


def test_ten_crashes_in_a_row_that_do_not_repeat_end_a_hunt(plan, monkeypatch, tmp_path):
    verdicts = ["unreproduced"] * 9 + ["known"] + ["unreproduced"] * 11
    record = {"id": "one", "folder": str(tmp_path), "avoid": []}
    judged = iter(verdicts)
    monkeypatch.setattr(triage.Triage, "judge", lambda self, found: (next(judged), record))
    with pytest.raises(BrokenError, match="10 crashes in a row did not reproduce"):
        hunt.run(plan())
    assert list(judged) == ["unreproduced"], "a reproduced crash resets the count"


def test_a_hunt_reports_the_shorter_variant(plan, monkeypatch):
    judge, records = triage.Triage.judge, []

    def shorter(self, found):
        verdict, record = judge(self, found)
        if verdict == "new" and not records:
            records.append({**record, "lines": record["lines"] + 1})
            return verdict, records[0]
        if len(records) == 1:
            records.append({**records[0], "lines": records[0]["lines"] - 1})
            return "shorter", records[1]
        return verdict, record
    monkeypatch.setattr(triage.Triage, "judge", shorter)
    asked = []
    result = hunt.run(plan(runs=300, stop_when=lambda record: asked.append(record)))
    assert records[1] in result.new and records[0] not in result.new
    assert records[1] in result.known and records[1] in asked


def test_an_unreproduced_crash_becomes_known_once_its_bucket_reproduces(plan, monkeypatch):
    verdicts = iter(["unreproduced", "unreproduced", "new", "known"])
    judged = {"id": "one", "kind": "BUS", "folder": "out/one", "avoid": [], KEYS: [],
              "signature": "crash", "lines": 1, "rate": 1.0, "verified_runs": 2}
    other = {**judged, "id": "other", "folder": "out/other"}

    def judge(self, found):
        verdict = next(verdicts, None)
        return (verdict, judged) if verdict else ("unreproduced", other)
    monkeypatch.setattr(triage.Triage, "judge", judge)
    result = hunt.run(plan(runs=300))
    assert result.new == [judged] and result.known == [judged] * 3
    assert result.unreproduced and judged not in result.unreproduced


def test_a_failing_empty_program_stops_everything(plan, fake_subject):
    text = fake_subject.target("storage").read_text()
    write_program(fake_subject.target("storage"), text.replace("#!/bin/sh\n", "").replace(
        'exec', 'FAKE_BROKEN=1 exec'))
    with pytest.raises(BrokenError, match="empty program"):
        hunt.run(plan())


@pytest.mark.parametrize("line, programs, coverage", [
    (b"#8\tNEW    cov: 41 ft: 9 corp: 1/9b lim: 4 exec/s: 100 rss: 30Mb", 8, 41),
    (b"#864\tINITED ft: 931 corp: 464/170Kb exec/s: 7 rss: 286Mb", 864, 0),
    (b"#8192\tpulse  corp: 1/1b lim: 4 exec/s: 7 rss: 30Mb", 8192, 0),
])
def test_progress_is_read_with_and_without_coverage(line, programs, coverage):
    numbers = [int(group or 0) for group in fuzzer.STATUS.match(line).groups()]
    assert numbers[0] == programs and numbers[1] == coverage and numbers[-1] in (7, 100)


def test_a_process_has_a_rate_in_its_first_second():
    """libFuzzer counts whole seconds, so its rate is 0 in the first one."""
    one = fuzzer.Fuzzer.__new__(fuzzer.Fuzzer)
    one.started, one.has_loaded = time.monotonic() - 0.5, False
    one._take_in(b"#800\tNEW    cov: 41 ft: 9 corp: 1/9b lim: 4 exec/s: 0 rss: 30Mb")
    assert 0 < one.progress.rate <= 1600


def test_a_target_that_dies_at_once_is_a_broken_harness(plan, fake_subject):
    text = fake_subject.target("storage").read_text().replace("#!/bin/sh\n", "")
    write_program(fake_subject.target("storage"),
                  f'case "$*" in *--spawn*) echo no luck >&2; exit 9;; esac\n{text}')
    with pytest.raises(BrokenError, match="no luck"):
        hunt.run(plan())


def test_findings_that_turn_out_to_be_one_bug_are_counted_as_one():
    result = Result(new=[{"id": "a"}, {"id": "b"}], known=[{"id": "b", "text": "x"}])
    result.take("known", {"id": "a", "folder": "out/a"})
    assert len(result.new) == 2
    result.take("known", {"id": "a", "folder": "out/a", "merged": ["b"]})
    assert result.new == [{"id": "a"}]
    assert result.known == [{"id": "a", "text": "x", "folder": "out/a"},
                            {"id": "a", "folder": "out/a"},
                            {"id": "a", "folder": "out/a", "merged": ["b"]},
                            {"id": "a", "folder": "out/a"}]


def test_a_reproduced_finding_absorbs_unreproduced_ones():
    result = Result(unreproduced=[{"id": "x", "folder": "out/a"}, {"id": "y", "folder": "out/b"}])
    result.take("new", {"id": "a", "folder": "out/a"})
    assert [one["id"] for one in result.known] == ["x"]
    assert [one["id"] for one in result.unreproduced] == ["y"] and result.findings == 3


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


INTERRUPTED = """
import sys
sys.path[:0] = [{root!r}, {root!r} + "/harness"]
from pathlib import Path
from slotfuzz.hunt import hunt
from slotfuzz.hunt.plan import Plan
from slotfuzz.subject.subject import Subject
subject = Subject("core", "address", "address", Path({folder!r}), "/bin/false")
result = hunt.run(Plan(subject, ["storage"], Path({out!r}), seconds=60, suppressions=(),
                            corpus=Path({out!r}) / "corpus", runs=None, seed=3))
print(result.interrupted, result.exit_code, result.seconds < 30)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_hunt_that_is_stopped_leaves_no_process(fake_subject, tmp_path, number):
    # This target never finds anything, so the hunt is in its loop when it gets the signal.
    text = fake_subject.target("storage").read_text().replace("#!/bin/sh\n", "")
    mark = f"slotfuzz-test-{os.getpid()}-{number}"
    endless = ("import sys, time; from tests.driver import fake_engine;"
               " fake_engine.fuzz = lambda *_: time.sleep(99); fake_engine.main(sys.argv[1:])")
    write_program(fake_subject.target("storage"),
                  f'case "$*" in *--spawn*) cd {ROOT}; exec /usr/bin/python3 -c "{endless}"'
                  f" --spawn {mark};; esac\n{text}")
    script = INTERRUPTED.format(root=str(ROOT), folder=str(fake_subject.folder),
                                out=str(tmp_path / "out"))
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert _wait(lambda: _running(mark)), "the target did not start"
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    assert _wait(lambda: not _running(mark)), "the target still runs"
    if number == signal.SIGINT:
        assert out.split() == ["2", "130", "True"] and process.returncode == 0


def _running(mark: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes():
                return True
        except OSError:
            continue
    return False


def _wait(condition, seconds=20.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_output_is_one_document_or_text(capsys):
    for as_json in (True, False):
        output = Output(as_json)
        output.text("words")
        output.document({"a": 1})
    out = capsys.readouterr().out
    assert out == '{\n  "a": 1\n}\nwords\n'
