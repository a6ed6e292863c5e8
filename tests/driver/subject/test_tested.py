"""FILE.py:NAME of `hunt --function`: what is refused, and what the engine and a finding get."""

from dataclasses import replace

import pytest

from slotfuzz.errors import UserError
from slotfuzz.finding import emit
from slotfuzz.subject import tested
from tests.driver import records


@pytest.fixture(name="function")
def written(tmp_path):
    """The function Mine in mine.py."""
    (tmp_path / "mine.py").write_text("Mine = 1\n")
    return tested.read("mine.py:Mine", tmp_path)


@pytest.mark.parametrize(("text", "words"), [
    ("mine.py", "FILE.py:NAME"),
    ("mine:Mine", "FILE.py:NAME"),
    ("mine.py:a.b", "FILE.py:NAME"),
    ("absent.py:Mine", "no such file"),
    ("two words.py:Mine", "cannot import"),
    ("json.py:Mine", "rename json.py"),
    ("repro.py:Mine", "rename repro.py"),
])
def test_what_cannot_be_imported_is_refused(text, words, tmp_path):
    for name in ("mine.py", "two words.py", "json.py", "repro.py"):
        (tmp_path / name).touch()
    with pytest.raises(UserError, match=words):
        tested.read(text, tmp_path)


def test_the_engine_gets_its_folder_and_a_snippet(function, fake_subject):
    command = replace(fake_subject, function=function).command("storage")
    assert f"--path={function.file.parent}" in command
    (snippet,) = [word for word in command if word.startswith("--snippets=")]
    assert "from mine import Mine as tested" in snippet


def test_a_finding_belongs_to_its_function(function, fake_subject):
    of_function = replace(records.finding(), subject=fake_subject.name,
                          versions={tested.KEY: "mine.py:Mine"})
    assert not fake_subject.has_finding(of_function)
    assert replace(fake_subject, function=function).has_finding(of_function)
    assert replace(fake_subject, function=function).label == "core mine.py:Mine"


def test_a_script_names_its_function():
    header = emit.header("bug", "A7", "core", "none", "mine.py:Mine")
    assert emit.read_header(header)["function"] == "mine.py:Mine"
