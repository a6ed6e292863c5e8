"""Triage of a crash: alone, with the programs before it, and in fresh processes."""

import json

from slotfuzz.engine.server import Server
from slotfuzz.finding import finding, places
from slotfuzz.schema.answers import State
from slotfuzz.schema.events import Event
from slotfuzz.triage import crash, sequence, triage, verify
from tests.driver.conftest import CRASH, MINIMAL


def test_a_crash_that_does_not_repeat_is_unreproduced(fake_subject, tmp_path):
    with triage.Triage(fake_subject, finding.check_writable(tmp_path / "out"), 2) as judge:
        verdict, record = judge.judge(crash.Crash(
            "storage", "t0 = T.ones(1)\n", "==1== ERROR: libFuzzer: deadly signal\n", 9, 1.0, 1))
    assert verdict == "unreproduced" and record.finding.rate == 0.0
    assert "Seen once" in (record.folder / "NOTES.md").read_text()


def test_a_crash_that_needs_earlier_programs_is_found_in_the_ring(fake_subject, tmp_path):
    ring = tmp_path / "recorder"
    halves = ["\n".join(MINIMAL[:4]) + "\n", "exit_hermetic()\ns0 = t0.untyped_storage()\n"]
    ring.write_text(json.dumps({"count": 3, "programs": ["t1 = T.ones(4)\n", *halves]}))
    with triage.Triage(fake_subject, finding.check_writable(tmp_path / "out"), 2) as judge:
        verdict, _ = judge.judge(
            crash.Crash("storage", halves[1], "", 9, 1.0, 1, ring))
    assert verdict == "unreproduced"  # programs of the fake engine share no state


def test_a_sequence_becomes_one_program_that_unbinds_names_in_between(fake_subject):
    """The engine does so between programs; objects that remain may break the next one."""
    first, second = CRASH.splitlines()[:-1], CRASH.splitlines()[-1:]
    texts = ["\n".join(one) + "\n" for one in (first, second)]
    with Server(fake_subject, "storage") as server:
        text = sequence.as_one(texts, server)
    dropped = text.splitlines()[len(first):]
    assert text.startswith(texts[0])
    assert dropped[:dropped.index("gc.collect()") + 1] == ["del s0", "del t0", "gc.collect()"]
    assert dropped[3:4] == second


def test_a_sequence_as_one_program_leaves_modes_in_between(fake_subject):
    inside = "enter_hermetic()\nlane(1, \"enter_hermetic()\")\n"
    with Server(fake_subject, "storage") as server:
        text = sequence.as_one([inside, "exit_hermetic()\n" + inside + "exit_hermetic()\n"], server)
    assert text.removeprefix(inside).splitlines() == [
        "exit_hermetic()", "lane(1, \"exit_hermetic()\")", "gc.collect()",
        "exit_hermetic()", *inside.splitlines(), "exit_hermetic()",
        "lane(1, \"exit_hermetic()\")", "gc.collect()"]


def test_programs_that_fail_in_one_process_only_are_kept_in_order(
        fake_subject, tmp_path, monkeypatch):
    texts = [f"t{number} = T.ones(4)\n" for number in range(4)]
    (tmp_path / "recorder").write_text(json.dumps({"count": 4, "programs": texts}))
    monkeypatch.setattr(Server, "states", lambda self, programs: [
        State("finding" if {texts[1], texts[3]} <= set(programs) else "clean", False, True, None)])
    with triage.Triage(fake_subject, finding.check_writable(tmp_path / "out"), 2) as judge:
        verdict, record = judge.judge(
            crash.Crash("storage", texts[3], "", 9, 1.0, 1, tmp_path / "recorder"))
    folder = record.folder
    assert verdict == "unreproduced" and record.finding.sequence == 2
    assert [path.read_text() for path in sorted(folder.glob("sequence-*"))] == texts[1::2]


def test_a_crash_that_no_fresh_process_repeats_is_not_new_and_hides_nothing(
        released_subject, tmp_path, monkeypatch):
    rates = iter([0, 0, 2])
    monkeypatch.setattr(verify, "verify", lambda *_, **__: verify.Verified(2, next(rates), ""))
    out = finding.check_writable(tmp_path / "out")
    found = crash.Crash("storage", CRASH, "", 9, 1.0, 1)
    with triage.Triage(released_subject, out, 2) as judge:
        first = judge.judge(found)
    with triage.Triage(released_subject, out, 2) as judge:
        judge.learn(judge.rerun("storage", out / first[1].id))
        again, third, last = (judge.judge(found) for _ in range(3))
    assert [verdict for verdict, _ in (first, again, third, last)] == [
        "unreproduced", "unreproduced", "new", "known"]
    assert len({record.folder for _, record in (first, again, third, last)}) == 1
    assert first[1].avoid and first[1].finding.rate == 0
    assert again[1].finding.dedup_keys, "a program repeats the crash"
    assert finding.read(first[1].folder).rate == 1.0


def test_a_record_has_the_title_of_the_notes_and_the_places_of_its_failure(fake_subject, tmp_path):
    with triage.Triage(fake_subject, finding.check_writable(tmp_path / "out"), 2) as judge:
        _, judged = judge.judge(crash.Crash("storage", CRASH, "", 9, 1.0, 1))
    record, notes = judged.finding, (judged.folder / "NOTES.md").read_text()
    assert notes.startswith(f"# {record.title}\n") and record.verdict in record.signature
    assert record.failing_line == record.lines == len(MINIMAL) and record.tier == "underscore"
    found = places.read(judged.folder)
    lines = (judged.folder / "repro.py").read_text().splitlines()
    assert lines[found.script.line - 1] == CRASH.splitlines()[-1]
    assert record.passed and {one.event for one in record.passed} <= {
        event.value for event in Event}
    assert all(any(one.what.startswith(last.event) for one in found.core)
               for last in record.passed)
