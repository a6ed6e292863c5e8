"""Enumerating on the real engine: it proves minimal lengths, and visiting states once is sound."""

import pytest

from slotfuzz.engine.server import Server
from slotfuzz.hunt import enumerate as enumeration
from slotfuzz.subject import mutant, subject
from tests.steps.run import slotfuzz

MUTANT = "hermetic-del-storage"
# Ops that preserve a wrapper, and ops that make states differ.
OPS = ["new_finalized", "ones", "wrap", "del", "del_in_hermetic", "tag", "dead_cycle", "collect"]


def test_the_program_of_a_mutant_is_proved_minimal():
    header = mutant.read_header(MUTANT)
    document = slotfuzz("enumerate", "--subject", f"mutant:{MUTANT}", "--lines",
                        len(header.program), ok=(1,))
    (found,) = document["findings"]
    assert found["signature"].startswith(header.verdict)
    assert found["lines"] == len(header.program) == len(found["program"].splitlines())
    assert [row["failing"] for row in document["lengths"][:-1]] == [0] * (found["lines"] - 1)
    assert document["unrepeated"] == 0


@pytest.mark.parametrize("name", [f"mutant:{MUTANT}", "core"])
def test_visiting_each_state_once_loses_no_finding_and_no_state(name):
    chosen = subject.resolve(name, None, ["storage"], with_python=False)
    with Server(chosen, "storage") as server:
        few, every = (enumeration.run(server, OPS, 4, reduce_states)
                      for reduce_states in (True, False))
    assert few.programs < every.programs
    assert few.states == every.states > 100
    assert [(words, len(found.lines)) for words, found in few.findings.items()] == [
        (words, len(found.lines)) for words, found in every.findings.items()]
    assert bool(few.findings) == (name != "core")


def test_the_core_is_clean_on_every_short_program():
    document = slotfuzz("enumerate", "--lines", 3)
    assert document["findings"] == [] and document["programs"] > 1000
