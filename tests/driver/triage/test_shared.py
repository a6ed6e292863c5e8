"""What to steer around once several ways to one bug were met: programs before, the lines after."""

import pytest

from slotfuzz.language.program import Line
from slotfuzz.triage import dedup
from tests.driver.triage.test_dedup import SHOWN, TABLE, lines_of


def test_a_line_that_only_shows_a_bug_is_not_steered_around():
    ways = [lines_of(["t0 = T.ones(1)", *cause, "s0.nbytes()"])
            for cause in ([], [SHOWN], [SHOWN, "s0.tag = 0"])]
    keys = frozenset(["crash in f at nbytes s0"])
    assert dedup.shared(ways, ways, keys, TABLE) == []
    assert dedup.shared(ways, ways, frozenset(["outside of memory after nbytes s0"]), TABLE)
    ways[-1] = ways[-1] + lines_of(["del s0"])
    assert [TABLE.program_text(one) for one in dedup.shared(ways, ways, keys, TABLE)] == \
        ["s0.nbytes()\n"]


@pytest.mark.parametrize("lasts, key, common", [
    (["s0.nbytes()", "del s0"], "crash after make t0", None),
    (["s0.nbytes()", "del s0", "enter_hermetic()"], "crash after make t0",
     "s0.tag = 0\n"),
    (["s0.nbytes()", "del s0", "enter_hermetic()"], "crash in f by the collector", None),
])
def test_what_many_ways_to_a_bug_share_is_known(lasts, key, common):
    ways = [lines_of(["t0 = T.ones(1)", "s0 = t0.untyped_storage()", "s0.tag = 0", last])
            for last in lasts]
    ways[-1] = ways[-1][:1] + ways[-1][2:]  # the last one needs no storage
    shared = dedup.shared(ways, ways, frozenset([key]), TABLE)
    assert [TABLE.program_text(one) for one in shared] == [common] * bool(common)


def test_two_lines_that_ways_by_one_mechanism_share_are_steered_around():
    ways = [lines_of(["t0 = T.ones(1)", "s0 = t0.untyped_storage()", "s0.tag = 0", last])
            for last in ("s0.nbytes()", "del s0", "enter_hermetic()")]
    shared = dedup.shared(ways, ways, frozenset(["crash in f by the collector"]), TABLE)
    assert [TABLE.program_text(one) for one in shared] == [
        "s0 = t0.untyped_storage()\ns0.tag = 0\n"]


def test_ways_that_call_one_function_share_that_line_whatever_other_ways_do():
    def ways(*names):
        return [[*lines_of(["t0 = T.ones(1)", *["s0 = t0.untyped_storage()"] * count]),
                 Line("function", (name, "t0"))] for count, name in enumerate(names)]
    keys = frozenset(["crash in T.f"])
    other = ways("T.f", "T.f") + [lines_of(["s0.nbytes()"])]
    assert dedup.shared(other, other, keys, TABLE) == []
    named = ways("T.f", "T.f", "T.f", "T.g") + [lines_of(["s0.nbytes()"])]
    assert dedup.shared(named, named, keys, TABLE) == [[Line("function", ("T.f", "t1"))]]
    # A line that calls nothing by its name may only show what is wrong.
    shown = [lines_of(["t0 = T.ones(1)", *["s0 = t0.untyped_storage()"] * count, "s0.nbytes()"])
             for count in range(3)] + [lines_of(["enter_hermetic()"])]
    assert dedup.shared(shown, shown, frozenset(["crash after make t0"]), TABLE) == []


def test_programs_as_they_were_met_may_share_something_else():
    ways = [lines_of(["t0 = T.ones(1)", "s0 = t0.untyped_storage()", "s0.tag = 0", *last])
            for last in ([], ["s0.nbytes()"], ["del s0"], ["enter_hermetic()"])]
    met = [lines_of(["t1 = T.ones(1)", "exit_hermetic()", *last])
           for last in ([], ["del t1"], ["enter_hermetic()"])]
    wrap, other = "s0 = t0.untyped_storage()\ns0.tag = 0\n", "exit_hermetic()\n"
    keys = frozenset(["crash after make t0"])
    shared = dedup.shared(ways, ways + met, keys, TABLE)
    assert [TABLE.program_text(one) for one in shared] == [wrap, other]
