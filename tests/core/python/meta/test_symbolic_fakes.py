"""Fakes whose sizes are symbols: what is an input, what an operation decides, and what it gives."""

import gc
import itertools

import pytest
import slotcore as T

FakeTensorMode = T._subclasses.FakeTensorMode
ShapeEnv = T.fx.experimental.symbolic_shapes.ShapeEnv


@pytest.fixture(autouse=True)
def modes():
    """A mode and its tables go with the last fake (P5, M8)."""
    before = T._live_modes(), T._live_table_entries()
    yield
    gc.collect()
    assert (T._live_modes(), T._live_table_entries()) == before


def dynamic(tensor, kind="dynamic"):
    env = ShapeEnv()
    return FakeTensorMode(shape_env=env).from_tensor(tensor, kind=kind), env


def inputs_of(env, tensor):
    return [eval(source, {"t0": tensor}) for source, _ in env.inputs]


def passing(env, rank):
    """The small tensors that pass, and the values of symbols that each has."""
    for sizes in itertools.product(range(5), repeat=rank):
        numbers = inputs_of(env, T.ones(sizes))
        if env.check(numbers):
            yield T.ones(sizes), {text: size for (_, text), size in zip(env.inputs, numbers)}


def layout_of(tensor):
    return [*tensor.size(), *tensor.stride(), tensor.storage_offset(),
            tensor.untyped_storage().nbytes()]


def test_all_that_a_layout_depends_on_is_an_input():
    fake, env = dynamic(T.ones(4, 3))
    assert [source for source, _ in env.inputs] == [
        "t0.size(0)", "t0.size(1)", "t0.stride()[0]", "t0.stride()[1]", "t0.storage_offset()",
        "t0.untyped_storage().nbytes()"]
    assert [str(size) for size in fake.shape] == ["s0", "s1"]
    assert env.check(inputs_of(env, T.ones(7, 2))) and env.check(inputs_of(env, T.ones(0, 2)))
    assert not env.check(inputs_of(env, T.ones(2, 7).t()))
    assert not env.check(inputs_of(env, T.ones(8, 2)[:7]))


def test_a_tensor_that_is_converted_again_has_its_symbols():
    base = T.ones(4, 3)
    view, env = base.t(), ShapeEnv()
    mode = FakeTensorMode(shape_env=env)

    def symbols(tensor, **options):
        return [str(size) for size in mode.from_tensor(tensor, **options).shape]
    first = symbols(view, kind="dynamic")
    inputs, sources = env.inputs, [source for source, _ in env.inputs]
    assert symbols(view, kind="dynamic") == first and env.inputs == inputs
    of_base = [dict(inputs)[f"t0._base.size({dim})"] for dim in range(2)]
    assert symbols(base, kind="dynamic") == of_base and env.inputs == inputs
    assert sources[0] == "t0.size(0)"
    other = symbols(view, kind="duck")
    assert not set(other) & set(first) and len(env.inputs) == 2 * len(inputs)
    env.freeze()
    assert symbols(view, kind="dynamic") == first and symbols(view, kind="duck") == other
    with pytest.raises(RuntimeError, match="frozen"):
        symbols(T.ones(2), kind="dynamic")


def test_a_conversion_decides_no_size_of_what_has_a_history():
    leaf = T.ones(1).requires_grad_()
    for tensor in (leaf.view(-1), leaf.mul(2), leaf.mul(2)[0:1]):
        env = ShapeEnv()
        mode = FakeTensorMode(shape_env=env)
        fakes = [mode.from_tensor(tensor, kind="dynamic") for _ in range(2)]
        assert not fakes[0].is_leaf and fakes[0].grad_fn.name() == "UnknownHistory"
        assert [str(size) for size in fakes[0].shape] == ["s0"]
        assert not any(guard.startswith("s0 ") for guard in env.guards)


def test_a_tensor_that_changed_has_new_symbols():
    base = T.ones(4, 3)
    view, env = base[1:], ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    seen = []
    for change in (lambda: None, lambda: base.resize_(6, 3),
                   lambda: base.untyped_storage().resize_(99)):
        change()
        fake = mode.from_tensor(view, kind="dynamic")
        seen += [str(size) for size in fake._base.shape]
    assert len(set(seen)) == len(seen)


def test_a_kind_is_that_of_the_sizes():
    square = T.ones(4, 4)
    assert [str(size) for size in dynamic(square, "duck")[0].shape] == ["s0", "s0"]
    assert [str(size) for size in dynamic(square)[0].shape] == ["s0", "s1"]
    env = ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    assert mode.shape_env is env and FakeTensorMode().shape_env is None
    static = mode.from_tensor(square, static_shapes=True)
    assert static.shape == (4, 4) and env.inputs == []
    fake = mode.from_tensor(square)
    assert fake is not static and mode.from_tensor(square) is fake
    with pytest.raises(ValueError):
        mode.from_tensor(square, kind="static")
    with pytest.raises(TypeError):
        FakeTensorMode(shape_env=3)


def test_a_view_has_the_names_of_what_leads_to_it():
    fake, env = dynamic(T.ones(4, 3).t())
    assert env.inputs[5][0] == "t0._base.size(0)" and env.inputs[2][0] == "t0.stride()[0]"
    assert [str(size) for size in fake._base.shape] == ["s3", "s4"]


