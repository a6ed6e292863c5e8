"""Shorter programs near by: what the minimizer reaches when no single line can go."""

import random
import time

import pytest

from slotfuzz.hunt.enumerate import bound_after, next_lines
from slotfuzz.language import program
from slotfuzz.language.program import Table
from slotfuzz.reduce.minimize import SHORTEN_RUNS_MAX, SHORTEN_SECONDS_MAX, minimize
from slotfuzz.reduce.search import BATCH
from slotfuzz.reduce.shorten import shorter
from slotfuzz.triage.shared import related_ops
from tests.driver import fake_table
from tests.driver.reduce.programs import lines

# The fake ops, with an op that does in one line what otherwise takes three.
FUSED = Table({**fake_table.DESCRIPTION, "ops": [*fake_table.DESCRIPTION["ops"], {
    "name": "del_in_hermetic", "operands": ["-s"], "template": "with hermetic(): del {0}",
    "needs": "", "sentence": "Fake.", "masked": False, "plain": False,
    "effects": ["in_hermetic"]}]})


def shorten(before, interesting, fails=None, **options):
    """Minimizes BEFORE with many programs in a run; the first that FAILS accepts ends the run."""
    def several(programs):
        for done, program in enumerate(programs, 1):
            if (fails or interesting)(FUSED.program_text(program)):
                return done, True
        return len(programs), False

    result = minimize(lines(before), lambda found: interesting(FUSED.program_text(found)), FUSED,
                      several=several, **options)
    return FUSED.program_text(result.lines), result


STORAGE = "t0 = T.ones(1)\ns0 = t0.untyped_storage()\n"


@pytest.mark.parametrize("before, after", [
    # One op does what three lines did.
    (STORAGE + "enter_hermetic()\ndel s0\nexit_hermetic()\ns0 = t0.untyped_storage()\n",
     STORAGE + "with hermetic(): del s0\ns0 = t0.untyped_storage()\n"),
    # Two lines go together; neither can go alone.
    ("t0 = T.ones(1)\nenter_hermetic()\ndel t0\nexit_hermetic()\n", "t0 = T.ones(1)\ndel t0\n"),
    # One line for two, with a name that a later line uses.
    (STORAGE + "s1 = t0.untyped_storage()\ndel s0\ns1.nbytes()\n",
     "t0 = T.ones(1)\ns1 = t0.untyped_storage()\ns1.nbytes()\n"),
    # One line for all that mention a variable.
    ("t0 = T.ones(1)\ns0 = t0.untyped_storage()\nenter_hermetic()\ns0.tag = 0\nexit_hermetic()\n"
     "s0.nbytes()\n",
     "t0 = T.ones(1)\ndel t0\nenter_hermetic()\nexit_hermetic()\n"),
    # One line for two that are apart.
    (STORAGE + "s0.tag = 0\ns1 = t0.untyped_storage()\ns0.nbytes()\n",
     STORAGE + "s1 = t0.untyped_storage()\ndel s0\n"),
    # Two lines for four, of ops that the program has.
    (STORAGE + "s0.tag = 0\ndel s0\ndel t0\nt0 = T.ones(1)\n",
     STORAGE + "del t0\ns0.tag = 0\n"),
    # Two lines for four; one of them is of a related op.
    (STORAGE + "s0.tag = 0\nt1 = T.ones(1)\nt1 = T.ones(1)\ndel s0\n",
     STORAGE + "with hermetic(): del s0\nt1 = T.ones(1)\n"),
    # A stretch on another lane stays there.
    (STORAGE + 'lane(1, "enter_hermetic()")\nlane(1, "del s0")\nlane(1, "exit_hermetic()")\n',
     STORAGE + 'lane(1, "with hermetic(): del s0")\n'),
])
def test_the_search_leaves_a_local_minimum_for_a_shorter_program(before, after):
    normal = FUSED.program_text(lines(before))
    alone = minimize(lines(before), lambda found: FUSED.program_text(found) == normal, FUSED)
    assert FUSED.program_text(alone.lines) == before and alone.one_minimal
    text, result = shorten(before, lambda text: text in (before, after))
    assert text == after and result.one_minimal


def test_many_programs_are_tried_in_a_run():
    before = STORAGE + "s0.tag = 0\ns0.nbytes()\ndel s0\ndel t0\n"
    _, result = shorten(before, lambda text: text == before)
    assert result.tried > BATCH
    assert result.runs < result.tried / 10


