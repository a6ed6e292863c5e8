"""A subject is one file: a new file in subjects/ is enough to hunt, replay and find it."""

import json
import os
from dataclasses import replace

import pytest

from slotfuzz import cli
from slotfuzz.errors import UserError
from slotfuzz.subject import registry, subject
from slotfuzz.subject.capabilities import Capabilities
from slotfuzz.subject.subjects import core
from tests.driver import records
from tests.driver.conftest import HERE

NEW = """\
\"""other: another module with torch's names for storages and tensors.\"""
from pathlib import Path
from slotfuzz.subject.capabilities import Capabilities
from slotfuzz.subject.subject import Subject


def make(wish):
    return Subject(wish.name, wish.sanitizer or "none", "plain", Path({folder!r}), {python!r},
                   versions={{"other": "1.2"}})


CAPABILITIES = Capabilities(module="othercore", make=make, names=("other",), release_key="other")
"""


@pytest.fixture
def other(fake_subject, add_subject, tmp_path):
    """The file of a subject `other`: its module is the fake core, its engine the fake engine."""
    os.symlink(HERE / "fake_slotcore.py", tmp_path / "modules" / "othercore.py")
    add_subject("other", NEW.format(folder=str(fake_subject.folder),
                                    python=fake_subject.script_python))


def slotfuzz(capsys, *words):
    """Exit code, the document on stdout, and stderr of one command in this process."""
    code = cli.main([*map(str, words), "--json"])
    captured = capsys.readouterr()
    return code, json.loads(captured.out), captured.err


def test_a_new_file_is_a_subject_to_hunt_and_replay(other, capsys, tmp_path):
    hunt = ("hunt", "storage", "--subject", "other", "--seed", 3, "--runs", 500, "--out",
            tmp_path / "out", "--corpus", tmp_path / "corpus")
    code, document, err = slotfuzz(capsys, *hunt, "--stop-at-first")
    assert code == 1, err
    record, = document["new"]
    assert (record["subject"], record["versions"]["other"], record["rate"]) == ("other", "1.2", 1)
    folder = tmp_path / "out" / record["id"]
    script = (folder / "repro.py").read_text()
    assert "import othercore as T\n" in script and "# run: python3 repro.py" in script
    assert script.startswith("# ") and script.partition("\n")[0].endswith(", other 1.2")
    assert not (folder / "timeline.svg").exists(), "it prints no trace"

    code, document, err = slotfuzz(capsys, "replay", folder / "repro.py")
    assert (code, document[0]["subject"]) == (1, "other"), err
    code, document, err = slotfuzz(capsys, *hunt)
    assert [one["id"] for one in document["new"]] == [], err


def test_a_finding_belongs_to_its_release(other, add_subject, tmp_path):
    chosen = subject.resolve("other", None, ["storage"])
    assert chosen.edition == "other 1.2"
    record = records.finding(subject="other", versions={"other": "1.2+debian"})
    assert chosen.has_finding(record)
    assert not chosen.has_finding(replace(record, versions={"other": "1.3"}))
    assert not chosen.has_finding(replace(record, subject="core"))


def test_an_error_message_can_suggest_it(other, capsys):
    with pytest.raises(UserError, match="did you mean other"):
        registry.find("othr")
    with pytest.raises(SystemExit):
        cli.main(["hunt", "-h"])
    assert "core|core:resurrect|mutant:ID|other|torch" in capsys.readouterr().out.replace("\n", "")


@pytest.mark.parametrize("name", ["", "core:", "core:other", "mutant", "cor", "../core", "a.b"])
def test_an_unknown_name_is_an_error(name):
    with pytest.raises(UserError, match="no subject .*(core|mutant:ID)"):
        registry.find(name)


def test_a_subject_without_programs_is_an_error_that_names_interleave():
    with pytest.raises(UserError, match="c10 runs schedules, not programs: ./slotfuzz interleave"):
        subject.resolve("c10", None, ["storage"])
    assert registry.find_interleaved("c10").is_fuzzed_by_schedule
    with pytest.raises(UserError, match="no subject 'torch' here; core, mutant:ID or c10"):
        registry.find_interleaved("torch")


def test_each_file_has_a_row_that_can_be_made_or_interleaved():
    rows = registry.every()
    assert len(rows) >= 4 and all(isinstance(row, Capabilities) for row in rows)
    assert all(bool(row.names) == bool(row.make) and (row.names or row.interleaved)
               for row in rows)
    assert registry.names() == ["core", "core:resurrect", "mutant:ID", "torch"]
    assert registry.find(registry.DEFAULT) is core.CAPABILITIES


def test_a_seeded_bug_names_the_target_that_finds_it():
    assert registry.own_target("core") == "" and registry.own_target("mutant:weak-slot")
    with pytest.raises(UserError, match="no mutant 'weak-slit'.*weak-slot"):
        registry.own_target("mutant:weak-slit")
