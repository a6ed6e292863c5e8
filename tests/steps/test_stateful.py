"""State machines on the real engine: a mutant is found, the core is clean."""

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from slotfuzz import stateful
from slotfuzz.finding import finding

MUTANT = "hermetic-del-storage"
EXAMPLES = settings(max_examples=100, derandomize=True, database=None, deadline=None,
                    phases=[Phase.generate])


def test_hypothesis_finds_a_mutant(tmp_path):
    machine = stateful.machine(f"mutant:{MUTANT}", "storage", out=tmp_path, verify_runs=3)
    # As pytest runs it: with the machine's settings, and without a seed.
    with pytest.raises(stateful.Broken):
        run_state_machine_as_test(machine, settings=settings(
            machine.TestCase.settings, database=None, report_multiple_bugs=False))
    # This bug has several symptoms, and chance decides which comes first; each reproduces.
    (folder,) = finding.known([tmp_path], machine.judge.server.subject)
    assert finding.read(folder).rate == 1


def test_hypothesis_finds_nothing_on_the_core(tmp_path):
    machine = stateful.machine("core", "storage", out=tmp_path)
    run_state_machine_as_test(machine, settings=EXAMPLES)
    assert machine.judge.server.runs > 50 and list(tmp_path.iterdir()) == []
