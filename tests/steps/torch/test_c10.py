"""The c10 subject: it detects a planted race, and correct code of libtorch is clean."""

import json
import subprocess
from pathlib import Path

import pytest

from slotfuzz.paths import ROOT
from tests.steps.run import run

SECONDS = 10
# The other scenarios find the bugs that targets/c10/repro/ shows.
QUIET_SCENARIOS = ("claim", "counts")

pytestmark = pytest.mark.skipif(not Path("/usr/include/c10/core/TensorImpl.h").exists(),
                                reason="libtorch has no headers here: apt-get install libtorch-dev")


def test_c10_reports_a_planted_race():
    lines = run(ROOT / "ci" / "c10.sh", "--planted", 30).splitlines()
    assert len(lines) == 2 and all(": finding, " in line for line in lines), lines


def test_c10_claim_and_counts_are_clean():
    lines = run(ROOT / "ci" / "c10.sh", SECONDS, *QUIET_SCENARIOS).splitlines()
    assert len(lines) == 3 * len(QUIET_SCENARIOS), lines
    assert all(": clean, " in line for line in lines), lines


def test_the_command_finds_the_bugs_of_the_known_programs():
    result = subprocess.run([ROOT / "slotfuzz", "interleave", "weak-claim", "disarm", "load",
                             "--subject", "c10", "--seconds", str(SECONDS), "--json"],
                            capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stderr
    failures = [row["failure"] for row in json.loads(result.stdout)]
    assert len(failures) == 6
    for failure in failures:
        assert failure["known"] and failure["one_minimal"], failure
        assert failure["replays_failed"] == failure["replays"] > 0
    assert [bool(failure["documented"]) for failure in failures] == [False] * 2 + [True] * 2 + [
        False] * 2
