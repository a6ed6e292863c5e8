"""Minimizers of others: the question that each asks, and what a result says."""

import sys
from types import SimpleNamespace

import pytest

from slotfuzz.ci import minimizers
from slotfuzz.errors import MachineError
from slotfuzz.measure import benchmark

CRASH = "a\nb\nbad\nc\n"
# A tool that removes the first line of its file as long as the script allows it.
TOOL = """
import subprocess
lines = open("program.py").readlines()
for i in range(len(lines) - 1, -1, -1):
    open("program.py", "w").writelines(lines[:i] + lines[i + 1:])
    if subprocess.run([{script!r}], check=False).returncode:
        open("program.py", "w").writelines(lines)
    else:
        del lines[i]
"""


class Crash:
    """A crash whose failure is the line `bad`."""

    text, seed, runs = CRASH, 1, 0

    def is_kept(self, text):
        """Counts a run."""
        self.runs += 1
        return "bad" in text.split()

    def lines(self, text):
        """All lines are ops."""
        return len(text.splitlines())

    result = minimizers.Crash.result


def test_a_tool_asks_the_server_by_a_script():
    run = minimizers.by_command(
        "tool", lambda script: [sys.executable, "-c", TOOL.format(script=str(script))])
    result = run(Crash())
    assert (result.by, result.lines_before, result.lines, result.same) == ("tool", 4, 1, True)
    assert result.runs == 4


def test_a_tool_that_does_not_end_is_stopped_and_its_program_counts(monkeypatch):
    monkeypatch.setattr(minimizers, "SECONDS_MAX", 0.5)
    run = minimizers.by_command("tool", lambda script: [
        sys.executable, "-c", "open('program.py', 'w').write('b\\n')\nwhile True: pass"])
    result = run(Crash())
    assert (result.lines, result.same, result.runs) == (1, False, 0)


def test_a_missing_tool_is_named_with_its_package(monkeypatch):
    monkeypatch.setattr(minimizers.shutil, "which", lambda name: None)
    with pytest.raises(MachineError, match="singledelta is missing; run: apt-get install -y delta"):
        minimizers.check_tools()


def test_the_benchmark_has_a_row_for_each_crash_and_minimizer(monkeypatch):
    class Taken(Crash):
        """A crash that is there without a search."""

        def __init__(self, name, seed):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

    monkeypatch.setattr(minimizers, "Crash", Taken)
    monkeypatch.setattr(minimizers, "check_tools", lambda: None)
    results = [minimizers.Result("one", 9, 2, True, 7, 1.0),
               minimizers.Result("two", 9, 3, False, None, 2.0)]
    monkeypatch.setattr(minimizers, "MINIMIZERS", [lambda crash, one=one: one for one in results])
    measured = benchmark.load("minimizers").measure(SimpleNamespace(mutants=["m"], seeds=2))
    assert len(measured.rows) == 4
    assert measured.summary["one"] == {"crashes": 2, "same": 2, "lines_median": 2, "lines_sum": 4,
                                       "runs_median": 7, "seconds_median": 1.0}
    assert measured.sentences[1] == ("two: of 2 crashes 0 keep their signature; median 3 lines,"
                                     " 2.0 s; all together 6 lines")