OPERATIONS = {
    "t": lambda a: a.t(),
    "row": lambda a: a[0],
    "last row": lambda a: a[-1],
    "flat": lambda a: a.view(-1),
    "flat by numel": lambda a: a.view(a.numel()),
    "halves": lambda a: a.narrow(0, 0, a.size(0) // 2),
    "view by a size": lambda a: a.t().view(a.size(1), -1),
    "split": lambda a: a.view(a.size(0), 1, -1),
    "expand": lambda a: a.expand(2, a.size(0), a.size(1)),
    "add": lambda a: a.add(a.t()),
    "add a row": lambda a: a + a[0],
    "clone": lambda a: a.t().clone(),
    "in place": lambda a: a.add_(a[0]),
    "copy": lambda a: a.copy_(a[0].clone()),
    "sum": lambda a: a.sum(),
    "relu": lambda a: a.relu(),
    "as_strided": lambda a: a.as_strided((a.size(0),), (1,)),
    "as pairs": lambda a: T.view_as_real(a.mul(1j)),
    "bytes": lambda a: a.view(T.uint8),
    "resized": lambda a: a.resize_(5),
    "slice": lambda a: a[1:],
    "length": lambda a: a.view(len(a), -1),
    "grown": lambda a: a.set_(a.untyped_storage(), 0, (9,)),
    "view_as": lambda a: a.view(-1).view_as(a),
    "product": lambda a: a.requires_grad_().mul(a).sum(),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_passes_has_the_layout_of_the_fake(name):
    operation = OPERATIONS[name]
    for example in (T.ones(4, 3), T.ones(3, 3), T.ones(2, 1)):
        for kind in ("duck", "dynamic"):
            fake, env = dynamic(example, kind)
            try:
                traced = [str(one) for one in layout_of(operation(fake))]
            except RuntimeError:
                traced = None
            assert env.check(inputs_of(env, T.ones(example.shape)))
            for tensor, values in passing(env, 2):
                try:
                    actual = layout_of(operation(tensor))
                except RuntimeError:
                    actual = None
                expected = traced and [eval(one, dict(values)) for one in traced]
                assert actual == expected, (example.shape, kind, tensor.shape, env.guards)


@pytest.mark.parametrize("name", ["t", "flat", "halves", "expand", "clone", "sum", "row"])
def test_general_operations_pass_other_sizes(name):
    fake, env = dynamic(T.ones(4, 3))
    OPERATIONS[name](fake)
    assert len(list(passing(env, 2))) >= 9, env.guards


def test_sizes_of_results_are_expressions():
    fake, env = dynamic(T.ones(4, 3))
    assert str(fake.numel()) == "s0*s1" and str(fake.view(-1).size(0)) == "s0*s1"
    assert str(fake.expand(2, -1, -1).numel()) == "2*s0*s1"
    assert str(fake.untyped_storage().nbytes()) == "4*s0*s1"
    assert fake.dim() == 2 and fake.t().stride()[0] == 1
    assert fake.size(0).shape_env is env
    assert len(fake) == 4 and "s0 + -4 == 0" in env.guards


def test_a_real_tensor_decides_the_sizes_that_it_takes():
    fake, env = dynamic(T.ones(4))
    assert T.ones(6).narrow(0, 0, fake.size(0)).shape == (4,)
    assert env.guards[-1] == "s0 + -4 == 0"
    static = fake.fake_mode.from_tensor(T.ones(6), static_shapes=True)
    fresh = fake.fake_mode.from_tensor(T.ones(5), kind="dynamic")
    narrowed = static.narrow(0, 0, fresh.size(0))
    assert type(narrowed.size(0)) is T.SymInt and narrowed.size(0).hint == 5


def test_a_number_of_a_fake_is_unbacked():
    env = ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    number = mode.from_tensor(T.tensor(3)).item()
    assert str(number) == "u0"
    fake = mode.from_tensor(T.ones(8), static_shapes=True)
    with pytest.raises(RuntimeError):
        fake.narrow(0, 0, number)
    T._check(number >= 0)
    T._check(number <= 8)
    T._check(number != 0)
    assert str(fake.narrow(0, 0, number).size(0)) == "u0"
    for unknown in (mode.from_tensor(T.tensor(3.0)), FakeTensorMode().from_tensor(T.tensor(3))):
        with pytest.raises(NotImplementedError):
            unknown.item()
    with pytest.raises(RuntimeError):
        mode.from_tensor(T.ones(2, dtype=T.int64)).item()


def test_a_frozen_environment_gives_no_new_symbols():
    env = ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    fake = mode.from_tensor(T.ones(4), kind="dynamic")
    text = (env.freeze(), T._meta.dumps_env(env))[1]
    for refused in (lambda: mode.from_tensor(T.ones(4)), lambda: len(fake), lambda: fake[3]):
        with pytest.raises(RuntimeError):
            refused()
    assert T._meta.dumps_env(env) == text


@pytest.mark.parametrize("taken", ["size(0)", "stride()[0]", "storage_offset()"])
def test_a_conversion_that_raises_leaves_no_input(taken):  # M14
    env = ShapeEnv()
    env.create_symint(3, f"t1.{taken}")
    before = T._meta.dumps_env(env)
    with pytest.raises(ValueError, match="there already"):
        FakeTensorMode(shape_env=env).from_tensor(T.ones(4), kind="dynamic")
    assert T._meta.dumps_env(env) == before


def test_a_mode_and_its_fakes_keep_the_environment():
    fake, env = dynamic(T.ones(4))
    text = T._meta.dumps_env(env)
    del env
    size = fake.size(0)
    del fake
    assert T._meta.dumps_env(size.shape_env) == text
