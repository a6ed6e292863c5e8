"""What a killed hunt left: the next one judges its crashes, and other commands do not."""

import os
from dataclasses import replace

import pytest

from slotfuzz.hunt import hunt
from slotfuzz.hunt.workplace import Workplace
from tests.driver.conftest import MINIMAL


def test_the_next_hunt_judges_crashes_of_a_killed_hunt(plan, fake_subject, tmp_path):
    dead = Workplace(fake_subject, tmp_path / "out")
    (dead.job("storage", 0) / "crash-x").write_text("\n".join(
        [*MINIMAL[:4], "exit_hermetic()", "s1 = t0.untyped_storage()"]) + "\n")
    os.close(dead._lock)
    result = hunt.run(plan(resumes=True))
    assert [one.finding.kind for one in result.new] == ["heap-use-after-free"]
    assert result.programs == 0 and not dead.folder.exists()


@pytest.mark.parametrize("name, out, resumes", [
    ("mutant:weak-slot", "out", True), ("core", "other", True), ("core", "out", False)])
def test_other_commands_ignore_a_crash_of_a_killed_hunt(
        plan, fake_subject, tmp_path, name, out, resumes):
    """Such as a hunt on a mutant, a hunt with another folder, `mutants` and `bench`."""
    chosen = replace(fake_subject, name=name)
    dead = Workplace(chosen, tmp_path / "out")
    left = dead.job("storage", 0) / "crash-x"
    left.write_text("t0 = T.ones(1)\n")
    os.close(dead._lock)
    result = hunt.run(plan(subject=chosen, out=tmp_path / out, resumes=resumes, runs=20,
                           stop_when=None))
    assert left.exists() and result.programs == 20


def test_two_hunts_do_not_take_each_others_work(fake_subject, tmp_path):
    first, second = (Workplace(fake_subject, tmp_path) for _ in range(2))
    (first.job("storage", 0) / "crash-x").write_text("t0 = T.ones(1)\n")
    assert second.leftovers() == [] and first.folder.exists()
    first.close()
    assert [target for target, _ in second.leftovers()] == ["storage"]
    assert not first.folder.exists()
    second.close()
    assert second.folder.exists(), "a crash that was not judged is gone"
