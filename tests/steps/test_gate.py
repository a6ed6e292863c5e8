"""The gate with real hunts: a bug of this version counts, and a bug of the base is old.

The bug is a mutant that other steps have built. `./slotfuzz bench gate` applies mutants to commits
of a clone, and building these takes minutes.
"""

from types import SimpleNamespace

import pytest

from slotfuzz.ci import gate
from slotfuzz.ci.checkout import Checkout
from slotfuzz.ci.gate_scope import Scope
from slotfuzz.finding import places
from slotfuzz.paths import ROOT

MUTANT = "mutant:hermetic-del-storage"
FUZZ_SECONDS = 5.0


class Version(Checkout):
    """This checkout, as if its core were SUBJECT."""

    def __init__(self, subject):
        super().__init__(ROOT)
        self._subject = subject

    def run(self, *words):
        return super().run(*(self._subject if word in ("core", MUTANT) else word
                             for word in words))


@pytest.mark.parametrize("here, there, new, old", [
    (MUTANT, "core", 1, 0), (MUTANT, MUTANT, 0, 1), ("core", "core", 0, 0)])
def test_a_gate_fails_only_on_a_bug_that_the_base_lacks(tmp_path, here, there, new, old):
    plan = gate.Plan(Scope(["storage"], [], ["core"], []), tmp_path / "out", FUZZ_SECONDS, 1,
                     parts=("fuzz",))
    base = SimpleNamespace(checkout=lambda: Version(there))
    result = gate.Gate(plan, Version(here), base).run()
    assert result.exit_code == new and len(result.new) == new and (len(result.old) >= 1) == old
    assert result.hunted[0]["programs"] > 10
    kept = list((tmp_path / "out" / places.OLD_FOLDER).glob("*/repro.py"))
    assert bool(kept) == old
