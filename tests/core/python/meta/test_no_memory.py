"""Without memory for an object of Python, no table and no environment changes (M14)."""

import _testcapi
import pytest
import slotcore as T

ShapeEnv = T.fx.experimental.symbolic_shapes.ShapeEnv
MetaConverter = T._subclasses.meta_utils.MetaConverter


def parameter():
    """A Parameter whose gradient has a gradient: three fakes that need wrappers."""
    t = T.nn.Parameter(T.ones(3))
    t.grad = T.ones(3)
    t.grad.grad = T.ones(3)
    return t


def new_mode():
    mode = T._subclasses.FakeTensorMode(shape_env=ShapeEnv())
    return mode, mode.fake_tensor_converter.meta_converter, mode.shape_env


def converting():
    converter, t = MetaConverter(), parameter()
    return converter, None, lambda: converter(t)


def describing():
    converter, t = MetaConverter(), parameter()
    return converter, None, lambda: converter.describer.describe_tensor(t)


def making_a_fake():
    mode, converter, env = new_mode()
    t = parameter()
    return converter, env, lambda: mode.from_tensor(t)


def converting_a_text():
    mode, converter, _ = new_mode()
    desc = converter.describer.describe_tensor(mode.from_tensor(T.ones(3, 2)))
    desc = T._meta.loads(T._meta.dumps(desc))
    mode = T._subclasses.FakeTensorMode(shape_env=desc.shape_env)
    converter = mode.fake_tensor_converter.meta_converter
    return converter, desc.shape_env, lambda: T._meta.convert(converter, desc)


def counting_rows():
    mode, converter, env = new_mode()
    fake = mode.from_tensor(T.ones(3, 2))
    return converter, env, fake.nonzero


def reading_a_number():
    mode, converter, env = new_mode()
    fake = mode.from_tensor(T.ones(1, dtype=T.int64))
    return converter, env, fake.item


def adding_a_size():
    env = ShapeEnv()
    return MetaConverter(), env, lambda: env.create_symint(3, "a", "dynamic")


def adding_an_unbacked_size():
    env = ShapeEnv()
    return MetaConverter(), env, env.create_unbacked_symint


def state(converter, env):
    return T._meta.memo_sizes(converter), env and T._meta.dumps_env(env)


@pytest.mark.parametrize("prepare", [
    converting, describing, making_a_fake, converting_a_text, counting_rows, reading_a_number,
    adding_a_size, adding_an_unbacked_size])
def test_without_memory_nothing_changes(prepare):
    failures = 0
    for allocation in range(30):
        converter, env, run = prepare()
        before = state(converter, env)
        _testcapi.set_nomemory(allocation, allocation + 1)
        try:
            run()
            is_done = True
        except MemoryError:
            is_done = False
        finally:
            _testcapi.remove_mem_hooks()
        if not is_done:
            failures += 1
            assert state(converter, env) == before
            run()
        assert state(converter, env) != before
    assert 0 < failures < 30


def test_a_refused_fake_has_no_id():
    mode, converter, env = new_mode()
    env.freeze()
    with pytest.raises(RuntimeError, match="frozen"):
        mode.from_tensor(T.ones(3))
    assert T._meta.memo_sizes(converter) == (0, 0, 0, 0)
