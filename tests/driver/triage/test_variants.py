"""Variants of a finding share a bucket with one folder, which shows the shortest variant."""

import json
from types import SimpleNamespace

import pytest

from slotfuzz.engine.server import Server
from slotfuzz.evidence import signature
from slotfuzz.finding import finding
from slotfuzz.language import program
from slotfuzz.reduce import minimize
from slotfuzz.schema.answers import Observation, State
from slotfuzz.schema.record import ERROR, OUTSIDE, DedupKey
from slotfuzz.triage import cases, crash, dedup, triage
from tests.driver import records
from tests.driver.conftest import CRASH

BROKEN = ["t0 = T.ones(1)\ns0 = t0.untyped_storage()\n{}s0.tag = 7\n".format(between)
          for between in ("", "", "del s0\ns0 = t0.untyped_storage()\n")]


@pytest.fixture
def unminimized(monkeypatch):
    """Skips minimizing, so that one bug has several variants."""
    def as_it_is(server, quick, text):
        reply = server.run(text)
        lines = program.lines_of(reply)
        return triage.Smallest(reply, signature.of_reply(reply),
                               minimize.Minimized(lines, len(lines), 1, 0.0, False))
    monkeypatch.setattr(triage, "smallest", as_it_is)
    monkeypatch.setattr(triage, "escalation", lambda server, quick, best, seed: best)


def test_a_group_shows_the_shortest_way_that_was_met(unminimized, fake_subject, tmp_path):
    out = finding.check_writable(tmp_path / "out")
    longer = CRASH.replace("enter_h", "s0.nbytes()\nenter_h")
    with triage.Triage(fake_subject, out, 2) as judge:
        verdicts = [judge.judge(crash.Crash("storage", text, "", programs, 1.0, 1))
                    for programs, text in ((7, longer), (9, CRASH), (11, longer))]
    assert [verdict for verdict, _ in verdicts] == ["new", "shorter", "known"]
    (folder,) = out.iterdir()
    record = finding.read(folder)
    assert record.id == folder.name == verdicts[0][1].id == verdicts[1][1].id
    assert record.lines == len(CRASH.splitlines()) and record.runs_to_find == 7
    assert list(record.variants) == [CRASH, longer]
    assert "nbytes" not in (folder / "repro.py").read_text()


def test_a_program_that_fails_when_it_is_run_again_is_found(fake_subject, tmp_path, monkeypatch):
    """A program may leave a name or a freed object that crashes the next program."""
    half, smallest = "".join(CRASH.splitlines(keepends=True)[:4]), triage.smallest
    monkeypatch.setattr(triage, "smallest", lambda server, quick, text: (
        smallest(server, quick, CRASH) if text.count(half) == 2 else None))
    with triage.Triage(fake_subject, finding.check_writable(tmp_path / "out"), 2) as judge:
        verdict, record = judge.judge(crash.Crash("storage", half, "", 9, 1.0, 1))
    assert (verdict, record.finding.rate) == ("new", 1.0)


@pytest.mark.parametrize("new, old, is_better", [
    ((4, 1.0), (5, 1.0), True), ((4, 0.9), (5, 1.0), False), ((5, 1.0), (5, 1.0), False),
    ((6, 0.1), (5, 0.0), True), ((6, 0.0), (5, 0.0), False)])
def test_a_shorter_variant_that_fails_less_often_is_not_shown(new, old, is_better):
    new, old = (records.finding(lines=lines, rate=rate) for lines, rate in (new, old))
    assert finding.is_better(new, old) == is_better
    assert not finding.is_better(new, None)


def test_a_shorter_variant_keeps_what_a_person_has_added():
    x, y = DedupKey("x"), DedupKey("y")
    old = records.finding("a", lines=5, dedup_keys=(x,), variants=("long",), sentence="It breaks.")
    new = records.finding("b", lines=4, dedup_keys=(y,), variants=("short",))
    assert finding.successor(new, old) == records.finding(
        "a", lines=4, dedup_keys=(x, y), variants=("short", "long"), sentence="It breaks.")
    assert finding.successor(new, None) == new


