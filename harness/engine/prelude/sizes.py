"""What lines about symbolic sizes may call, and checks with their own expectation.

A check runs functions on ints as well, and shares nothing with the expressions of the core.
"""

#: ShapeEnv [slotcore]: torch's class, in which sizes are symbols and decisions are guards
ShapeEnv = T.fx.experimental.symbolic_shapes.ShapeEnv

#: SymBool [slotcore]: torch's class, a condition on sizes
SymBool = T.SymBool

#: size_of [slotcore]: one more input of an environment, named by its place
def size_of(env, hint, kind):
    return env.create_symint(hint, str(len(env.inputs)), kind)

#: compiled [slotcore]: texts of expressions, which are Python, as a function of their symbols
def compiled(texts):
    return eval(f"lambda s0=None, s1=None, u1=None: [{', '.join(map(str, texts))}]")

#: check_sound, check_sound_of [slotcore]: inputs that pass have what the example has (M11)
#> check_sound: checks
def answer_of(function, sizes):
    try:
        answer = function(*sizes)
    except ZeroDivisionError as error:
        return type(error)
    return bool(answer) if isinstance(answer, (bool, SymBool)) else answer
def points_of(env, sizes):
    return {text: size for (source, text), size in zip(env.inputs, sizes) if text[0] == "s"}
def value_at(env, example, answer):
    if type(answer) is bool or isinstance(answer, type):
        return answer
    return compiled([answer])(**points_of(env, example))[0]
def check_sound_of(kind, function, example):
    env = ShapeEnv()
    sizes = [size_of(env, hint, kind) for hint in example]
    traced, asked = answer_of(function, sizes), list(env.guards)
    expected = answer_of(function, example)
    is_value = type(traced) is not bool and not isinstance(traced, type)
    results, guards = compiled([traced] if is_value else []), compiled(asked)
    assert value_at(env, example, traced) == expected, "M11: a decision is not that of the example"
    assert env.check(example), "M11: the example does not pass"
    for point in [*((a, b) for a in range(7) for b in range(7)), (64, 65), (65, 64), (64, 64)]:
        if not env.check(point):
            continue
        values = points_of(env, point)
        assert all(guards(**values)), "M11: a guard does not hold"
        actual = answer_of(function, point)
        if not is_value or type(actual) is not int:
            assert actual == expected, "M11: an input that passes decides otherwise"
        else:
            assert [actual] == results(**values), "M11: an expression has another value"
    again = answer_of(function, sizes)
    assert value_at(env, example, again) == expected, "M11: a second run gives another value"
    assert env.check(example), "M11: the example passes no longer"
    return asked == env.guards and str(again) == str(traced)
def check_sound(function, first, second):
    for kind in ("duck", "dynamic", "static"):
        check_sound_of(kind, function, (first, second))

#: check_guards [slotcore]: the same, and a second run asks nothing more
#> check_guards: checks
def check_guards(function, first, second):
    for kind in ("duck", "dynamic", "static"):
        is_decided = check_sound_of(kind, function, (first, second))
        assert is_decided, "M11: it is decided twice"

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
    is_large = bool(size > 3)
    env.freeze()
    guards = list(env.guards)
    assert bool(size > 3) == is_large == (first > 3), "M11: a decision is forgotten"
    for decide in (lambda: bool(size == first), lambda: int(size),
                   lambda: size_of(env, 1, "static")):
        try:
            decide()
        except RuntimeError:
            continue
        assert False, "M11: a frozen environment takes a guard"
    assert env.guards == guards and env.check([first]), "M11: an error changes a frozen environment"

#: check_unbacked [slotcore]: what is decided of a number from data holds for each such number (M11)
#> check_unbacked: checks
def decided_of(function, numbers):
    try:
        return bool(function(*numbers))
    except (RuntimeError, ZeroDivisionError):
        return None
def holds_for(conditions, **numbers):
    try:
        return all(conditions(**numbers))
    except ZeroDivisionError:  # a guard on a quotient
        return False
