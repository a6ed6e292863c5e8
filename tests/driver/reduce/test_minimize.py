"""Tests of the minimizer: program text before and after. A Python function is the predicate."""

import random

import pytest

from slotfuzz.language.program import Line, Table
from slotfuzz.reduce.minimize import minimize
from tests.driver import fake_engine, fake_table
from tests.driver.reduce.programs import TABLE, lines


def shrink(text, interesting, **options):
    """Minimizes TEXT; INTERESTING sees program text. Returns the text and the whole result."""
    result = minimize(lines(text), lambda found: interesting(TABLE.program_text(found)), TABLE,
                      **options)
    return TABLE.program_text(result.lines), result


def in_order(*needles):
    """A predicate: all needles occur, in this order."""
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


LANES = """\
t0 = T.ones(1)
lane(2, "enter_hermetic()")
lane(2, "s0 = t0.untyped_storage()")
s1 = t0.untyped_storage()
lane(1, "s1.nbytes()")
lane(2, "del s0")
"""


def lane_of(op):
    """A function from program text to the lane of each line of OP."""
    return lambda text: [line.lane for line in lines(text) if line.op == op]


@pytest.mark.parametrize("interesting, after", [
    # Lanes that do not matter go, even if no line can go.
    (in_order("ones", "enter", "untyped", "untyped", "nbytes", "del"),
     "t0 = T.ones(1)\nenter_hermetic()\ns0 = t0.untyped_storage()\ns0 = t0.untyped_storage()\n"
     "s0.nbytes()\ndel s0\n"),
    # If two lanes must differ, one becomes the main lane and the other lane 1.
    (lambda text: [] != lane_of("enter_hermetic")(text) != lane_of("nbytes")(text) != [],
     'lane(1, "enter_hermetic()")\ns0.nbytes()\n'),
    (lambda text: lane_of("enter_hermetic")(text) != [0] and lane_of("nbytes")(text) == [1],
     'lane(1, "s0.nbytes()")\n'),
    (lambda text: sorted(line.lane for line in lines(text)) == [0, 1, 2] and "del" in text,
     None),
])
def test_lanes_before_after(interesting, after):
    before = LANES if after else 'lane(2, "del s0")\nlane(1, "del s1")\ndel s2\n'
    text, result = shrink(before, interesting)
    assert result.one_minimal
    assert text == (after or 'lane(1, "del s0")\nlane(2, "del s0")\ndel s0\n')


def test_fewer_switches_count_more_than_lines_on_the_main_lane():
    before = 'lane(1, "enter_hermetic()")\nexit_hermetic()\nlane(1, "exit_hermetic()")\n'
    text, _ = shrink(before, lambda text: len(lines(text)) == 3
                     and lane_of("enter_hermetic")(text) == [1]
                     and lines(text)[2].lane == 1)
    assert text == before.replace("\nexit_hermetic()", '\nlane(1, "exit_hermetic()")')


def test_a_minimal_program_stays_the_same():
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


def test_a_spent_budget_keeps_the_best_and_does_not_claim_one_minimal():
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


STEPS = Table({**fake_table.DESCRIPTION, "kinds": [*fake_table.KINDS, {
    **fake_table.KINDS[2], "key": "step", "values": ["no", "turn", "cut"], "has_names": True,
}], "ops": [*fake_table.DESCRIPTION["ops"], {
    **fake_table.DESCRIPTION["ops"][0], "name": "check", "operands": ["step", "n", "step", "step"],
    "template": "check({0}, {1}, {2}, {3})"}]})


@pytest.mark.parametrize("operands, needles, after", [
    (("no", "1", "no", "cut"), ["cut"], ("cut", "1", "no", "no")),
    (("turn", "4", "no", "cut"), ["turn", "cut"], ("turn", "1", "cut", "no")),
    (("no", "0", "cut", "turn"), ["cut", "turn"], ("cut", "1", "turn", "no")),
    (("no", "1", "turn", "cut"), ["no", "cut"], ("no", "1", "cut", "no")),
    (("no", "0", "no", "no"), ["0"], ("no", "0", "no", "no")),
])
def test_a_step_moves_to_the_first_place_where_it_fails(operands, needles, after):
    result = minimize([Line("check", operands)],
                      lambda found: in_order(*needles)(STEPS.program_text(found)), STEPS)
    assert result.lines == [Line("check", after)]


def test_as_met_keeps_values_and_names():
    text, result = shrink(NOISE, in_order("ones", "nbytes"))
    assert TABLE.program_text(list(result.as_met)) == "t1 = T.ones(0)\ns1.nbytes()\n" != text
