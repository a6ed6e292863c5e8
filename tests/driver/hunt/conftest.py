"""A plan for a hunt on the fake engine."""

import pytest

from slotfuzz.hunt.plan import Plan


@pytest.fixture
def plan(fake_subject, tmp_path):
    """A plan for the fake subject; fields can be replaced."""
    def make(**fields):
        return Plan(**{**dict(
            subject=fake_subject, targets=["storage"], out=tmp_path / "out", seconds=60,
            seed=1, corpus=tmp_path / "corpus", suppressions=(),
            stop_when=lambda judged: judged.finding.kind == "heap-use-after-free"), **fields})
    return make
