"""Steering around a bug: the input is its variants, the output the lines that they share."""

import pytest

from slotfuzz.language.program import Line
from slotfuzz.schema.record import CRASH, OUTSIDE, DedupKey
from slotfuzz.triage import dedup, shared as steering
from tests.driver.triage.cases import SHOWN, TABLE, TAGGED, lines_of

AFTER = DedupKey(CRASH, lines=(("make", "t0", "_"),))
BY = DedupKey(CRASH, functions=("f",), effects=frozenset(["collects"]))


def test_a_line_that_only_shows_a_bug_is_not_steered_around():
    variants = [lines_of(["t0 = T.ones(1)", *cause, "s0.nbytes()"])
            for cause in ([], [SHOWN], [SHOWN, "s0.tag = 0"])]
    keys = frozenset([DedupKey(CRASH, functions=("f",), calls="nbytes s0")])
    assert steering.shared(variants, variants, keys, TABLE) == []
    outside = frozenset([DedupKey(OUTSIDE, lines=(("nbytes", "s0"),))])
    assert steering.shared(variants, variants, outside, TABLE)
    variants[-1] = variants[-1] + lines_of(["del s0"])
    shared = steering.shared(variants, variants, keys, TABLE)
    assert [TABLE.program_text(one) for one in shared] == \
        ["s0.nbytes()\n"]


@pytest.mark.parametrize("lasts, key, common", [
    (["s0.nbytes()", "del s0"], AFTER, None),
    (["s0.nbytes()", "del s0", "enter_hermetic()"], AFTER,
     "s0.tag = 0\n"),
    (["s0.nbytes()", "del s0", "enter_hermetic()"], BY, None),
])
def test_what_many_ways_to_a_bug_share_is_known(lasts, key, common):
    variants = [lines_of(["t0 = T.ones(1)", "s0 = t0.untyped_storage()", "s0.tag = 0", last])
            for last in lasts]
    variants[-1] = variants[-1][:1] + variants[-1][2:]  # the last variant needs no storage
    shared = steering.shared(variants, variants, frozenset([key]), TABLE)
    assert [TABLE.program_text(one) for one in shared] == [common] * bool(common)


def test_two_lines_that_ways_by_one_mechanism_share_are_steered_around():
    variants = [lines_of(["t0 = T.ones(1)", "s0 = t0.untyped_storage()", "s0.tag = 0", last])
            for last in ("s0.nbytes()", "del s0", "enter_hermetic()")]
    shared = steering.shared(variants, variants, frozenset([BY]), TABLE)
    assert [TABLE.program_text(one) for one in shared] == [
        "s0 = t0.untyped_storage()\ns0.tag = 0\n"]


def test_ways_that_call_one_function_share_that_line_whatever_other_ways_do():
    def variants(*names):
        return [[*lines_of(["t0 = T.ones(1)", *["s0 = t0.untyped_storage()"] * count]),
                 Line("function", (name, "t0"))] for count, name in enumerate(names)]
    keys = frozenset([DedupKey(CRASH, functions=("T.f",))])
    other = variants("T.f", "T.f") + [lines_of(["s0.nbytes()"])]
    assert steering.shared(other, other, keys, TABLE) == []
    named = variants("T.f", "T.f", "T.f", "T.g") + [lines_of(["s0.nbytes()"])]
    assert steering.shared(named, named, keys, TABLE) == [[Line("function", ("T.f", "t1"))]]
    # A line that calls no function by name may only show the bug.
    shown = [lines_of(["t0 = T.ones(1)", *["s0 = t0.untyped_storage()"] * count, "s0.nbytes()"])
             for count in range(3)] + [lines_of(["enter_hermetic()"])]
    assert steering.shared(shown, shown, frozenset([AFTER]), TABLE) == []


def test_programs_as_they_were_met_may_share_something_else():
    variants = [lines_of(["t0 = T.ones(1)", "s0 = t0.untyped_storage()", "s0.tag = 0", *last])
            for last in ([], ["s0.nbytes()"], ["del s0"], ["enter_hermetic()"])]
    met = [lines_of(["t1 = T.ones(1)", "exit_hermetic()", *last])
           for last in ([], ["del t1"], ["enter_hermetic()"])]
    wrap, other = "s0 = t0.untyped_storage()\ns0.tag = 0\n", "exit_hermetic()\n"
    keys = frozenset([AFTER])
    shared = steering.shared(variants, variants + met, keys, TABLE)
    assert [TABLE.program_text(one) for one in shared] == [wrap, other]


@pytest.mark.parametrize("raised", [False, True])
def test_what_leads_outside_of_memory_is_found_in_a_program_by_its_keys(raised):
    lines = lines_of([*TAGGED, SHOWN])
    keys = dedup.keys_outside(dedup.Outside(lines[2], raised), TABLE)
    assert steering.leading_outside(lines, [], keys, TABLE) == [lines[:3]]
    assert steering.leading_outside(lines, [], frozenset(), TABLE) == []
    assert steering.leading_outside(lines[:2], lines, keys, TABLE) == []
    met = lines_of(["t1 = T.ones(4)", "s1 = t1.untyped_storage()", "s1.tag = 7", "del t1"])
    assert steering.leading_outside(lines, met, keys, TABLE) == [lines[:3], met[:3]]
