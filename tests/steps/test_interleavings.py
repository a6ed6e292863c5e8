"""Protocols under every schedule: the engines' own tests, the golden counts, a few mutants."""

import pytest

from slotfuzz.interleave import binaries
from slotfuzz.schema import schedules, shape
from slotfuzz.subject import catalogue
from tests.steps.run import googletest, slotfuzz

# Graphs of the default scenarios: 7 claimers, disarm against 4 destructors, weak lock against 2,
# the end of an interpreter against 3 releases, the last owner of an accumulator against 2 lookups,
# 2 additions, a release of saved data against 3 that unpack it, a queue that one thread serves and
# one ends against 3 that add to it, the owner of a backward against 4 tasks of which one fails, the
# last owner of a node against 2 that ask its ctx for it.
GOLDEN = {"claim": 448, "disarm": 261, "counts": 1386, "ending": 8790, "accumulator": 25790,
          "gradient": 52, "saved": 42, "ready_queue": 2904, "completion": 1560,
          "context": 136}
# One each: a weaker order, a logic error, a bug that needs a stale read, a plain decrement.
MUTANTS = ("claim-publishes-nothing", "lock-counts-first", "incref-without-fence",
           "share-looks-again")
# A check finds it, in each engine.
CHECKED = "lock-counts-first"


@pytest.mark.parametrize("preset", ["address", "thread"])
def test_interleave_tests(preset):
    googletest(preset, "interleave_tests")


def test_relacy_agrees():
    googletest("plain", "relacy_tests")


def test_every_interleaving_of_the_core_is_right():
    rows = slotfuzz("interleave")
    assert {row["protocol"]: row["graphs"] for row in rows} == GOLDEN
    assert {row["verdict"] for row in rows} == {"verified"}


@pytest.mark.parametrize("name", MUTANTS)
def test_protocol_mutant_is_found(name):
    assert name in catalogue.protocol_mutant_names()
    (row,) = slotfuzz("mutants", name, "--seconds", 20, ok=(0, 3))
    assert row["problems"] == []


def test_a_failure_has_the_schema(tmp_path):
    for engine in binaries.ENGINES[:2]:
        (row,) = slotfuzz("interleave", "--subject", f"mutant:{CHECKED}", "--engine", engine,
                          "--out", tmp_path, ok=(1,))
        assert shape.wrong_as(row["failure"], schedules.Failure) == ""
        assert row["failure"]["contract"] == "P7"
