"""FakeTensorMode in Python: what fakes say, what modes refuse, and who keeps whom."""

import gc
import threading

import pytest
import slotcore as T

FakeTensorMode = T._subclasses.FakeTensorMode
is_fake = T._subclasses.fake_tensor.is_fake


@pytest.fixture(autouse=True)
def modes():
    """Every test leaves its modes, and gives them and their tables back (P5)."""
    before = T._live_modes(), T._live_table_entries()
    yield
    assert T._meta.mode_count() == 0
    gc.collect()
    assert (T._live_modes(), T._live_table_entries()) == before


def test_a_fake_says_that_it_is_where_its_tensor_is():
    mode, t = FakeTensorMode(), T.ones(2, 3).requires_grad_()
    fake = mode.from_tensor(t)
    assert is_fake(fake) and not is_fake(t) and not is_fake(3)
    assert fake.fake_mode is mode and fake.fake_device == fake.device == T.device("cpu")
    assert not fake.is_meta and fake.untyped_storage().device == T.device("meta")
    assert fake.requires_grad and fake.shape == (2, 3)
    assert mode.from_tensor(T.ones(1, device="meta")).is_meta
    for attribute in ("fake_mode", "fake_device"):
        with pytest.raises(AttributeError):
            getattr(t, attribute)


@pytest.mark.parametrize("env", [None, T.fx.experimental.symbolic_shapes.ShapeEnv()])
@pytest.mark.parametrize("is_static", [False, True])
def test_an_unknown_kind_is_an_error_in_each_mode(env, is_static):
    with pytest.raises(ValueError, match="the kind is duck or dynamic, and not zzz"):
        FakeTensorMode(shape_env=env).from_tensor(T.ones(2), kind="zzz", static_shapes=is_static)


def test_results_of_fakes_are_fakes():
    mode = FakeTensorMode()
    fake = mode.from_tensor(T.ones(2, 3).requires_grad_())
    other = mode.from_tensor(T.ones(2, 1))
    for result in (fake.view(-1), fake.t(), fake.add(other), fake.mul(2), fake == other,
                   fake.clone(), fake.sum(), fake.relu(), fake.detach(), fake.data,
                   T.nn.Parameter(fake.detach())):
        assert result.fake_mode is mode
    fake.mul(other).sum().backward()
    assert fake.grad.fake_mode is mode and fake.grad.shape == (2, 3)
    on_meta = mode.from_tensor(T.ones(3, device="meta"))
    assert other[0][0].add(on_meta).is_meta  # as a real tensor without dimensions would do
    with pytest.raises(RuntimeError):
        fake.add(on_meta)


def test_factories_in_the_mode_make_fakes():
    mode = FakeTensorMode()
    with mode as entered:
        assert entered is mode
        made = [T.ones(2), T.empty(2), T.zeros(2), T.tensor([1, 2]), T.Tensor(2), T.Tensor([1, 2]),
                T.Tensor(), T.nn.Parameter(), T.frombuffer(bytearray(2), dtype=T.uint8)]
        with pytest.raises(ValueError):
            T.tensor([[1], [2, 3]])
        assert not is_fake(T.UntypedStorage(2)) and T.UntypedStorage(2).device.type == "cpu"
    assert all(one.fake_mode is mode and one.untyped_storage().data_ptr() == 0 for one in made)
    assert T.ones(2).tolist() == [1, 1]


def test_a_mode_refuses_real_tensors_and_fakes_of_others():
    mode, real = FakeTensorMode(), T.ones(2)
    foreign = FakeTensorMode().from_tensor(real)
    operations = (lambda t: t.add(1), lambda t: t.view(-1), lambda t: t[0], lambda t: t.detach(),
                  lambda t: t.data, lambda t: t.sum(), lambda t: t.clone(), lambda t: t.zero_(),
                  lambda t: t.add_(1), lambda t: t.copy_(t), lambda t: t.resize_(9),
                  lambda t: t.set_(), lambda t: t.relu(), lambda t: t == t, lambda t: t[0].item(),
                  lambda t: T.nn.Parameter(t), lambda t: t.as_subclass(T.Tensor))
    for tensor in (real, foreign):
        before = tensor._version, tensor.shape
        for operation in operations:
            with mode, pytest.raises(RuntimeError):
                operation(tensor)
        assert (tensor._version, tensor.shape) == before
    assert real.tolist() == [1, 1]


