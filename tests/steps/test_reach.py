"""Counts how often a mutant's patched lines run, with the coverage build."""

import os

import pytest

from slotfuzz.measure import coverage, reach
from slotfuzz.paths import build_root

NIGHT = bool(os.environ.get("SLOTFUZZ_REACH"))
# Its patch changes only the code that enters and leaves hermetic mode.
MUTANT, TARGET = "hermetic-exit-counts", "storage"


@pytest.fixture(autouse=True)
def is_built():
    """Skips without a coverage build, since making one takes minutes."""
    if NIGHT or (build_root() / coverage.PRESET / "build.ninja").exists():
        return
    pytest.skip("no coverage build here; ci/reach_nightly.sh makes one and runs this test")


def test_a_patch_that_no_program_reaches_never_ran():
    reached = reach.of_mutant(MUTANT, TARGET, ["t0 = T.ones(1)\ns0 = t0.untyped_storage()\n"] * 2)
    assert (reached.programs, reached.counts) == (2, {})


def test_a_reached_patch_is_counted_by_op():
    program = "enter_hermetic()\nt0 = T.ones(1)\nexit_hermetic()\nenter_hermetic()\n"
    reached = reach.of_mutant(MUTANT, TARGET, [program, "gc.collect()\n", program])
    # The reset leaves hermetic mode, which the program entered.
    assert reached.counts == {"enter_hermetic": 4, "exit_hermetic": 2, "end": 2}
