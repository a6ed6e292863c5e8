"""The benchmarks' interface, and the arithmetic of those that hunt, with fake measurements."""

import argparse
import csv
import json
import sys
from unittest import mock

import pytest

from slotfuzz.commands import bench
from slotfuzz.console import Output
from slotfuzz.measure import benchmark, mutants

HUNTED = {
    "mutant": "a", "found": True, "seconds": 2.0, "programs": 10, "lines": 4, "lines_before": 9,
    "minimize_runs": 20, "minimize_programs": 300, "minimize_seconds": 0.5, "one_minimal": True,
    "rate": 1.0, "verdict": "v",
}


@pytest.fixture
def hunts(monkeypatch):
    """Fake hunts that take SEED seconds; the fourth finds nothing."""
    def hunt_one(name, seconds, seed):
        return {**HUNTED, "mutant": name, "seed": seed, "seconds": float(seed), "found": seed != 4}
    monkeypatch.setattr(mutants, "hunt_one", hunt_one)


def measured(name, seeds):
    args = argparse.Namespace(mutants=["a"], seeds=seeds, seconds=60.0)
    return benchmark.load(name).measure(args)


@pytest.mark.parametrize("name", benchmark.names())
def test_every_benchmark_names_its_command(name):
    assert f"./slotfuzz bench {name}" in benchmark.load(name).__doc__


def test_there_are_benchmarks():
    assert {"throughput", "time_to_bug", "minimizers"} <= set(benchmark.names())


def test_a_hunt_that_finds_nothing_counts_as_the_slowest(hunts):
    summary = measured("time_to_bug", 4).summary["a"]
    assert (summary["found"], summary["seconds_median"], summary["seconds_max"]) == (3, 2.5, None)
    assert measured("time_to_bug", 3).summary["a"]["seconds_max"] == 3.0


def test_a_benchmark_writes_csv_and_one_document(hunts, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path))
    args = argparse.Namespace(names=["time_to_bug"], mutants=None, seeds=2, seconds=60.0,
                              sample=None,
                              runs=None, seed=None)
    assert bench.run(args, Output(True)) == 0
    document = json.loads(capsys.readouterr().out)
    with open(tmp_path / "bench" / "time_to_bug.csv") as file:
        rows = list(csv.DictReader(file))
    assert [row["seconds"] for row in rows] == ["1.0", "2.0"]
    assert document["time_to_bug"]["summary"]["hermetic-del-storage"]["found"] == 2


def test_a_plot_shows_the_measurements_and_names_its_axes(hunts):
    axes = mock.MagicMock()
    benchmark.load("time_to_bug").plot(measured("time_to_bug", 3), axes)
    assert len(axes.step.call_args[0][0]) >= 3
    assert axes.set_xlabel.called and axes.set_ylabel.called


def test_no_plot_without_matplotlib(hunts, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    module = benchmark.load("time_to_bug")
    assert benchmark.write_plot("time_to_bug", module, measured("time_to_bug", 3)) is None