@pytest.mark.parametrize("mix", [
    lambda fake, real: fake.add(real), lambda fake, real: real.mul(fake),
    lambda fake, real: real == fake, lambda fake, real: fake.copy_(real),
    lambda fake, real: real.copy_(fake), lambda fake, real: fake.set_(real),
    lambda fake, real: real.set_(fake.untyped_storage()), lambda fake, real: fake.add_(real[0]),
    lambda fake, real: setattr(real, "data", fake), lambda fake, real: setattr(real, "grad", fake),
    lambda fake, real: setattr(fake, "grad", real),
    lambda fake, real: T.ones(2).requires_grad_().backward(fake),
    lambda fake, real: fake.item(), lambda fake, real: fake.tolist(),
    lambda fake, real: bool(fake[0]), lambda fake, real: fake.data_ptr(),
])
def test_fakes_and_real_tensors_do_not_mix(mix):
    real = T.ones(2)
    for fake in (FakeTensorMode().from_tensor(real), FakeTensorMode().from_tensor(T.ones(2))):
        with pytest.raises(RuntimeError):
            mix(fake, real)
        assert real.tolist() == [1, 1] and real.grad is None and fake.grad is None


def test_modes_nest_and_are_left_in_order():
    outer, inner = FakeTensorMode(), FakeTensorMode()
    with outer, inner:
        assert T.ones(1).fake_mode is inner and T._meta.mode_count() == 2
        with pytest.raises(RuntimeError):
            outer.__exit__(None, None, None)
        assert T._meta.mode_count() == 2
    with pytest.raises(KeyError), outer, outer:
        raise KeyError("left by an exception")
    assert T._meta.mode_count() == 0
    for leave in (lambda: outer.__exit__(None, None, None), T._meta.leave_modes):
        with pytest.raises(RuntimeError):
            leave()
    outer.__enter__()
    inner.__enter__()
    T._meta.leave_modes()


def test_a_mode_is_of_its_thread():
    seen = []
    mode = FakeTensorMode()

    def work():
        seen.append((is_fake(T.ones(1)), T._meta.mode_count()))
        with mode:
            seen.append(is_fake(T.ones(1)))

    with mode:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert is_fake(T.ones(1))
    assert seen == [(False, 0), True]


def test_threads_get_one_fake():
    mode, t, fakes = FakeTensorMode(), T.ones(2), []
    threads = [threading.Thread(target=lambda: fakes.append(mode.from_tensor(t)))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one is fakes[0] for one in fakes)


def test_a_mode_lives_as_long_as_its_last_fake():
    before, t = T._live_modes(), T.ones(2)
    fake = FakeTensorMode().from_tensor(t)
    converter = fake.fake_mode.fake_tensor_converter.meta_converter
    assert fake.fake_mode is fake.view(-1).fake_mode and T._live_modes() == before + 1
    del fake
    assert T._live_modes() == before + 1  # the converter's tables are the mode's
    assert converter(t).fake_mode.from_tensor(t).shape == (2,)
    storage = converter(t).untyped_storage()
    del converter
    assert T._live_modes() == before + 1  # a storage is enough
    del storage
    assert T._live_modes() == before


def test_a_graph_of_fakes_outlives_the_handle():
    before = T._live_modes()
    leaf = FakeTensorMode().from_tensor(T.ones(2).requires_grad_())
    result = leaf.mul(2).sum()
    del leaf
    result.backward()
    del result
    assert T._live_modes() == before


def test_hermetic_mode_has_fresh_wrappers_of_fakes():
    mode, t = FakeTensorMode(), T.ones(1)
    fake = mode.from_tensor(t)
    with T.hermetic(), mode:
        inside = mode.from_tensor(t)
        assert inside is not fake and inside._cdata == fake._cdata and inside.fake_mode is mode
        made = T.ones(1)
    assert made.fake_mode is mode and mode.from_tensor(t) is fake


def test_a_described_fake_is_described_as_its_tensor():
    t, mode = T.ones(2, 3), FakeTensorMode()
    describe = mode.fake_tensor_converter.describer.describe_tensor
    described = [T._meta.dumps(describe(one)) for one in (t.t(), mode.from_tensor(t.t()))]
    assert described[0] == described[1]
    assert T._meta.describe(T._subclasses.meta_utils.MetaTensorDescriber(),
                            FakeTensorMode().from_tensor(t), copy_data=True).storage_data is None


@pytest.mark.parametrize("wrong", [
    lambda: FakeTensorMode(3), lambda: FakeTensorMode(shape_env=3),
    lambda: FakeTensorMode().from_tensor(3), lambda: FakeTensorMode().from_tensor(),
])
def test_wrong_arguments_are_type_errors(wrong):
    with pytest.raises(TypeError):
        wrong()
