"""What lines about symbolic sizes may call, and checks with their own expectation.

A check runs functions on ints as well, and shares nothing with the expressions of the core.
"""

#: ShapeEnv [slotcore]: torch's class, in which sizes are symbols and decisions are guards
ShapeEnv = T.fx.experimental.symbolic_shapes.ShapeEnv

#: size_of [slotcore]: one more input of an environment, named by its place
def size_of(env, hint, kind):
    return env.create_symint(hint, str(len(env.inputs)), kind)

#: check_guards [slotcore]: inputs that pass have what the example has (M11)
#> check_guards: checks
def answer_of(function, sizes, points):
    try:
        answer = function(*sizes)
    except ZeroDivisionError as error:
        return type(error)
    # The text of an expression is Python, whose symbols are here for the inputs.
    return answer if type(answer) is bool else eval(str(answer), dict(points))
def points_of(env, sizes):
    return {text: size for (source, text), size in zip(env.inputs, sizes) if text[0] == "s"}
def check_guards(function, first, second):
    example = (first, second)
    for kind in ("duck", "dynamic", "static"):
        env = ShapeEnv()
        sizes = [size_of(env, hint, kind) for hint in example]
        answers = [answer_of(function, sizes, points_of(env, example))]
        asked = list(env.guards)
        expected = answer_of(function, example, {})
        assert answers == [expected], "M11: a decision is not that of the example"
        assert env.check(example), "M11: the example does not pass"
        for point in [*((a, b) for a in range(7) for b in range(7)), (64, 65), (65, 64), (64, 64)]:
            if not env.check(point):
                continue
            values = points_of(env, point)
            assert all(eval(guard, dict(values)) for guard in asked), "M11: a guard does not hold"
            actual = answer_of(function, point, {})
            if type(expected) is bool or type(actual) is not int:
                assert actual == expected, "M11: an input that passes decides otherwise"
            else:
                traced = answer_of(function, sizes, values)
                assert actual == traced, "M11: an expression has another value"
        assert env.guards == asked, "M11: an answer is decided twice"

#: check_fresh_env [slotcore]: an environment from text decides the same, and is another one (M5)
#> check_fresh_env: checks
def check_fresh_env(env):
    text = T._meta.dumps_env(env)
    fresh = T._meta.loads_env(text)
    assert T._meta.dumps_env(fresh) == text, "M5: the text of an environment from text differs"
    assert (fresh.guards, fresh.inputs, fresh.frozen) == (env.guards, env.inputs, env.frozen), (
        "M5: an environment from text is another one")
    fresh.freeze()
    assert T._meta.dumps_env(env) == text, "M5: an environment shares its state with a fresh one"
    made = ShapeEnv()
    size = size_of(made, 9, "dynamic")
    assert size > 3, "M11: a decision is not that of the example"
    again = T._meta.loads_env(T._meta.dumps_env(made))
    assert T._meta.dumps_env(again) == T._meta.dumps_env(made), (
        "M5: the text of an environment from text differs")
    for one in (made, again):
        assert one.check([9]) and one.check([4]) and not one.check([3]), (
            "M5: an environment from text has other guards")
    twin = size_of(again, 9, "duck"), size_of(made, 9, "duck")
    assert str(twin[0]) == str(twin[1]), "M5: an environment from text has other symbols"

#: check_frozen [slotcore]: a frozen environment decides what is implied, and no more (M11)
#> check_frozen: checks
def check_frozen(first):
    env = ShapeEnv()
    size = size_of(env, first, "dynamic")
    is_large = size > 3
    env.freeze()
    guards = list(env.guards)
    assert (size > 3) == is_large == (first > 3), "M11: a decision is forgotten"
    for decide in (lambda: size == first, lambda: int(size), lambda: size_of(env, 1, "static")):
        try:
            decide()
        except RuntimeError:
            continue
        assert False, "M11: a frozen environment takes a guard"
    assert env.guards == guards and env.check([first]), "M11: an error changes a frozen environment"
