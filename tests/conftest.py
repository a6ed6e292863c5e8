"""For ./slotfuzz test: the steps take part only when asked for, and each prints one line."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "harness")]

collect_ignore = [] if os.environ.get("SLOTFUZZ_STEPS") else ["steps"]
STEPS = "tests/steps/"


def pytest_runtest_logreport(report):
    """One line per step with its time, from the process that the others report to."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    if report.nodeid.startswith(STEPS) and (report.when == "call" or report.failed):
        name = report.nodeid.rpartition("::")[2].removeprefix("test_")
        print(f"{report.outcome:<8}{report.duration:7.1f} s  {name}", flush=True)


def pytest_report_teststatus(report, config):
    """No dots for steps: they have a line."""
    if not report.nodeid.startswith(STEPS) or report.skipped:
        return None
    counted = report.when == "call" or report.failed
    return (report.outcome if counted else "", "", "")
