"""Findings of a baseline are old and do not fail a hunt; all other findings do."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from slotfuzz import cli
from slotfuzz.errors import UserError
from slotfuzz.finding import finding
from slotfuzz.hunt import hunt
from slotfuzz.hunt.baseline import Baseline
from slotfuzz.hunt.plan import Plan
from slotfuzz.subject import subject
from tests.driver import records

MUTANT = "mutant:hermetic-del-storage"
# The hunts end after these findings; a finding takes as long as hundreds of clean programs.
FEW = 40
KINDS = ("heap-use-after-free", "P2 attributes")


@pytest.fixture
def hunted(fake_subject, tmp_path):
    """Hunts on the fake subject until each of KINDS was found, or for RUNS programs."""
    def run(place, baseline=None, runs=None, **fields):
        seen = set()
        plan = Plan(
            subject=replace(fake_subject, **fields), targets=["storage"], out=tmp_path / place,
            seconds=60, seed=1, corpus=tmp_path / f"corpus-{place}", runs=runs, baseline=baseline,
            stop_when=lambda judged: seen.add(judged.finding.kind) or set(KINDS) <= seen)
        return hunt.run(plan)
    return run


def only(folder, kind):
    """FOLDER, after removing all findings but those of KIND."""
    for path in folder.glob("*/finding.json"):
        if finding.read(path.parent).kind != kind:
            shutil.rmtree(path.parent)
    return folder


def test_findings_of_the_baseline_are_old_and_all_others_are_new(hunted, tmp_path):
    assert set(KINDS) <= {judged.finding.kind for judged in hunted("first").new}
    baseline = Baseline(only(tmp_path / "first", KINDS[0]))
    result = hunted("second", baseline, runs=400)
    kinds = {judged.finding.kind for judged in result.new}
    assert KINDS[1] in kinds and KINDS[0] not in kinds
    assert result.exit_code == 1 and baseline.gone == []


def test_a_hunt_that_finds_only_the_baseline_is_clean(hunted, tmp_path, monkeypatch):
    hunted("first")
    # Otherwise the engine skips the programs of the baseline and finds nothing.
    monkeypatch.setattr("slotfuzz.hunt.workplace.Workplace.suppress", lambda *_: None)
    result = hunted("second", Baseline(tmp_path / "first"), runs=FEW)
    assert result.old and not result.new + result.known + result.unreproduced
    assert result.exit_code == 0 and not list((tmp_path / "second").rglob("finding.json"))


def test_a_mutants_finding_can_be_old(hunted, tmp_path, monkeypatch):
    hunted("first", name=MUTANT)
    monkeypatch.setattr("slotfuzz.hunt.workplace.Workplace.suppress", lambda *_: None)
    result = hunted("second", Baseline(tmp_path / "first"), runs=FEW, name=MUTANT)
    assert result.old and result.exit_code == 0


def test_with_a_baseline_findings_in_repro_are_not_suppressed(fake_subject, tmp_path):
    folder = tmp_path / "base" / "one"
    folder.mkdir(parents=True)
    (folder / "finding.json").write_text(records.finding("one").text())
    plan = Plan(fake_subject, ["storage"], tmp_path / "out")
    assert tmp_path / "out" in plan.suppressing_folders() and len(plan.suppressing_folders()) > 1
    compared = replace(plan, baseline=Baseline(tmp_path / "base"))
    assert compared.suppressing_folders() == [tmp_path / "out"]


def test_a_baseline_finding_that_is_gone_or_has_no_script_makes_nothing_old(hunted, tmp_path):
    hunted("first")
    base = only(tmp_path / "first", KINDS[0])
    (folder,) = (path.parent for path in base.glob("*/finding.json"))
    (folder / "repro.py").write_text("t0 = T.ones(1)\n")
    bare = base / "deeper" / "unreproduced-1"
    bare.mkdir(parents=True)
    (bare / "finding.json").write_text(records.finding("unreproduced-1").text())
    baseline = Baseline(base)
    result = hunted("second", baseline, runs=400)
    assert baseline.gone == [folder.name] and baseline.without_script == ["unreproduced-1"]
    assert KINDS[0] in {judged.finding.kind for judged in result.new} and result.exit_code == 1


def test_a_finding_that_fails_sometimes_is_tried_more_than_once(tmp_path):
    folder = tmp_path / "sometimes"
    folder.mkdir()
    (folder / "finding.json").write_text(records.finding(rate=0.5, target="tensor").text())
    (folder / "repro.py").write_text("")
    asked = []

    class Triage:
        def rerun(self, target, where):
            asked.append(target)
            return "rerun" if len(asked) == 3 else None

        def learn(self, rerun):
            return ["program of", rerun]
    baseline = Baseline(tmp_path)
    with ThreadPoolExecutor(2) as pool:
        programs = baseline.recall(Triage(), ["storage", "tensor"], pool)
    assert programs == ["program of", "rerun"]
    assert asked == ["tensor"] * 3 and baseline.gone == []


@pytest.mark.parametrize("make, words", [
    (lambda folder: None, "is not a folder"),
    (lambda folder: folder.mkdir(), "holds no finding"),
    (lambda folder: folder.write_text(""), "is not a folder"),
])
def test_a_baseline_without_findings_is_an_error(tmp_path, monkeypatch, capsys, make, words):
    monkeypatch.setattr(subject, "resolve", lambda *_, **__: pytest.fail("built in vain"))
    make(tmp_path / "base")
    assert cli.main(["hunt", "--baseline", str(tmp_path / "base"), "--out",
                     str(tmp_path / "out")]) == 2
    assert words in capsys.readouterr().err


def test_findings_cannot_be_written_into_the_baseline(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "finding.json").write_text(records.finding("one").text())
    with pytest.raises(UserError, match="would be old in the next hunt"):
        Baseline(tmp_path).check_apart(tmp_path / "out")
    Baseline(tmp_path / "one").check_apart(tmp_path / "out")