def test_a_program_that_fails_differently_is_skipped():
    before = STORAGE + "enter_hermetic()\ndel s0\nexit_hermetic()\n"
    after = STORAGE + "with hermetic(): del s0\n"
    text, result = shorten(before, lambda text: text in (before, after),
                           fails=lambda text: "nbytes" in text or text == after)
    assert text == after
    assert result.runs < len(lines(before)) + 2 * SHORTEN_RUNS_MAX


def test_the_search_ends_if_all_programs_fail_differently():
    before = STORAGE + "enter_hermetic()\ndel s0\nexit_hermetic()\n"
    text, result = shorten(before, lambda text: text == before, fails=lambda text: True)
    assert text == before and result.one_minimal
    assert result.runs <= 4 * len(lines(before)) + 2 * SHORTEN_RUNS_MAX


def test_the_search_ends_if_programs_near_by_hang(monkeypatch):
    now, before = [0.0], STORAGE + "enter_hermetic()\ndel s0\nexit_hermetic()\n"
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def hangs(text):
        now[0] += 5
        return True

    alone = minimize(lines(before), lambda found: FUSED.program_text(found) == before, FUSED)
    text, result = shorten(before, lambda text: text == before, fails=hangs)
    assert text == before and now[0] == SHORTEN_SECONDS_MAX
    assert result.runs == alone.runs + 2 * SHORTEN_SECONDS_MAX // 5


@pytest.mark.parametrize("seed", range(5))
def test_a_shorter_program_reads_only_variables_with_a_value(seed):
    choose, before, bound = random.Random(seed), [], frozenset()
    for _ in range(5):
        before.append(choose.choice(list(next_lines(FUSED, list(FUSED.ops), bound))))
        bound = bound_after(FUSED, before[-1], bound)
    found = list(shorter(before, FUSED))
    assert found
    for program in found:
        assert len(program) < len(before)
        bound = set()
        for line in program:
            assert FUSED.read(line) <= bound
            bound |= FUSED.bound(line)


def test_one_variable_replaces_two():
    before = "t0 = T.ones(1)\nt1 = T.ones(1)\ns0 = t1.untyped_storage()\ndel t0\n"
    after = "t0 = T.ones(1)\ns0 = t0.untyped_storage()\ndel t0\n"
    assert shorten(before, lambda text: text in (before, after))[0] == after


def test_new_lines_are_of_allowed_ops_only():
    before = STORAGE + "enter_hermetic()\ndel s0\nexit_hermetic()\n"

    def interesting(text):
        return text in (before, STORAGE + "with hermetic(): del s0\n")

    own = frozenset(line.op for line in lines(before))
    assert shorten(before, interesting)[0].endswith("with hermetic(): del s0\n")
    assert "with hermetic()" not in shorten(before, interesting, allowed=own)[0]
    # An op whose text ends in an op of the program is related to it.
    assert "del_in_hermetic" in FUSED.related(own) and "nbytes" not in FUSED.related(own)


def test_the_same_words_about_another_kind_of_object_are_not_related():
    ops = [{**FUSED.ops["nbytes"], "name": name, "operands": operands, "plain": False,
            "template": f"{circumstance}{{0}}.resize_({{1}})"}
           for name, operands, circumstance in (
               ("resize", ["s", "n"], ""), ("resize_tensor", ["t", "n"], ""),
               ("resize_byte", ["s", "v"], ""), ("resize_quietly", ["s", "n"], "with quiet: "),
               ("resize_any", ["?", "n"], ""))]
    table = program.Table({**FUSED.description, "ops": ops})
    assert table.related(frozenset(["resize"])) == {"resize", "resize_quietly", "resize_any"}
    own = frozenset(["resize_quietly"])
    assert table.related(own) == {"resize", "resize_quietly", "resize_any"}


def test_related_ops_add_no_mechanism_that_the_program_lacks():
    hermetic = lines(STORAGE + "enter_hermetic()\ndel s0\nexit_hermetic()\n")
    plain = lines(STORAGE + "del s0\n")
    assert related_ops(hermetic, FUSED) == FUSED.related(frozenset(line.op for line in hermetic))
    related = related_ops(plain, FUSED)
    assert "del" in related and "del_in_hermetic" not in related