def check_unbacked(function, first):
    env = ShapeEnv()
    size, number = size_of(env, first, "dynamic"), env.create_unbacked_symint()
    traced = decided_of(function, (number, size))
    constraints = env.guards, env.deferred_runtime_asserts, env.replacements
    fresh = T._meta.loads_env(T._meta.dumps_env(env))
    assert constraints == (fresh.guards, fresh.deferred_runtime_asserts, fresh.replacements), (
        "M5: an environment from text has other constraints")
    holds, replaced = compiled(constraints[0] + constraints[1]), compiled(constraints[2].values())
    for s0, u1 in [(a, b) for a in range(5) for b in range(-2, 7)]:
        is_taken = env.check([s0], [u1])
        assert is_taken == holds_for(holds, s0=s0, u1=u1) == fresh.check([s0], [u1]), (
            "M11: an environment takes other numbers than its constraints")
        if is_taken and traced is not None:
            assert decided_of(function, (u1, s0)) == traced, (
                "M11: a number that passes decides otherwise")
            replaced_ones = [{"s0": s0, "u1": u1}[name] for name in constraints[2]]
            assert replaced(s0=s0, u1=u1) == replaced_ones, (
                "M11: a replacement has another value")

#: dynamic [slotcore]: a fake whose sizes have a symbol each
def dynamic(mode, tensor):
    check_can_note()
    return mode.from_tensor(tensor, kind="dynamic")

#: check_same_symbols [slotcore]: a tensor that is converted again has the symbols that it had (M5)
#> check_same_symbols: checks
def check_same_symbols(tensor):
    if in_hermetic() or getattr(tensor, "fake_mode", None):
        return
    env = ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    seen = []
    for _ in range(2):
        fake = dynamic(mode, tensor)
        seen.append(([str(size) for size in (*fake.shape, *fake.stride())], env.inputs))
        del fake
    assert seen[0] == seen[1], "M5: a tensor that is converted again has other symbols"

#: env_of [slotcore]: the environment of a description, or one without symbols
def env_of(description):
    return description.shape_env or ShapeEnv()

#: check_symbolic_text [slotcore]: fakes with symbols as text, and fakes from it (M12, M10, M5)
#> check_symbolic_text: checks
def described_apart(fakes):
    return T._meta.describe(MetaConverter().describer, *fakes)
def layouts_at_a_point(env, fakes):
    names = dict.fromkeys(text for source, text in env.inputs if text[0] == "s")
    point = {name: 3 + 2 * place for place, name in enumerate(names)}  # all differ
    for name, by in env.replacements.items():
        point[name] = eval(str(by), dict(point))
    return [[eval(str(size), dict(point)) for size in (
        *one.shape, *one.stride(), one.storage_offset(), storage_of(one).nbytes())]
        for one in fakes]
def check_symbolic_text(first, second):
    if in_hermetic() or getattr(first, "fake_mode", None) or getattr(second, "fake_mode", None):
        return
    env = ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    fakes = [dynamic(mode, one) for one in (first, second)]
    before = T._meta.dumps_env(env)
    text = T._meta.dumps(described_apart(fakes))
    assert T._meta.dumps_env(env) == before, "M10: describing decides the size of a fake"
    try:
        description = T._meta.loads(text)
    except ValueError:
        assert False, "M12: text of a fake with symbols is not read"
    assert T._meta.dumps(description) == text, "M12: the text of a fake with symbols differs"
    if {size for _, size in env.inputs if size[0] == "s"} <= set(env.replacements):
        assert description.shape_env is None, "M12: there are symbols where no size has one"
        return
    fresh = env_of(description)
    assert T._meta.dumps_env(fresh) == before, "M5: an environment from text is another one"
    again = FakeTensorMode(shape_env=fresh)
    twins = T._meta.convert(again.fake_tensor_converter.meta_converter, description)
    assert layouts_at_a_point(fresh, twins) == layouts_at_a_point(env, fakes), (
        "M4: fakes from text have other sizes")
    assert T._meta.dumps(described_apart(twins)) == text, (
        "M12: the text of a fake from text differs")
    decided = [bool(one.numel() > 3) for one in fakes]
    assert T._meta.dumps_env(fresh) == before, "M5: two environments share their state"
    assert [bool(one.numel() > 3) for one in twins] == decided, (
        "M5: an environment from text decides otherwise")
    assert T._meta.dumps_env(fresh) == T._meta.dumps_env(env), (
        "M5: an environment from text has other guards")

