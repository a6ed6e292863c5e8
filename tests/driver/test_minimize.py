"""The minimizer as text before -> text after; what is interesting is a Python function."""

import random

import pytest

from slotfuzz.minimize import minimize
from slotfuzz.program import Line, Table
from tests.driver import fake_engine

TABLE = Table(fake_engine.DESCRIPTION)


def lines(text):
    """Program text as lines."""
    return [Line(line["op"], tuple(line["operands"]))
            for line in fake_engine.parse(text)["lines"]]


def shrink(text, interesting, **options):
    """Minimizes TEXT; INTERESTING sees program text. Returns the text and the whole result."""
    result = minimize(lines(text), lambda found: interesting(TABLE.program_text(found)), TABLE,
                      **options)
    return TABLE.program_text(result.lines), result


def in_order(*needles):
    """Whether each needle occurs, after the one before."""
    def interesting(text):
        at = 0
        for needle in needles:
            at = text.find(needle, at) + 1
            if not at:
                return False
        return True
    return interesting


NOISE = """\
t0 = T.ones(4)
t1 = T.ones(0)
s0 = t0.untyped_storage()
s1 = t1.untyped_storage()
s1.tag = 7
enter_hermetic()
s1.nbytes()
del s0
del s1
exit_hermetic()
s2 = t1.untyped_storage()
s3 = t0.untyped_storage()
s3.nbytes()
del t1
"""


@pytest.mark.parametrize("needles, after", [
    (["del"], "del s0\n"),
    (["enter_hermetic", "del", "exit_hermetic"], "enter_hermetic()\ndel s0\nexit_hermetic()\n"),
    (["untyped", "del", "untyped"],
     "s0 = t0.untyped_storage()\ndel s0\ns0 = t0.untyped_storage()\n"),
    (["tag"], "s0.tag = 0\n"),
    (["tag = 7"], "s0.tag = 7\n"),
    (["ones(0)"], "t0 = T.ones(0)\n"),
])
def test_before_after(needles, after):
    text, result = shrink(NOISE, in_order(*needles))
    assert text == after
    assert result.one_minimal and result.lines_before == 14


def test_what_is_minimal_stays():
    text, result = shrink("t0 = T.ones(1)\n", lambda text: text == "t0 = T.ones(1)\n")
    assert text == "t0 = T.ones(1)\n" and result.one_minimal


def test_the_empty_program_may_be_the_answer():
    assert shrink(NOISE, lambda text: True)[0] == ""


def test_no_program_is_run_twice_and_runs_are_counted():
    seen = []

    def interesting(text):
        seen.append(text)
        return "del s0" in text

    _, result = shrink(NOISE, interesting)
    assert len(seen) == len(set(seen)) == result.runs


def test_a_spent_budget_keeps_the_best_so_far_and_claims_nothing():
    text, result = shrink(NOISE, in_order("enter", "del", "exit"), runs_max=3)
    assert result.runs == 3 and not result.one_minimal
    assert in_order("enter", "del", "exit")(text)


def test_the_failing_line_cuts_the_suffix_in_one_run():
    seen = []

    def interesting(text):
        seen.append(text)
        return "tag" in text

    shrink(NOISE, interesting, last_line=4)
    assert seen[0] == "".join(NOISE.splitlines(keepends=True)[:5])


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_become_one_minimal_and_stay_interesting(seed):
    choose = random.Random(seed)
    before = "".join(fake_engine.random_line(choose) + "\n" for _ in range(40))
    wanted = sorted(choose.sample(range(40), 3))
    needles = [line.op for i, line in enumerate(lines(before)) if i in wanted]

    def interesting(found):
        rest = iter(line.op for line in found)
        return all(op in rest for op in needles)

    result = minimize(lines(before), interesting, TABLE)
    assert [line.op for line in result.lines] == needles
    assert result.one_minimal and result.runs < 150
