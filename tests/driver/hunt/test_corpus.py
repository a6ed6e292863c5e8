"""A corpus is complete at each moment of a merge, whatever ends the merge."""

import os
from types import SimpleNamespace

import pytest

from slotfuzz.errors import BrokenError, Interrupted
from slotfuzz.hunt import corpus


@pytest.fixture
def folder(tmp_path):
    """A corpus of two programs, alone in its parent folder."""
    made = tmp_path / "storage"
    made.mkdir()
    for name in ("one", "two"):
        (made / name).write_text(name)
    return made


def texts(folder):
    """The texts of the corpus; checks that nothing is beside it."""
    assert os.listdir(folder.parent) == [folder.name]
    return sorted(path.read_text() for path in folder.iterdir())


def merging(monkeypatch, after=lambda: None):
    """Makes the engine's merge keep the program `one`; AFTER may raise."""
    def run(subject, target, words):
        with open(os.path.join(words[1], "one"), "w") as kept:
            kept.write("one")
        return SimpleNamespace(returncode=after() or 0, stderr=b"it went wrong")
    monkeypatch.setattr(corpus, "_run", run)


def test_a_merge_leaves_the_smaller_corpus_alone(folder, monkeypatch):
    merging(monkeypatch)
    assert corpus.merge(None, "storage", folder, []) == (2, 1)
    assert texts(folder) == ["one"]


def test_an_interrupted_merge_leaves_the_corpus_as_it_was(folder, monkeypatch):
    def interrupt():
        raise Interrupted(2)
    merging(monkeypatch, interrupt)
    with pytest.raises(Interrupted):
        corpus.merge(None, "storage", folder, [])
    assert texts(folder) == ["one", "two"]


def test_a_merge_that_fails_leaves_the_corpus_as_it_was(folder, monkeypatch):
    merging(monkeypatch, lambda: 1)
    with pytest.raises(BrokenError, match="it went wrong"):
        corpus.merge(None, "storage", folder, [])
    assert texts(folder) == ["one", "two"]


def test_an_interrupt_between_the_renames_puts_the_corpus_back(folder, monkeypatch):
    merging(monkeypatch)
    rename, done = os.rename, []

    def once(source, place):
        if done and len(done) == 1:
            done.append(place)
            raise Interrupted(15)
        done.append(place)
        rename(source, place)
    monkeypatch.setattr(os, "rename", once)
    with pytest.raises(Interrupted):
        corpus.merge(None, "storage", folder, [])
    assert texts(folder) == ["one", "two"]


@pytest.mark.parametrize("is_moved", [False, True])
def test_the_folder_of_a_killed_merge_is_removed(folder, is_moved):
    place = folder.parent / ".storage-merge-x"
    (place / corpus.NEW).mkdir(parents=True)
    if is_moved:
        os.rename(folder, place / corpus.OLD)
    corpus.clear_up(folder)
    assert texts(folder) == ["one", "two"]


def test_the_folder_of_a_running_merge_stays(folder):
    place = folder.parent / ".storage-merge-x"
    place.mkdir()
    lock = corpus.try_lock(place)
    corpus.clear_up(folder)
    assert place.exists()
    os.close(lock)


def test_an_entry_that_a_killed_process_left_empty_is_dropped(folder):
    torn, own = folder / ("a" * 40), folder / "empty.py"
    torn.write_text("")
    own.write_text("")
    assert corpus.Growing(folder).about_to_load()[1] == set()
    assert not torn.exists() and own.exists()
    assert sorted(os.listdir(folder)) == ["empty.py", "one", "two"]
