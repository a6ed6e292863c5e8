"""What a report collects: the findings of a folder, ranked, and those that are unreadable."""

import json
import shutil

import pytest

from slotfuzz import report
from slotfuzz.errors import UserError
from slotfuzz.report.markdown import markdown
from slotfuzz.schema.record import TIERS
from tests.driver.commands.test_cli import slotfuzz
from tests.driver.conftest import ROOT
from tests.driver.report.campaigns import SAMPLE, START, write_series


def test_public_api_comes_first_and_crashes_before_wrong_results(campaign):
    campaign("d-odd", "t0.resize_(-1)", reach="odd")
    campaign("c-private", "t0 = T.ones(1)\nt0._cdata", tier="underscore")
    campaign("b-flag", "enter_hermetic()\ndel s0", tier="underscore", reach="nonsense")
    campaign("a-wrong", "t0 = T.ones(1)", oracle="contract", lines=1, tier="nonsense")
    root = campaign("z-crash", "t0.__dict__\nt0 = T.ones(1)", lines=2)
    assert [entry.record.id for entry in report.collect(root).entries] == [
        "z-crash", "a-wrong", "b-flag", "c-private", "d-odd"]


def test_a_persons_tier_replaces_the_records(campaign):
    root = campaign("x", "t0 = 1", tier="odd", reach="public")
    assert [entry.tier for entry in report.collect(root).entries] == ["public"]


def test_each_tier_has_words_and_the_lowest_is_the_most_severe():
    assert tuple(report.TIERS_IN_WORDS) == TIERS


