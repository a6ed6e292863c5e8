"""The result of a hunt: how verdicts of triage change its findings."""

from slotfuzz.hunt import hunt
from slotfuzz.hunt.plan import Result
from slotfuzz.schema.record import KEYS
from slotfuzz.triage import triage


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
