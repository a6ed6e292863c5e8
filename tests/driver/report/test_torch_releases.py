"""ci/torch_releases.sh: which ends of a script count, and what it writes."""

import json
from pathlib import Path

import pytest

from slotfuzz.report import issue
from slotfuzz.scripts import torch_releases
from slotfuzz.triage import verify

ASSERTED = r'^(?:[\w.]+\.)?RuntimeError: a INTERNAL ASSERT FAILED at "[^"]*":(?:N|\d+)'


@pytest.mark.parametrize("stated, code, text, counts", [
    ("^killed by SIGBUS$", -7, "", True), ("^killed by SIGBUS$", -11, "", True),
    ("^killed by SIGBUS$", 1, "OSError: libc10.so", False), ("^killed by SIGBUS$", 0, "", False),
    ("^killed by SIGBUS$", -9, "", False), ("^AssertionError", -11, "", True),
    ("^AssertionError", 1, "NameError", False), (ASSERTED, 1, "RuntimeError: no", False),
    (ASSERTED, 1, 'RuntimeError: a INTERNAL ASSERT FAILED at "x.cpp":7', True),
    (ASSERTED, 1, 'RuntimeError: b INTERNAL ASSERT FAILED at "y.cpp":7', True)])
def test_only_what_a_script_states_or_a_related_failure_counts(stated, code, text, counts):
    assert torch_releases.counts(stated, code, text) == counts


@pytest.mark.parametrize("said, line", [
    ("x\nValueError: no", "ValueError: no"),
    ('Traceback (most recent call last):\n  File "a"\nKeyError: 1\n\nDuring it:\n\n'
     'Traceback (most recent call last):\n  File "a"\n    f()\nx.Undecided: which\n\nSee y',
     "x.Undecided: which")])
def test_an_end_is_the_line_that_names_the_exception(said, line):
    assert torch_releases.error_in(said) == line


def test_an_issue_and_the_releases_are_written(campaign, monkeypatch, capsys, tmp_path):
    root = campaign("x", "t0 = 1", user_script="import torch\n", expected="An error.",
                    cause="It is known.", files={"report.txt": ""})
    monkeypatch.setattr(torch_releases.rootfs, "check", Path)
    monkeypatch.setattr(torch_releases, "release_in", lambda tree, _: tree.name)
    monkeypatch.setattr(torch_releases, "failing", lambda tree, entries: {
        entry.folder: tree.name == "2.6.0" for entry in entries})
    monkeypatch.setattr(verify, "fresh_run", lambda command, _: (
        (-11, "") if "2.6.0" in str(command) else (1, "x\nValueError: no\n")))
    trees = [str(tmp_path / name) for name in ("2.14.1", "2.6.0")]
    code = torch_releases.cli.script(torch_releases.NAME, torch_releases,
                                     [*trees, "--repro", str(root)])
    folder = root / "torch-2.6.0" / "x"
    record = json.loads((folder / "finding.json").read_text())
    assert code == 0 and list(record["fails_in"].items()) == [("2.6.0", True), ("2.14.1", False)]
    assert record["user_ends"] == {"2.6.0": "killed by SIGSEGV", "2.14.1": "ValueError: no"}
    assert "| 2.14.1 | ValueError: no |" in (folder / issue.NAME).read_text()
    capsys.readouterr()


def test_a_finding_that_no_longer_fails_in_its_release_is_named(campaign, monkeypatch, capsys):
    root = campaign("x", "t0 = 1")
    monkeypatch.setattr(torch_releases.rootfs, "check", Path)
    monkeypatch.setattr(torch_releases, "release_in", lambda *_: "2.6.0")
    monkeypatch.setattr(torch_releases, "failing", lambda _, entries: {
        entry.folder: False for entry in entries})
    code = torch_releases.cli.script(torch_releases.NAME, torch_releases,
                                     ["tree", "--repro", str(root)])
    assert code == 1 and "no failure in its own release: x" in capsys.readouterr().out
