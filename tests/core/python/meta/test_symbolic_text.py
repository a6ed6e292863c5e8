"""Fakes whose sizes are symbols, as text: what is written, and what another mode makes of it."""

import json

import pytest
import slotcore as T

FakeTensorMode = T._subclasses.FakeTensorMode
MetaConverter = T._subclasses.meta_utils.MetaConverter
ShapeEnv = T.fx.experimental.symbolic_shapes.ShapeEnv


def dynamic(*tensors, kind="dynamic"):
    mode = FakeTensorMode(shape_env=ShapeEnv())
    return [mode.from_tensor(one, kind=kind) for one in tensors]


def described(*fakes):
    return T._meta.describe(MetaConverter().describer, *fakes)


def converted(description, env):
    converter = FakeTensorMode(shape_env=env).fake_tensor_converter.meta_converter
    return T._meta.convert(converter, description)


def layout_of(fake):
    return [str(one) for one in (*fake.shape, *fake.stride(), fake.storage_offset(),
                                 fake.untyped_storage().nbytes())]


def test_a_text_has_expressions_and_their_environment():
    fake, = dynamic(T.ones(4, 3))
    text = json.loads(described(fake).as_json())
    assert text["tensors"][0]["size"] == ["s0", "s1"]
    assert text["tensors"][0]["stride"] == ["max(s1, 1)", 1]
    assert text["storages"][0]["nbytes"] == str(fake.untyped_storage().nbytes())
    assert text["shape_env"] == T._meta.dumps_env(fake.fake_mode.shape_env)


def test_a_text_without_symbols_has_no_environment():
    fake, = dynamic(T.ones(4, 3), kind="duck")
    static = fake.fake_mode.from_tensor(T.ones(2), static_shapes=True)
    assert "shape_env" not in described(static).as_json() and described(static).shape_env is None
    assert described(T.ones(2)).shape_env is None


def test_describing_decides_nothing():
    fake, = dynamic(T.ones(4, 3).t())
    env = fake.fake_mode.shape_env
    before = T._meta.dumps_env(env)
    description = described(fake)
    assert T._meta.dumps_env(env) == before
    assert description.size == (3, 4) and description.storage_nbytes == 48


@pytest.mark.parametrize("function", [
    lambda a: a, lambda a: a.t(), lambda a: a.view(-1), lambda a: a.add(a),
    lambda a: a.narrow(0, 0, a.size(0) // 2), lambda a: a.expand(2, *a.size()),
], ids=["input", "t", "view", "sum", "half", "expand"])
def test_fakes_from_text_have_the_sizes_of_those_that_were_written(function):
    fake, = dynamic(T.ones(4, 3))
    with T.no_grad():
        result = function(fake)
    text = described(fake, result).as_json()
    description = T._meta.loads(text)
    env = description.shape_env
    twins = converted(description, env)
    assert [layout_of(one) for one in twins] == [layout_of(fake), layout_of(result)]
    assert described(*twins).as_json() == text == description.as_json()
    assert T._meta.dumps_env(env) == T._meta.dumps_env(fake.fake_mode.shape_env)


def test_a_decision_in_one_environment_is_none_in_another():
    fake, = dynamic(T.ones(4))
    description = T._meta.loads(described(fake).as_json())
    twin, = converted(description, description.shape_env)
    assert bool(twin.size(0) > 3)
    assert len(description.shape_env.guards) == 1 + len(fake.fake_mode.shape_env.guards)
    assert twin.size(0).shape_env is description.shape_env


def test_what_was_decided_is_in_the_text():
    fake, = dynamic(T.ones(4, 4))
    assert bool(fake.size(0) == fake.size(1))
    text = json.loads(described(fake).as_json())
    assert text["tensors"][0]["size"] == ["s0", "s0"]
    twin, = converted(T._meta.loads(described(fake).as_json()),
                      (env := T._meta.loads(described(fake).as_json()).shape_env))
    assert twin.shape == (4, 4) and env is not None  # another description's: the example's sizes


def test_without_its_environment_a_description_has_the_sizes_of_the_example():
    fake, = dynamic(T.ones(4, 3))
    description = described(fake)
    for converter in (MetaConverter(), FakeTensorMode().fake_tensor_converter.meta_converter,
                      FakeTensorMode(shape_env=ShapeEnv()).fake_tensor_converter.meta_converter):
        twin, = T._meta.convert(converter, description)
        assert twin.shape == (4, 3) and twin.untyped_storage().nbytes() == 48


def test_symbols_of_two_environments_have_no_common_text():
    one, = dynamic(T.ones(4))
    other, = dynamic(T.ones(4))
    before = T._live_table_entries()
    with pytest.raises(ValueError):
        described(one, other)
    assert T._live_table_entries() == before


def test_a_fake_is_the_same_one_while_it_lives():
    fake, = dynamic(T.ones(4, 3))
    description = described(fake)
    converter = FakeTensorMode(
        shape_env=description.shape_env).fake_tensor_converter.meta_converter
    twin, = T._meta.convert(converter, description)
    assert T._meta.convert(converter, description)[0] is twin


def test_views_and_gradients_have_expressions_as_well():
    base = T.ones(4, 3)
    base.grad = T.ones(4, 3)
    fake, = dynamic(base.t())
    description = T._meta.loads(described(fake).as_json())
    twin, = converted(description, description.shape_env)
    assert layout_of(twin._base) == layout_of(fake._base)
    assert layout_of(twin._base.grad) == layout_of(fake._base.grad)


def test_a_size_that_only_the_data_decides_has_no_text():
    mode = FakeTensorMode(shape_env=ShapeEnv())
    with mode:
        number = T.tensor([1]).item()
    T._check(number >= 2)
    whole = mode.from_tensor(T.ones(4))
    T._check(number <= whole.size(0))
    T._check(4 * number <= 4 * whole.size(0))
    fake = whole.narrow(0, 0, number)
    assert str(fake.shape) == "(u0,)"
    before = T._live_table_entries()
    with pytest.raises(RuntimeError):
        described(fake)
    assert T._live_table_entries() == before
