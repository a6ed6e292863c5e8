"""ShapeEnv and SymInt in Python: expressions, decisions, guards, and the text."""

import itertools
import random

import pytest
import slotcore as T

ShapeEnv = T.fx.experimental.symbolic_shapes.ShapeEnv
SymInt = T.SymInt


def sizes(*hints, kind="dynamic"):
    env = ShapeEnv()
    return env, *(env.create_symint(hint, f"size {i}", kind) for i, hint in enumerate(hints))


def again(env):
    return T._meta.loads_env(T._meta.dumps_env(env))


@pytest.mark.parametrize(("expression", "text"), [
    (lambda a, b: b + a, "s0 + s1"), (lambda a, b: a - a, "0"), (lambda a, b: a + b - a, "s1"),
    (lambda a, b: (a + b) * (a - b), "s0*s0 + -1*s1*s1"), (lambda a, b: 2 * a + 3 + a, "3*s0 + 3"),
    (lambda a, b: (4 * a + b + 5) // 2, "2*s0 + ((s1 + 1) // (2)) + 2"),
    (lambda a, b: (4 * a + 6) // 2, "2*s0 + 3"), (lambda a, b: (4 * a + b) % 4, "((s1) % (4))"),
    (lambda a, b: (4 * a + 7) % 4, "3"), (lambda a, b: -1 * a // -1, "s0"),
    (lambda a, b: a // b, "((s0) // (s1))"), (lambda a, b: 10 % a, "((10) % (s0))"),
])
def test_expressions_have_one_form(expression, text):
    env, a, b = sizes(7, 5)
    result = expression(a, b)
    assert str(result) == text and isinstance(result, SymInt) == (not text.isdigit())
    assert (result.hint if isinstance(result, SymInt) else result) == expression(7, 5)


def tree(draw, leaves, depth):
    if depth == 0:
        return draw.choice([*leaves, draw.randint(-4, 4)])
    left, right = tree(draw, leaves, depth - 1), tree(draw, leaves, depth - 1)
    operation = draw.choice(["+", "-", "*", "//", "%"])
    if operation in "//%":
        right = draw.choice([-3, -2, -1, 1, 2, 3, 4])
    return f"({left} {operation} {right})"


def test_expressions_have_the_values_of_their_trees():
    draw = random.Random(7)
    env, a, b = sizes(3, 2)
    compared = 0
    for _ in range(300):
        text = tree(draw, ["a", "b"], draw.randint(1, 4))
        try:
            result = eval(text, {"a": a, "b": b})
        except RuntimeError:
            continue  # too large
        for x, y in itertools.product(range(0, 6), repeat=2):
            assert eval(str(result), {"s0": x, "s1": y}) == eval(text, {"a": x, "b": y}), text
            compared += 1
    assert compared > 5000 and env.guards == []


def test_trees_that_are_equal_are_one_expression():
    draw = random.Random(8)
    _, a, b = sizes(3, 2)
    for _ in range(200):
        one, other, third = (eval(tree(draw, ["a", "b"], 1), {"a": a, "b": b}) for _ in range(3))
        assert str((one + other) * third) == str(third * other + one * third)


def test_a_decision_is_a_guard_unless_it_is_implied():
    env, a, b = sizes(7, 5)
    assert a > b and env.guards == ["s0 + -1*s1 + -1 >= 0"]
    assert a > b and len(env.guards) == 1
    assert a >= 0 and not a < 0 and a + b >= 0 and len(env.guards) == 1
    assert a > 3 and a > 2 and a != 1 and len(env.guards) == 2
    assert a % 4 < 4 and a // 2 >= 2 and len(env.guards) == 2
    assert bool(a) and (a - 4 >= 0) and len(env.guards) == 2
    assert env.check([7, 5]) and env.check([9, 0]) and not env.check([3, 0])
    assert not env.check([7, 7]) and int(b) == 5 and not env.check([7, 4])
    assert b == 5 and range(10)[b] == 5 and len(env.guards) == 3


def test_a_guard_that_a_replacement_changes_is_not_asked_again():
    env, a, b = sizes(7, 5)
    assert a != b and b + 1 != a and int(b) == 5
    guards = env.guards
    assert a != b and b != a and b + 1 != a and a != 6
    assert env.guards == guards and len(guards) == 3
    assert a != 8 and len(env.guards) == 4


def test_the_range_of_a_replaced_symbol_is_not_asked_for():
    env, a, b = sizes(5, 2)
    assert b >= -2 and env.guards == [] and int(a + b) == 7
    guards = env.guards
    assert b >= -2 and env.guards == guards and len(guards) == 1


def test_kinds_of_sizes():
    env = ShapeEnv()
    made = [env.create_symint(hint, str(i), kind) for i, (hint, kind) in enumerate(
        [(5, "duck"), (5, "duck"), (5, "dynamic"), (1, "duck"), (1, "dynamic"), (6, "static"),
         (6, "duck")])]
    assert [str(one) for one in made] == ["s0", "s0", "s1", "1", "s2", "6", "s3"]
    assert env.inputs[:2] == [("0", "s0"), ("1", "s0")] and env.guards == []
    example = [5, 5, 5, 1, 1, 6, 6]
    assert env.check(example) and env.check([9, 9, 2, 1, 0, 6, 2])
    for place, wrong in ((0, 6), (1, 6), (3, 0), (5, 7), (6, 1)):
        assert not env.check([*example[:place], wrong, *example[place + 1:]])


def test_divisors_are_not_zero():
    env, a, b = sizes(7, 2)
    assert str(a % b) == "((s0) % (s1))" and env.guards == ["s1 != 0"]
    assert not env.check([7, 0])
    env, a, b = sizes(7, 0)
    for divide in (lambda: a // b, lambda: a % b, lambda: a // 0, lambda: 1 % b):
        with pytest.raises(ZeroDivisionError):
            divide()
    assert not env.check([7, 1]) and env.check([8, 0])


def test_after_freeze_a_guard_raises():
    env, a = sizes(7)
    assert a > 3
    env.freeze()
    text = T._meta.dumps_env(env)
    for decide in (lambda: bool(a > 6), lambda: int(a), lambda: bool(a == 7), lambda: hash([0][a:]),
                   lambda: env.create_symint(3, "late")):
        with pytest.raises(RuntimeError):
            decide()
    assert a > 2 and a + 1 > 3 and T._meta.dumps_env(env) == text and env.frozen


def test_text_is_read_as_the_same_environment():
    env, a, b = sizes(7, 5)
    env.create_symint(5, "L['x'].size(0), a name with blanks")
    assert a * b > 30 and a % 2 == 1 and b != 4
    text = T._meta.dumps_env(env)
    assert text == (
        "slotfuzz-shape-env 1\nsymbol 7 0 dynamic\nsymbol 5 0 dynamic\nsymbol 5 2 duck\n"
        "input s0 size 0\ninput s1 size 1\ninput s2 L['x'].size(0), a name with blanks\n"
        "guard s0*s1 + -31 >= 0\nguard ((s0) % (2)) + -1 == 0\nguard s1 + -4 != 0\n")
    fresh = again(env)
    assert T._meta.dumps_env(fresh) == text and fresh.check([7, 5, 9])
    fresh.freeze()
    assert not env.frozen and T._meta.dumps_env(again(fresh)) == text + "frozen\n"


@pytest.mark.parametrize(("wrong", "line"), [
    ("", 1), ("slotfuzz-shape-env 2\n", 1), ("slotfuzz-shape-env 1", 1),
    *((f"slotfuzz-shape-env 1\n{more}\n", 2) for more in (
        "", "symbol", "symbol 7 2", "symbol 1 2 duck", "symbol 7 3 duck", "symbol -1 0 dynamic",
        "symbol 99999999999999999999 0 dynamic", "symbol unbacked ", "symbol 3 unbacked",
        "assert s0 >= 0", "guard s4294967295 >= 0", "guard u4294967295 >= 0",
        "input s0 a", "input 3", "input -3 a", "frozen ",
        "guard 0 == 0", "guard s0 >= 0", "strange")),
    *((f"slotfuzz-shape-env 1\nsymbol 7 2 duck\ninput s0 a\n{more}\n", 4) for more in (
        "symbol 6 2 duck", "input s1 b", "input s0 a", "input s0*s0 b", "input s0 ",
        "guard s0 >= 0", "guard s0 + -9 >= 0", "guard s0 + -4 >= 1", "guard s0 // 2 >= 0",
        "guard " + "((" * 100_000, "guard s0 + -99999999999999999999 >= 0",
        "guard ((s0) // (0)) != 0", "assert s0 + -4 >= 0", "guard u0 + -4 >= 0",
        "guard max(s0, 1) + -2 >= 0", "guard max(s0 + -9 >= 0",
        "guard s0*s0*s0*s0*s0*s0*s0*s0*s0 + -9 >= 0", "guard ! == 0")),
])
def test_a_bad_text_names_the_line(wrong, line):
    with pytest.raises(ValueError, match=f"line {line}: "):
        T._meta.loads_env(wrong)


@pytest.mark.parametrize("wrong", [
    "slotfuzz-shape-env 1\nsymbol 7 2 duck\n",
    "slotfuzz-shape-env 1\nsymbol 7 2 duck\ninput s0 a\nguard -3 + s0 >= 0\n",
    "slotfuzz-shape-env 1\nfrozen\nfrozen\n",
    "slotfuzz-shape-env 1\nsymbol 7 2 duck\nsymbol 7 2 duck\ninput s0 a\ninput s1 b\n",
    "slotfuzz-shape-env 1\nsymbol 7 0 dynamic\ninput s0 a\ninput s0 b\n",
    "slotfuzz-shape-env 1\nsymbol 7 2 duck\nsymbol 6 2 duck\ninput s1 a\ninput s0 b\n",
])
def test_what_no_writer_has_written_is_refused(wrong):
    with pytest.raises(ValueError):
        T._meta.loads_env(wrong)


def test_what_is_too_large_is_an_error_that_changes_nothing():
    env, a, b = sizes(1 << 40, 3)
    for operation in (lambda: bool(a * a * a > 0), lambda: a * (1 << 62) * 4, lambda: a + (1 << 70),
                      lambda: a * a * a * a * a * a * a * a * a,
                      lambda: sum(((b + i) // 97 for i in range(96)), a) * a + (b // 2)):
        with pytest.raises((RuntimeError, OverflowError)):
            operation()
    deep = b
    with pytest.raises(RuntimeError):
        for _ in range(20):
            deep = (deep + 1) // 2 + deep // 3
    assert env.guards == [] and env.check([0, 0])


@pytest.mark.parametrize(("wrong", "error"), [
    (lambda env, a: env.create_symint(-1, "x"), ValueError),
    (lambda env, a: env.create_symint(3, "size 0"), ValueError),
    (lambda env, a: env.create_symint(3, ""), ValueError),
    (lambda env, a: env.create_symint(3, "two\nlines"), ValueError),
    (lambda env, a: env.create_symint(3, "x", "unbacked"), ValueError),
    (lambda env, a: env.check([1, 2]), ValueError), (lambda env, a: env.check(3), TypeError),
    (lambda env, a: a + 1.5, TypeError), (lambda env, a: 1.5 < a, TypeError),
    (lambda env, a: a + sizes(3)[1], ValueError), (lambda env, a: hash(a), TypeError),
    (lambda env, a: type(a)(), TypeError), (lambda env, a: ShapeEnv(3), TypeError),
    (lambda env, a: type(a > 3)(), TypeError), (lambda env, a: T._check(1), TypeError),
    (lambda env, a: T._check(False), RuntimeError), (lambda env, a: T.sym_max(a, 1.5), TypeError),
    (lambda env, a: T.sym_min(a), TypeError), (lambda env, a: env.check([7], [1]), ValueError),
    (lambda env, a: a < sizes(3)[1], ValueError),
    (lambda env, a: T._meta.dumps_env(a), TypeError),
    (lambda env, a: T._meta.loads_env(b""), TypeError),
])
def test_wrong_arguments(wrong, error):
    env, a = sizes(7)
    with pytest.raises(error):
        wrong(env, a)
    assert T._meta.dumps_env(env) == T._meta.dumps_env(sizes(7)[0])


def test_a_size_owns_its_environment():
    env, a = sizes(7)
    del env
    assert a > 3 and a.shape_env.guards == ["s0 + -4 >= 0"] and a.hint == 7
