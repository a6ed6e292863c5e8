"""How often a mutant's patched lines run, counted by the build for coverage."""

import os

import pytest

from slotfuzz.measure import coverage, reach
from slotfuzz.paths import build_root

NIGHT = bool(os.environ.get("SLOTFUZZ_REACH"))
# It patches what enters and leaves hermetic mode, and nothing else.
MUTANT, TARGET = "hermetic-exit-counts", "storage"


@pytest.fixture(autouse=True)
def is_built():
    """Skips by day where there is no build for coverage, which would take minutes to make."""
    if NIGHT or (build_root() / coverage.PRESET / "build.ninja").exists():
        return
    pytest.skip("no build for coverage here; ci/reach_nightly.sh makes one, and runs this")


def test_a_patch_that_no_program_reaches_never_ran():
    reached = reach.of_mutant(MUTANT, TARGET, ["t0 = T.ones(1)\ns0 = t0.untyped_storage()\n"] * 2)
    assert (reached.programs, reached.counts) == (2, {})


def test_a_patch_that_is_reached_and_breaks_nothing_is_told_by_op():
    program = "enter_hermetic()\nt0 = T.ones(1)\nexit_hermetic()\nenter_hermetic()\n"
    reached = reach.of_mutant(MUTANT, TARGET, [program, "gc.collect()\n", program])
    # The reset leaves what the program has entered.
    assert reached.counts == {"enter_hermetic": 4, "exit_hermetic": 2, "end": 2}