def test_variants_of_one_bug_are_a_bucket_with_one_folder(unminimized, fake_subject, tmp_path):
    out = finding.check_writable(tmp_path / "out")
    longer = CRASH.replace("enter_h", "s0.nbytes()\nenter_h")
    with triage.Triage(fake_subject, out, 2) as judge:
        verdicts = [judge.judge(crash.Crash("storage", text, "", 9, 1.0, 1))
                    for text in (CRASH, longer, CRASH, *BROKEN)]
    assert [verdict for verdict, _ in verdicts] == [
        "new", "known", "known", "new", "known", "known"]
    ids = [record.id for _, record in verdicts]
    assert ids[0] == ids[1] == ids[2] and ids[3] == ids[4] == ids[5] and len(set(ids)) == 2
    assert list(finding.read(out / ids[0]).variants) == [CRASH, longer]
    assert list(finding.read(out / ids[3]).variants) == [BROKEN[0], BROKEN[2]]


def test_the_next_hunt_steers_around_all_ways(unminimized, fake_subject, tmp_path):
    out = finding.check_writable(tmp_path / "out")
    longer = CRASH.replace("enter_h", "s0.nbytes()\nenter_h")
    with triage.Triage(fake_subject, out, 2) as judge:
        for text in (CRASH, longer):
            _, record = judge.judge(crash.Crash("storage", text, "", 9, 1.0, 1))
    with triage.Triage(fake_subject, out, 2) as later:
        script, *variants = later.learn(later.rerun("storage", out / record.id))
        assert CRASH in script and variants == [longer]
        assert any(("nbytes", "s0") in key.lines for key in later.buckets.folders), "of a variant"
        assert later.judge(crash.Crash("storage", longer, "", 9, 1.0, 1))[0] == "known"
        (out / record.id / "repro.py").write_text("t0 = T.ones(1)\n")
        assert later.learn(later.rerun("storage", out / record.id)) == []


@pytest.mark.parametrize("is_outside", [False, True])
def test_of_a_broken_promise_comes_no_crash_outside_of_memory(
        unminimized, released_subject, tmp_path, monkeypatch, is_outside):
    monkeypatch.setattr(triage, "escalation",
                        lambda server, quick, best, seed: triage.smallest(server, quick, CRASH))
    monkeypatch.setattr(cases, "reaching_outside", lambda server, lines: next(
        (dedup.Outside(line, False) for line in lines
         if is_outside and line.op == "enter_hermetic"), None))
    with triage.Triage(released_subject, finding.check_writable(tmp_path / "out"), 2) as judge:
        _, record = judge.judge(crash.Crash("storage", BROKEN[0], "", 9, 1.0, 1))
    assert record.signature.startswith("judge P2") == is_outside
    assert any(key.kind == "crash" for key in record.finding.dedup_keys) != is_outside


def test_what_leads_outside_of_memory_is_steered_around_whatever_follows(
        unminimized, released_subject, tmp_path, monkeypatch):
    monkeypatch.setattr(cases, "reaching_outside", lambda server, lines: dedup.Outside(
        next(line for line in lines if line.op == "enter_hermetic"), False))
    leading = CRASH[:CRASH.index("del")]
    out = finding.check_writable(tmp_path / "out")
    with triage.Triage(released_subject, out, 2) as judge:
        _, record = judge.judge(crash.Crash("storage", CRASH, "", 9, 1.0, 1))
    assert sorted(record.avoid) == [leading, CRASH]
    with triage.Triage(released_subject, out, 2) as later:
        assert leading in later.learn(later.rerun("storage", out / record.id))


def test_a_finding_shows_that_two_are_one_bug(
        unminimized, fake_subject, tmp_path, monkeypatch):
    texts = [CRASH, CRASH.replace("enter_h", "s0.nbytes()\nenter_h"), "t1 = T.ones(1)\n" + CRASH]
    keys = dict(zip(texts, [{"one", "both"}, {"other"}, {"other", "both"}]))
    monkeypatch.setattr(triage, "keys_of", lambda server, reply, words, lines: frozenset(
        DedupKey(ERROR, words=name) for name in keys[server.table.program_text(lines)]))
    out = finding.check_writable(tmp_path / "out")
    with triage.Triage(fake_subject, out, 2) as judge:
        verdicts = [judge.judge(crash.Crash("storage", text, "", programs, 1.0, 1))
                    for programs, text in zip((7, 9, 11), texts)]
        assert [verdict for verdict, _ in verdicts] == ["new", "new", "known"]
        (first, second, third) = (record for _, record in verdicts)
        assert first.merged == second.merged == ()
        assert third.merged == (second.id,)
        assert set(judge.buckets.folders.values()) == {out / first.id} == set(out.iterdir())
        assert all(folder == out / first.id for folder, _ in judge.buckets.variants)
    record = finding.read(out / first.id)
    assert list(record.variants) == texts
    assert [key.words for key in record.dedup_keys] == ["both", "one", "other"]


