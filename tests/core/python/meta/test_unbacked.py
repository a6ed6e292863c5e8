"""Numbers from data: unbacked symbols, what is asserted of them, replacements, and extremes."""

import itertools
import random

import pytest
import slotcore as T
import sympy

ShapeEnv = T.fx.experimental.symbolic_shapes.ShapeEnv


def env_with(*hints):
    """An environment, an unbacked size, and a dynamic one for each of HINTS."""
    env = ShapeEnv()
    return env, env.create_unbacked_symint(), *(
        env.create_symint(hint, f"size {i}", "dynamic") for i, hint in enumerate(hints))


def again(env):
    return T._meta.loads_env(T._meta.dumps_env(env))


def test_no_hint_decides_a_number_from_data():
    env, u, a = env_with(7)
    assert str(u) == "u0" and str(a) == "s1"
    for ask in (lambda: bool(u > 3), lambda: int(u), lambda: u.hint, lambda: bool(u),
                lambda: a // u, lambda: [1][u], lambda: bool(u + a == 9)):
        with pytest.raises(RuntimeError, match="only the data decides"):
            ask()
    assert env.guards == env.deferred_runtime_asserts == [] and env.replacements == {}
    assert str(u * 2 + a - u) == "s1 + u0"


def test_what_is_asserted_decides():
    env, u, a = env_with(7)
    T._check(u >= 2)
    T._check(u <= 9)
    T._check(u >= 1)  # says nothing new
    assert env.deferred_runtime_asserts == ["u0 + -2 >= 0", "-1*u0 + 9 >= 0"] and env.guards == []
    assert u > 1 and not u == 0 and u < 10 and str(a // u) == "((s1) // (u0))"
    with pytest.raises(RuntimeError, match="this is false"):
        T._check(u > 9)
    with pytest.raises(RuntimeError, match="only the data decides"):
        bool(u > 5)
    assert len(env.deferred_runtime_asserts) == 2 and env.guards == []
    assert env.check([7]) and env.check([0], [9]) and not env.check([7], [1])
    for wrong in ([], [1, 2]):
        with pytest.raises(ValueError):
            env.check([7], wrong)


def test_an_assertion_of_sizes_is_a_guard():
    env, _, a = env_with(7)
    T._check(a > 3)
    assert env.guards == ["s1 + -4 >= 0"] and env.deferred_runtime_asserts == []
    with pytest.raises(RuntimeError, match="this is false"):
        T._check(a > 8)
    # The program has taken that branch, and so must other inputs.
    assert env.check([8]) and not env.check([9]) and not env.check([3])


def test_an_equation_replaces_the_newest_unbacked_symbol():
    env, u, a, b = env_with(7, 5)
    T._check(u == a + 1)
    assert env.replacements == {"u0": "s1 + 1"} and u.hint == 8
    assert env.deferred_runtime_asserts == ["-1*s1 + u0 + -1 == 0"]
    assert u > 3 and env.guards == ["s1 + -3 >= 0"] and str(u + 0) == "s1 + 1"
    assert a == b + 2 and env.replacements == {"u0": "s1 + 1", "s2": "s1 + -2"}
    assert str(u * b) == "s1*s1 + -1*s1 + -2"
    assert int(b) == 5 and env.replacements == {"u0": "8", "s1": "7", "s2": "5"}
    assert int(u) == 8 and u + 0 == 8 and type(u + 0) is int
    assert env.check([7, 5], [8]) and not env.check([7, 5], [7]) and not env.check([8, 6])


def test_no_number_from_data_replaces_a_size():
    env, u, a = env_with(9)
    T._check(u * u == a)
    assert env.replacements == {} and a > 2 and a.hint == 9
    T._check(u == 3)
    assert env.replacements == {"u0": "3"} and env.check([9], [3]) and not env.check([8], [3])


def test_text_has_what_is_asserted():
    env, u, a = env_with(7)
    late = env.create_unbacked_symint()
    T._check(late >= u + 1)
    assert a > 4
    T._check(u == 3 * a)
    text = T._meta.dumps_env(env)
    assert text.splitlines()[1:5] == [
        "symbol unbacked", "symbol 7 0 dynamic", "symbol unbacked", "input s1 size 0"]
    fresh = again(env)
    assert T._meta.dumps_env(fresh) == text and fresh.replacements == env.replacements
    assert fresh.check([5], [15, 16]) and not fresh.check([5], [15, 15])
    fresh.freeze()
    with pytest.raises(RuntimeError, match="frozen"):
        fresh.create_unbacked_symint()
    assert not env.frozen and T._meta.dumps_env(again(fresh)) == text + "frozen\n"


def test_after_freeze_nothing_is_asserted():
    env, u, a = env_with(7)
    T._check(u >= 2)
    env.freeze()
    T._check(u >= 1)
    for late in (u <= 4, a >= 3, u == a):
        with pytest.raises(RuntimeError, match="frozen"):
            T._check(late)
    assert env.guards == [] and env.deferred_runtime_asserts == ["u0 + -2 >= 0"]


@pytest.mark.parametrize("wrong", [
    "symbol unbacked\nguard u0 + -1 >= 0\n", "symbol unbacked\nassert s0 + -1 >= 0\n",
    "symbol unbacked\ninput u0 a\n", "symbol unbacked\nassert u1 + -1 >= 0\n",
    "symbol unbacked\nassert u0 + -1 >= 0\nassert u0 >= 0\n",
    "symbol unbacked\nassert u0 + -1 >= 0\nassert u0 == 0\n",
    "symbol unbacked\nassert u0 + -3 == 0\nassert u0 + -1 >= 0\n",
    "symbol unbacked\nassert u0 + -3 == 0\nsymbol unbacked\n",
    "symbol unbacked\nsymbol 7 0 dynamic\nassert u0 + -3 == 0\n",
])
def test_what_no_writer_has_written_is_refused(wrong):
    with pytest.raises(ValueError):
        T._meta.loads_env("slotfuzz-shape-env 1\n" + wrong)


def test_thousands_of_equations_are_read_in_proportion():
    """A reader that simplifies all constraints for each equation needs minutes (M6)."""
    text = "slotfuzz-shape-env 1" + "\nsymbol unbacked" * 2048
    text += "".join(f"\nassert u0 + -1*u{number} == 0" for number in range(1, 2048)) + "\n"
    env = T._meta.loads_env(text)
    assert T._meta.dumps_env(env) == text and set(env.replacements.values()) == {"u0"}


def test_an_equation_with_the_other_sign_is_known():
    env, u, a, b = env_with(7, 5)
    T._check(u * a - b != 3)
    assert b - u * a != -3 and env.guards == [] and len(env.deferred_runtime_asserts) == 1
    with pytest.raises(RuntimeError, match="only the data decides"):
        bool(u * a + b != 3)


def test_extremes_decide_nothing():
    env, u, a, b = env_with(7, 5)
    assert str(T.sym_max(b, a)) == str(T.sym_max(a, b)) == "max(s1, s2)"
    assert T.sym_max(a, a + 2).hint == 9 and str(T.sym_min(a + 1, a)) == "s1"
    assert T.sym_max(2, 5) == 5 and T.sym_min(-2, 5) == -2 and T.sym_min(a, b).hint == 5
    assert T.sym_max(a, 0) >= 0 and T.sym_max(u, 2) > 1 and env.guards == []
    with pytest.raises(RuntimeError, match="only the data decides"):
        bool(T.sym_max(u, a) > 7)
    assert T.sym_max(a, b) == 7 and len(env.guards) == 1
    assert env.check([3, 7]) and env.check([7, 7]) and not env.check([7, 8])
    assert T._meta.dumps_env(again(env)) == T._meta.dumps_env(env)


RING, ALL = ("+", "-", "*"), ("+", "-", "*", "//", "%", "max", "min")


def tree(draw, depth, operations=ALL):
    if depth == 0:
        return draw.choice(["u", "a", "b", str(draw.randint(-4, 4))])
    left, right = (tree(draw, depth - 1, operations) for _ in range(2))
    operation = draw.choice(operations)
    if operation in ("max", "min"):
        return f"{operation}({left}, {right})"
    return f"({left} {operation} {draw.choice([-3, 2, 4]) if operation in '//%' else right})"


@pytest.mark.parametrize("operations", [RING, ALL], ids=["polynomials", "all"])
def test_expressions_are_what_sympy_makes_of_their_trees(operations):
    draw = random.Random(9)
    symbols = dict(zip("uab", sympy.symbols("u a b", integer=True), strict=True))
    extremes = {"max": sympy.Max, "min": sympy.Min}
    compared = 0
    for _ in range(100):
        text = tree(draw, draw.randint(1, 4), operations)
        env, *sizes = env_with(3, 2)
        try:
            ours = str(eval(text, {"max": T.sym_max, "min": T.sym_min},
                            dict(zip("uab", sizes, strict=True))))
        except RuntimeError:
            continue  # too large
        assert env.guards == []
        mine = eval(ours, dict(extremes), dict(zip(("u0", "s1", "s2"), symbols.values(),
                                                   strict=True)))
        theirs = eval(text, dict(extremes), symbols)
        if operations == RING:
            assert sympy.expand(theirs - mine) == 0, text
        for point in itertools.product((-3, 4), (0, 5), (0, 3)):
            at = dict(zip(symbols.values(), point, strict=True))
            assert sympy.sympify(theirs).subs(at) == sympy.sympify(mine).subs(at), (text, ours)
        compared += 1
    assert compared > 70


def test_random_constraints_hold_where_the_environment_says_so():
    """What is decided, and each replacement, is right for all numbers that pass."""
    draw = random.Random(10)
    decided = passed = 0
    for _ in range(200):
        env, u, a, b = env_with(draw.randint(0, 4), draw.randint(0, 4))
        answers = []
        for _ in range(draw.randint(1, 6)):
            text = f"{tree(draw, 1)} {draw.choice(['<=', '==', '!=', '>'])} {tree(draw, 1)}"
            scope = {"max": T.sym_max, "min": T.sym_min}
            try:
                condition = eval(text, scope, {"u": u, "a": a, "b": b})
                if draw.random() < 0.5:
                    T._check(condition)
                    answers.append((text, True))
                else:
                    answers.append((text, bool(condition)))
            except RuntimeError:
                continue
        decided += len(answers)
        for x, y, z in itertools.product(range(-3, 6), range(5), range(5)):
            if not env.check([y, z], [x]):
                continue
            passed += 1
            for text, answer in answers:
                assert eval(text, {}, {"u": x, "a": y, "b": z}) == answer, (text, answers)
            for name, by in env.replacements.items():
                point = {"u0": x, "s1": y, "s2": z}
                assert eval(by, {}, point) == point[name], (name, by, answers)
    assert decided > 200 and passed > 5000
