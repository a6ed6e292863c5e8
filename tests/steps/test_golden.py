"""Verdicts, signatures and buckets of the golden set are what they were: a sample of it.

ci/golden_nightly.sh checks the whole set.
"""

import pytest

from tests.golden import golden

# Subjects that other steps build as well, and every how many of their rows. Clean rows have no
# bucket, so any of them can be left out.
SAMPLES = {"core": 15, "mutant:hermetic-del-storage": 1}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_golden_set_is_unchanged(name):
    kept = golden.rows(name)[::SAMPLES[name]]
    assert len(kept) >= 40
    assert golden.check(kept) == []


def test_the_golden_set_has_what_it_says():
    kept = golden.rows()
    assert len(kept) >= 2000 and len({row["subject"] for row in kept}) >= 30
    assert sum(row["verdict"] != "clean" for row in kept) >= 1000