def test_of_findings_that_are_one_the_surest_the_shortest_and_then_the_first_is_kept(tmp_path):
    folders = [tmp_path / name for name in "abcd"]
    for folder, lines, programs in zip(folders, (5, 4, 4, 3), (1, 9, 2, 1)):
        folder.mkdir()
        finding.write_file(folder / "finding.json", records.finding(
            folder.name, lines=lines, runs_to_find=programs, variants=(folder.name, "all"),
            dedup_keys=(DedupKey(folder.name),), rate=0.5 if folder.name == "d" else 1.0).text())
    assert finding.merge(folders) == folders[2]
    assert list(tmp_path.iterdir()) == [folders[2]]
    assert finding.read(folders[2]) == records.finding(
        "c", lines=4, runs_to_find=2, dedup_keys=tuple(map(DedupKey, "abcd")),
        variants=("c", "all", "b", "a", "d"))


def test_a_finding_of_an_earlier_hunt_is_not_merged(
        unminimized, fake_subject, tmp_path, monkeypatch):
    monkeypatch.setattr(triage, "keys_of", lambda server, reply, words, lines: frozenset(
        DedupKey(ERROR, words=name) for name in ["one", "other"][:1 + (len(lines) > 6)]))
    out = finding.check_writable(tmp_path / "out")
    with triage.Triage(fake_subject, out, 2) as judge:
        _, record = judge.judge(crash.Crash("storage", CRASH, "", 7, 1.0, 1))
    (out / "kept").mkdir()
    with triage.Triage(fake_subject, out, 2) as later:
        later.buckets.folders = {DedupKey(ERROR, words="one"): out / record.id,
                                DedupKey(ERROR, words="other"): out / "kept"}
        text = CRASH.replace("enter_h", "s0.nbytes()\nenter_h")
        verdict, found = later.judge(crash.Crash("storage", text, "", 7, 1.0, 1))
    assert (verdict, found.id, found.merged) == ("known", record.id, ())
    assert (out / "kept").is_dir() and (out / record.id).is_dir()


@pytest.mark.parametrize("answers, found", [
    ([("", ""), ("", ""), ("", "")], None),
    ([("", ""), ("", "t0"), ("", "")], (1, False)),
    ([("", ""), ("RuntimeError", ""), ("MemoryError", "t0, t1")], (2, True))])
def test_the_line_that_leads_outside_of_memory_is_reported_with_what_it_raised(answers, found):
    lines = [SimpleNamespace(index=index) for index in range(3)]
    server = SimpleNamespace(
        table=SimpleNamespace(program_text=len),
        observations=lambda counts, question: None,
        traces=lambda counts: [(Observation(*answers[count - 1]), Observation("", ""))
                               for count in counts])
    reached = cases.reaching_outside(server, lines)
    assert (reached and (reached.line.index, reached.raised)) == found


def test_a_sequence_is_known_if_one_of_it_does_what_is_known_to_damage_memory(
        released_subject, tmp_path, monkeypatch):
    texts = [f"t{number} = T.ones(4)\n" for number in range(3)]
    (tmp_path / "recorder").write_text(json.dumps({"count": 3, "programs": texts}))
    monkeypatch.setattr(Server, "states", lambda self, programs: [
        State("finding" if set(texts[:2]) <= set(programs) else "clean", False, True, None)])
    monkeypatch.setattr(triage, "reaching_outside", lambda server, lines: (
        dedup.Outside(lines[0], False) if "t1" in lines[0].operands else None))
    found = crash.Crash("storage", texts[2], "", 9, 1.0, 1, tmp_path / "recorder")
    with triage.Triage(released_subject, finding.check_writable(tmp_path / "out"), 2) as judge:
        assert judge.judge(found)[0] == "unreproduced"
        judge.buckets.folders = {
            DedupKey(OUTSIDE, lines=(("make", "t0", "_"),)): tmp_path / "repro" / "sigsegv-1"}
        verdict, record = judge.judge(found)
    assert verdict == "known" and record.id == "sigsegv-1"
    assert record.avoid == (texts[1], texts[2])