#: is_decided_equal: whether two sizes are equal, whatever the data
def is_decided_equal(number, other):
    try:
        return bool(number == other)
    except RuntimeError:  # only the data decides
        return False

#: check_nonzero: a fake's number of rows holds until its numbers may be others (M15)
#> check_nonzero: checks
def with_other_data(fake):
    fake.data = fake.mul(0)
    return fake
by_aliases = (
    lambda a: (a.data.zero_(), a)[1], lambda a: (T.empty(0).set_(a).zero_(), a)[1],
    lambda a: (storage_of(a).fill_(0), a)[1],
) if is_slotcore else ()
def check_nonzero(first):
    for change in (lambda a: a.zero_(), lambda a: a.view(-1).zero_(), lambda a: a.mul(0),
                   lambda a: a.set_(a.mul(0)), with_other_data, *by_aliases):
        mode = FakeTensorMode(shape_env=ShapeEnv())
        fake = mode.from_tensor(T.ones(first), static_shapes=True)
        with mode:
            numbers = [fake.nonzero().size(0) for _ in range(2)]
            changed = change(fake).nonzero().size(0)
        assert is_decided_equal(*numbers), "M15: a fake has two numbers of rows"
        assert not is_decided_equal(numbers[0], changed), (
            "M15: a fake has the number of rows that it had with other numbers")

#: check_pending [slotcore]: what raises takes its symbols and inputs with it (M14)
#> check_pending: checks
def check_pending(first):
    for taken in ("size(0)", "stride()[0]", "storage_offset()", "untyped_storage().nbytes()"):
        env = ShapeEnv()
        env.create_symint(3, f"t1.{taken}")
        before, tensor = T._meta.dumps_env(env), T.ones(first + 3)
        mode = FakeTensorMode(shape_env=env)
        for _ in range(2):
            try:
                mode.from_tensor(tensor, kind="dynamic")
            except ValueError:
                assert T._meta.dumps_env(env) == before, "M14: an error leaves an input"
                continue
            assert False, "M14: a source has two inputs"
        env.create_symint(3, "n")  # the next tensor has another name
        try:
            converted = mode.from_tensor(tensor, kind="dynamic")
        except ValueError:
            converted = None
        assert converted is not None, "M14: an error leaves a name"
    env = ShapeEnv()
    fake = FakeTensorMode(shape_env=env).from_tensor(T.ones(first + 1), static_shapes=True)
    storage_of(fake).resize_(0)
    before = T._meta.dumps_env(env)
    try:
        fake.nonzero()
    except RuntimeError:
        assert T._meta.dumps_env(env) == before, "M14: an error leaves a symbol"
        return
    assert False, "M15: a fake has numbers beyond its storage"

#: check_dynamic [slotcore]: tensors that pass have the layouts of the fake (M11, M15)
#> check_dynamic: checks
def layout_after(function, tensor):
    try:
        one = function(tensor)
    except (RuntimeError, IndexError) as error:
        return type(error)
    return [*one.size(), *one.stride(), one.storage_offset(), storage_of(one).nbytes()]
def check_dynamic(function, tensor):
    if in_hermetic():
        return
    import itertools
    example, env = tuple(tensor.size()), ShapeEnv()
    def made(sizes):
        return T.ones(sizes, dtype=tensor.dtype)
    def inputs_of(one):
        return [eval(source, {"t0": one}) for source, text in env.inputs]
    mode = FakeTensorMode(shape_env=env)
    traced = layout_after(function, mode.from_tensor(made(example), kind="dynamic"))
    guards = list(env.guards)
    assert env.check(inputs_of(made(example))), "M11: the example does not pass"
    box = itertools.product(range(4), repeat=len(example)) if len(example) < 4 else []
    for sizes in [example, *box]:
        numbers = inputs_of(made(sizes))
        if not env.check(numbers):
            continue
        symbols = {text: size for (source, text), size in zip(env.inputs, numbers)}
        assert all(eval(guard, dict(symbols)) for guard in guards), "M11: a guard does not hold"
        expected = traced
        if type(traced) is list:
            expected = [eval(str(one), dict(symbols)) for one in traced]
        assert layout_after(function, made(sizes)) == expected, (
            "M11: a tensor that passes has another layout than the fake")