BROKEN = {
    "truncated": lambda text: text[:len(text) // 2], "null": lambda _: "null",
    "a list": lambda _: "[]", "empty": lambda _: "", "binary": lambda _: "\udcff\udcfe",
    "deep": lambda _: "[" * 100_000,
    "a field is missing": lambda text: text.replace('"rate_low"', '"rate_lower"'),
    **{f"{field} is {value}": lambda text, field=field, value=value: json.dumps(
        {**json.loads(text), field: json.loads(value)})
       for field in ("id", "rate", "lines", "versions", "dedup_keys", "variants", "fails_in",
                     "sentence", "one_minimal", "contract", "reach", "tier",
                     "verified_runs")
       for value in ("null", "[[1]]", '{"a": []}')},
    "not a number": lambda text: text.replace('"rate": 1.0', '"rate": NaN'),
    "too much": lambda text: text.replace('"seconds_to_find": 0.5', '"seconds_to_find": 1e999'),
    "below nothing": lambda text: text.replace('"lines": 0', '"lines": -1'),
    "half a character": lambda text: text.replace('"kind": "', '"kind": "\\ud800'),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_finding_that_cannot_be_read_is_named_and_the_rest_is_shown(campaign, capsys, how):
    campaign("broken", "t0 = 1")
    root = campaign("whole", "t0 = 2", sentence="It crashes.")
    path = root / "torch-2.6.0" / "broken" / "finding.json"
    path.write_text(BROKEN[how](path.read_text()), errors="surrogateescape")
    code, _, said = slotfuzz(capsys, "report", str(root))
    assert code == 2
    assert said.startswith("slotfuzz: could not read torch-2.6.0/broken: finding.json")
    assert said.count("\n") == 1
    text = (root / "report.html").read_text()
    assert "<code>torch-2.6.0/broken</code>: finding.json" in text and "It crashes." in text
    code, out, said = slotfuzz(capsys, "report", str(root), "--markdown")
    assert code == 2 and "could not read torch-2.6.0/broken" in said and "It crashes." in out


def test_a_folder_whose_name_is_no_text_is_in_the_page(campaign, capsys):
    root = campaign("x", "t0 = 1", sentence="It crashes.")
    (root / "torch-2.6.0" / "x").rename(root / "torch-2.6.0" / "x\udcff")
    assert slotfuzz(capsys, "report", str(root))[0] == 0
    assert "torch-2.6.0/x?" in (root / "report.html").read_text()


def test_a_finding_without_its_script_is_named(campaign, capsys):
    root = campaign("broken", "t0 = 1")
    (root / "torch-2.6.0/broken/repro.py").unlink()
    code, _, said = slotfuzz(capsys, "report", str(root))
    assert code == 2 and "torch-2.6.0/broken: repro.py: No such file" in said
    assert "could not be read" in (root / "report.html").read_text()


def test_a_series_that_cannot_be_read_is_named(campaign, capsys):
    root = campaign("x", "t0 = 1")
    write_series(root, START, [], SAMPLE)
    code, _, said = slotfuzz(capsys, "report", str(root))
    assert code == 2 and "could not read campaign.jsonl: line 2: not a record of a hunt" in said


def test_what_a_killed_hunt_was_writing_is_no_finding(campaign):
    root = campaign("x", "t0 = 1")
    shutil.copytree(root / "torch-2.6.0" / "x", root / "torch-2.6.0" / ".new-abc")
    (root / "torch-2.6.0/.new-abc/finding.json").write_text("{")
    found = report.collect(root)
    assert len(found.entries) == 1 and found.unreadable == []


def test_markdown_is_by_release_with_what_a_person_knows(campaign):
    campaign("core-1", "s0", release="0", subject="core", versions={})
    campaign("x-1", "t0 = T.ones(1)\ndel t0", release="1.13.1", known_as="4", contract="P2",
             why="It is public.", fails_in={"1.13.1": True, "2.6.0": False})
    root = campaign("x-2", "t0._cdata", release="2.6.0")
    (root / "torch-0.9").mkdir()
    (root / "torch-0.9" / "about.md").write_text("Nothing was found.\n")
    text = markdown(root, report.collect(root).entries)
    assert "## PyTorch 0.9\n\nNothing was found.\n\n## PyTorch 1.13.1" in text
    assert text.index("## PyTorch 1.13.1") < text.index("[x-1]") < text.index("## PyTorch 2.6.0")
    assert "known as 4" in text and "fails on 1.13.1, not on 2.6.0" in text
    assert "(../repro/torch-1.13.1/x-1/repro.py)\n\n    t0 = T.ones(1)\n    del t0\n" in text
    assert "not in the list of known bugs" in text.split("[x-2]")[1] and "core-1" not in text


def test_a_folder_without_findings_is_reported(tmp_path, capsys):
    with pytest.raises(UserError, match="holds no finding"):
        report.collect(tmp_path)
    assert slotfuzz(capsys, "report", str(tmp_path / "nope"))[0] == 2


def test_the_command_writes_the_page_or_prints(campaign, capsys, tmp_path):
    root = campaign("x-1", "t0 = T.ones(1)")
    assert slotfuzz(capsys, "report", str(root))[0] == 0 and (root / "report.html").exists()
    code, out, _ = slotfuzz(capsys, "report", str(root), "--markdown")
    assert code == 0 and out.startswith("# What it finds in PyTorch")
    code, out, _ = slotfuzz(capsys, "report", str(root), "--json", "-o", str(tmp_path / "x.html"))
    assert code == 0 and [row["id"] for row in json.loads(out)] == ["x-1"]


def test_torch_document_is_up_to_date():
    root = ROOT / "repro"
    made = markdown(root, report.collect(root).entries)
    assert made + "\n" == (ROOT / "docs" / "torch.md").read_text(), "run what its first lines say"


def test_what_is_kept_of_torch_is_confirmed():
    kept = [entry for entry in report.collect(ROOT / "repro").entries if entry.release]
    assert kept
    for entry in kept:
        assert entry.record.rate == 1.0 and entry.record.fails_in, entry.folder
        assert entry.record.why and entry.record.sentence, entry.folder
        notes = (entry.folder / "NOTES.md").read_text()
        assert entry.record.why in notes and entry.record.sentence in notes, entry.folder
        # Unlike a crash or a failed internal assertion, a promise needs its contract sentence.
        assert entry.record.contract or entry.record.oracle not in ("contract", "assert")
