"""Bounds beyond 64 bits decide nothing, whatever is computed with them."""

import itertools
import random

import pytest
import slotcore as T

LIMIT = 2**63 - 1


def sizes_of(*hints):
    env = T.fx.experimental.symbolic_shapes.ShapeEnv()
    return env, *(env.create_symint(hint, f"size {i}", "dynamic") for i, hint in enumerate(hints))


@pytest.mark.parametrize("ask", [
    lambda a, b: (0 - a * b) // 2 + 2**62 >= 0, lambda a, b: 2**62 - (a * b) // 2 >= 0,
    lambda a, b: T.sym_max(0 - a, 0 - b) // 4 + 2**61 >= 0])
def test_a_product_beyond_64_bits_is_no_bound(ask):
    env, a, b = sizes_of(3, 4)
    assert ask(a, b) and len(env.guards) == 1


def test_quotients_of_the_largest_size_are_below_it():
    env, a, b = sizes_of(LIMIT, LIMIT)
    assert a >= LIMIT and not a // 2 >= LIMIT and not a // 3 - 2**62 >= 0
    assert b >= LIMIT and a // b == 1 and len(env.guards) == 5


def test_a_guard_that_overflows_for_the_example_is_an_error():
    """2**62 * -2 fits into 64 bits, and what the guard negates does not."""
    env, a = sizes_of(2)
    with pytest.raises(RuntimeError, match="overflows"):
        bool(2**62 * (0 - a) >= 0)
    assert env.guards == [] and env.check([2])


def test_random_comparisons_hold_for_all_sizes_that_pass():
    draw = random.Random(11)
    points = (0, 1, 2, 3, 2**31, 2**40, 2**62, LIMIT - 1, LIMIT)
    numbers = (-(2**62), -(2**40), -2, -1, 0, 1, 2, 2**31, 2**62)
    unguarded = 0
    for _ in range(1500):
        env, a, b = sizes_of(draw.choice(points), draw.choice(points))
        low, high, first, second, last = (draw.choice(numbers) for _ in range(5))
        asked = [f"a >= {low}", f"b <= {high}",
                 f"({first}*a*b + {second}*a) // {draw.choice((2, 3, 2**31, 'b'))} + {last} >= 0"]
        answers = []
        for text in asked:
            try:
                answers.append((text, bool(eval(text, {}, {"a": a, "b": b}))))
            except (OverflowError, RuntimeError, ZeroDivisionError):
                continue
        unguarded += len(env.guards) < len(answers)
        for x, y in itertools.product(points, points):
            if env.check([x, y]):
                assert all(eval(text, {}, {"a": x, "b": y}) == answer
                           for text, answer in answers), (answers, env.guards, x, y)
    assert unguarded > 100
