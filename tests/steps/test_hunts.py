"""Hunts on the core are clean; hunts on the canary and on mutants find the bug."""

import os

import pytest

from slotfuzz.hunt import corpus, hunt, job
from slotfuzz.hunt.plan import Plan
from slotfuzz.paths import ROOT
from slotfuzz.subject import catalogue, mutant, subject
from tests.steps.run import slotfuzz

# As many programs on a busy machine as on an idle one: 80 per job, those of the seeds included.
RUNS, JOBS = 80, 2
OF_SO_MANY_PROGRAMS = ("--runs", RUNS, "--jobs", JOBS, "--seconds", 600, "--seed", 1)
# The mutants with the shortest programs, each found within seconds; `./slotfuzz mutants` runs all.
MUTANTS_TRIED = 4


@pytest.mark.parametrize("sanitizer", ["address", "thread", "debugpy"])
def test_a_hunt_on_the_core_is_clean(sanitizer, tmp_path):
    document = slotfuzz("hunt", *OF_SO_MANY_PROGRAMS, "--sanitizer", sanitizer, "--out",
                        tmp_path / "out")
    assert document["programs"] >= programs_at_least() and document["new"] == []


def test_a_hunt_on_the_other_protocol_is_clean(tmp_path):
    document = slotfuzz("hunt", "--subject", "core:resurrect", *OF_SO_MANY_PROGRAMS, "--out",
                        tmp_path / "out")
    assert document["programs"] >= programs_at_least() and document["new"] == []


def programs_at_least():
    """Those of all jobs: a job begins with the seeds of its target, which are fewer."""
    targets = catalogue.fuzzable_targets()
    for target in targets:
        assert 0 < len([*(ROOT / "corpus" / target).glob("*.py")]) < RUNS
    return RUNS * JOBS * len(targets)


def test_later_processes_of_a_hunt_load_what_earlier_ones_used(tmp_path, monkeypatch):
    loaded, unused = [], []

    class Watched(corpus.Growing):
        def about_to_load(self):
            loads = super().about_to_load()
            loaded.append(loads[1])
            return loads

        def ended(self, loads, used):
            super().ended(loads, used)
            unused.append(loads[1] - used)
    monkeypatch.setattr(corpus, "Growing", Watched)
    monkeypatch.setattr(job, "PROCESS_PROGRAMS_MAX", 2000)
    folder, seeds = tmp_path / "corpus", sorted((ROOT / "corpus" / "storage").glob("*.py"))
    folder.mkdir()
    for name in "first.py", "again.py":
        (folder / name).write_text(seeds[0].read_text())
    chosen = subject.resolve("core", "none", ["storage"])
    result = hunt.run(Plan(chosen, ["storage"], tmp_path / "out", 60, 12000, corpus=folder))
    assert result.programs >= 12000 and len(loaded) == 6
    assert any(unused), "every process used all programs that it loaded"
    for left_out, later in zip(unused, loaded[1:]):
        assert later and not left_out & later
    assert {"first.py", "again.py"} < {*os.listdir(folder)}


def test_canary_fails(tmp_path):
    document = slotfuzz("hunt", "canary", "--seconds", 60, "--seed", 1, "--stop-at-first",
                        "--out", tmp_path / "out", "--corpus", tmp_path / "corpus", ok=(1,))
    assert document["new"]


def quick_mutants():
    """Names of the default target's mutants with the shortest minimal programs."""
    names = [name for name in catalogue.mutant_names()
             if mutant.read_header(name).target == catalogue.default_target()]
    return sorted(names, key=lambda name: len(mutant.read_header(name).program))[:MUTANTS_TRIED]


@pytest.mark.parametrize("name", quick_mutants())
def test_mutant_is_found(name):
    (row,) = slotfuzz("mutants", name, ok=(0, 3))
    assert row["problems"] == []
