"""The result of a hunt: how verdicts of triage change its findings."""

from dataclasses import replace
from pathlib import Path

from slotfuzz.hunt import hunt
from slotfuzz.hunt.plan import Result
from slotfuzz.schema.record import CRASH, DedupKey
from slotfuzz.triage import triage
from slotfuzz.triage.judged import Judged
from tests.driver import records


def judged(identifier, folder, **fields):
    """A crash that belongs to a finding in the folder out/FOLDER."""
    return Judged(**{**dict(id=identifier, signature="crash", text="", folder=Path("out") / folder),
                     **fields})


def test_a_hunt_reports_the_shorter_variant(plan, monkeypatch):
    judge, shown = triage.Triage.judge, []

    def longer_by(one, lines):
        return replace(one, finding=replace(one.finding, lines=one.finding.lines + lines))

    def shorter(self, found):
        verdict, one = judge(self, found)
        if verdict == "new" and not shown:
            shown.append(longer_by(one, 1))
            return verdict, shown[0]
        if len(shown) == 1:
            shown.append(longer_by(shown[0], -1))
            return "shorter", shown[1]
        return verdict, one
    monkeypatch.setattr(triage.Triage, "judge", shorter)
    asked = []
    result = hunt.run(plan(runs=300, stop_when=lambda one: asked.append(one)))
    assert shown[1] in result.new and shown[0] not in result.new
    assert shown[1] in result.known and shown[1] in asked


def test_an_unreproduced_crash_becomes_known_once_its_bucket_reproduces(plan, monkeypatch):
    verdicts = iter(["unreproduced", "unreproduced", "new", "known"])
    one = judged("one", "one", finding=records.finding(
        "one", dedup_keys=(DedupKey(CRASH),), verified_runs=2))
    other = replace(one, id="other", folder=Path("out/other"))

    def judge(self, found):
        verdict = next(verdicts, None)
        return (verdict, one) if verdict else ("unreproduced", other)
    monkeypatch.setattr(triage.Triage, "judge", judge)
    result = hunt.run(plan(runs=300))
    assert result.new == [one] and result.known == [one] * 3
    assert result.unreproduced and one not in result.unreproduced


def test_findings_that_turn_out_to_be_one_bug_are_counted_as_one():
    a, b = judged("a", "a"), judged("b", "b")
    both, seen = replace(a, merged=("b",)), judged("b", "b", text="x")
    result = Result(new=[a, b], known=[seen])
    result.take("known", a)
    assert len(result.new) == 2
    result.take("known", both)
    assert result.new == [a]
    assert result.known == [replace(seen, id="a", folder=a.folder), a, both, a]


def test_a_reproduced_finding_absorbs_unreproduced_ones():
    result = Result(unreproduced=[judged("x", "a"), judged("y", "b")])
    result.take("new", judged("a", "a"))
    assert [one.id for one in result.known] == ["x"]
    assert [one.id for one in result.unreproduced] == ["y"] and result.findings == 3
