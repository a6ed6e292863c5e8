"""A campaign's findings, counted by the root causes of a baseline."""

import json

from slotfuzz import report
from slotfuzz.report.recognized import recognized
from slotfuzz.schema.record import JUDGE
from tests.driver.commands.test_cli import slotfuzz

KEYS = {name: [{"kind": JUDGE, "contract": "P1", "check": name, "lines": [["new", "s0"]]}]
        for name in ("one", "two", "three")}
LONGER = [{**KEYS["two"][0], "lines": [["new", "s0"], ["weak", "c0", "s0"]]}]


def known_and_found(campaign, tmp_path):
    campaign("known-1", "t0", release="2.6.0", dedup_keys=KEYS["one"], sentence="The first.")
    campaign("known-2", "t0", release="2.14.1", dedup_keys=KEYS["one"], sentence="The first.")
    campaign("known-3", "t0", release="2.6.0", dedup_keys=KEYS["two"], tier="odd")
    baseline = campaign("known-4", "t0", release="2.6.0", dedup_keys=KEYS["two"][:0]).rename(
        tmp_path / "baseline")
    campaign("found-1", "t0", dedup_keys=KEYS["one"])
    campaign("found-2", "t0", dedup_keys=[*KEYS["one"], *KEYS["three"]])
    campaign("found-3", "t0", dedup_keys=LONGER)
    return baseline, campaign("found-4", "t0", dedup_keys=KEYS["three"], sentence="Unknown.")


def test_findings_are_counted_by_root_causes(campaign, tmp_path):
    baseline, found = known_and_found(campaign, tmp_path)
    result = recognized(report.collect(found).entries, report.collect(baseline).entries)
    assert [[one.record.id for one in entries] for _, entries in result.causes] == [
        ["found-1", "found-2"], ["found-3"]]
    assert [one.record.id for one in result.others] == ["found-4"]
    assert result.text.splitlines() == [
        "4 findings: 2 root causes of the baseline (1 through public API alone, 1 through odd"
        " values that should raise), and 1 findings that it lacks",
        "  known-1: found-1, found-2: The first.", "  known-3: found-3: signal SIGSEGV in <f>",
        "  not in it: found-4: Unknown."]


def test_report_prints_the_count(campaign, tmp_path, capsys):
    baseline, found = known_and_found(campaign, tmp_path)
    code, out, _ = slotfuzz(capsys, "report", str(found), "--baseline", str(baseline))
    assert code == 0 and "2 root causes of the baseline" in out
    code, out, _ = slotfuzz(capsys, "report", str(found), "--baseline", str(baseline), "--json")
    causes = {row["id"]: row["root_cause"] for row in json.loads(out)}
    assert code == 0 and causes == {"found-1": "known-1", "found-2": "known-1",
                                    "found-3": "known-3", "found-4": ""}
    (baseline / "torch-2.6.0" / "known-3" / "finding.json").write_text("{")
    code, out, err = slotfuzz(capsys, "report", str(found), "--baseline", str(baseline))
    assert code == 2 and "could not read torch-2.6.0/known-3" in err and "1 root causes" in out
    code, _, err = slotfuzz(capsys, "report", str(found), "--baseline", str(tmp_path / "nowhere"))
    assert code == 2 and "no such folder" in err and "nowhere" in err
