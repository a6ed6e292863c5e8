"""Peers: searches with a limit of CPU time, and what their times say."""

import contextlib
import importlib.util
import math
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from slotfuzz.ci import peers
from slotfuzz.ci.peers import Search, Times
from slotfuzz.errors import BrokenError, MachineError
from slotfuzz.measure import benchmark

needs_psutil = pytest.mark.skipif(importlib.util.find_spec("psutil") is None,
                                  reason="the set-up does not install python3-psutil")
SPIN = "import os; open('pids', 'a').write(f'{os.getpid()} ')\nwhile True: pass"
SPIN_IN_A_CHILD = ("import subprocess, sys; subprocess.run([sys.executable, '-c',"
                   f" {SPIN!r}], start_new_session=True)")
KILLED_SECONDS = 60.0


def search(program: str) -> Search:
    """A search that runs a PROGRAM of Python, and has found the bug if that wrote a file."""
    return Search("one", lambda bug, folder, seed: [sys.executable, "-c", program],
                  lambda folder: (folder / "crash").exists(), lambda bug: {})


@needs_psutil
def test_a_search_that_finds_the_bug_takes_cpu_seconds(tmp_path):
    seconds = peers.run(search("open('crash', 'w')"), None, tmp_path, 1, 60.0)
    assert seconds is not None and 0 < seconds < 60


@needs_psutil
@pytest.mark.parametrize("program", [SPIN, SPIN_IN_A_CHILD])
def test_a_search_ends_when_it_and_its_children_have_used_their_time(tmp_path, program):
    psutil = pytest.importorskip("psutil")
    assert peers.run(search(program), None, tmp_path, 1, 1.0) is None
    (pid,) = map(int, (tmp_path / "pids").read_text().split())
    with contextlib.suppress(psutil.NoSuchProcess):
        spinning = psutil.Process(pid)
        # The kernel ends a killed process in its own time.
        assert spinning.status() == psutil.STATUS_ZOMBIE or spinning.wait(KILLED_SECONDS) is None


@needs_psutil
def test_a_search_that_ends_without_the_bug_is_an_error(tmp_path):
    with pytest.raises(BrokenError, match="one ended with 3"):
        peers.run(search("raise SystemExit(3)"), None, tmp_path, 1, 60.0)


def test_a_search_that_missed_counts_as_the_limit():
    times = Times((1.0, 2.0), 1, 6.0)
    assert times.mean == 3.0
    low, high = times.interval()
    assert 1.0 <= low < 3.0 < high <= 6.0
    assert Times((), 4, 6.0).interval() == (6.0, 6.0)


def test_a12_is_the_chance_of_being_quicker():
    quick, slow = Times((1.0, 1.0), 0, 9.0), Times((2.0,), 1, 9.0)
    assert (peers.a12(quick, slow), peers.a12(slow, quick)) == (1.0, 0.0)
    assert peers.a12(Times((), 2, 9.0), Times((), 3, 9.0)) == 0.5
    assert math.isclose(peers.a12(Times((1.0, 3.0), 0, 9.0), Times((2.0,), 0, 9.0)), 0.5)


def test_a_peer_is_asked_for_what_it_needs(tmp_path):
    for one in (peers.OURS, *peers.PEERS):
        assert not one.has_found(_with_output(tmp_path, "no\n"))
    (tmp_path / "crash-1").touch()
    assert peers.OURS.has_found(tmp_path)
    assert peers.PEERS[1].has_found(_with_output(tmp_path, "building\nfound\n"))


def _with_output(folder: Path, text: str) -> Path:
    (folder / "output").write_text(text)
    return folder


@needs_psutil
def test_a_machine_without_a_peer_is_told_which_package_it_lacks(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MachineError, match="install -y afl"):
        peers.bug_of("weak-slot")


def test_the_benchmark_compares_with_the_best_peer(monkeypatch):
    bench = benchmark.load("peers")
    seconds = {"slotfuzz": 1.0, "slotfuzz again": 0.5, "Hypothesis": 3.0}
    monkeypatch.setattr(peers, "bug_of", lambda name: SimpleNamespace(name=name))
    monkeypatch.setattr(peers, "run", lambda search, *_: seconds.get(search.name))
    measured = bench.measure(SimpleNamespace(mutants=["a"], seeds=2))
    assert [(row["search"], row["found"]) for row in measured.rows[:2]] == [
        ("slotfuzz", "2 of 2"), ("slotfuzz again", "2 of 2")]
    assert {row["found"] for row in measured.rows if row["search"].startswith("AFL")} == {"0 of 2"}
    assert measured.summary["ratios"] == [3.0]
