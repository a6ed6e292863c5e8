"""nonzero(): rows of tensors, and the symbol that a fake has for their number (M15, M14)."""

import gc

import pytest
import slotcore as T

FakeTensorMode = T._subclasses.FakeTensorMode
ShapeEnv = T.fx.experimental.symbolic_shapes.ShapeEnv
make_fx = T.fx.experimental.proxy_tensor.make_fx


@pytest.fixture(autouse=True)
def impls():
    """What a fake remembers of its numbers goes with it (P5, M8)."""
    before = T._live_impls(), T._live_modes(), T._live_table_entries()
    yield
    gc.collect()
    assert (T._live_impls(), T._live_modes(), T._live_table_entries()) == before


@pytest.mark.parametrize("made, rows, strides", [
    (lambda: T.tensor([1, 0, 3]), [[0], [2]], (1, 2)),
    (lambda: T.tensor([[0, 2], [3, 0]]), [[0, 1], [1, 0]], (1, 2)),
    (lambda: T.tensor([[0, 2], [3, 0]]).t(), [[0, 1], [1, 0]], (1, 2)),
    (lambda: T.tensor([[1, 2], [3, 4]])[1:], [[0, 0], [0, 1]], (1, 2)),
    (lambda: T.tensor([float("nan"), -0.0]), [[0]], (1, 1)),
    (lambda: T.tensor([0j, 1j]).conj(), [[1]], (1, 1)),
    (lambda: T.tensor([False, True]), [[1]], (1, 1)),
    (lambda: T.tensor(5.0), [[]], (1, 1)),
    (lambda: T.tensor(0.0), [], (1, 0)),
    (lambda: T.ones(0, 3), [], (1, 0)),
    (lambda: T.ones(1, 3).expand(2, 3), [[i, j] for i in range(2) for j in range(3)], (1, 6)),
])
def test_rows_are_those_of_torch(made, rows, strides):
    result = made().nonzero()
    assert (result.tolist(), result.stride(), result.dtype) == (rows, strides, T.int64)
    assert result.untyped_storage().nbytes() == 8 * result.numel()
    assert not result.requires_grad and not result._is_view()


def test_what_has_no_numbers_has_no_rows():
    shrunk = T.ones(2)
    shrunk.untyped_storage().resize_(0)
    for one in (T.ones(2, device="meta"), FakeTensorMode().from_tensor(T.ones(2)), shrunk):
        with pytest.raises(RuntimeError):
            one.nonzero()


def symbolic(tensor, **options):
    env = ShapeEnv()
    return FakeTensorMode(shape_env=env).from_tensor(tensor, **options), env


def test_a_number_of_rows_is_a_symbol_until_a_write():
    fake, env = symbolic(T.ones(3, 4), static_shapes=True)
    rows = fake.nonzero()
    assert [str(size) for size in rows.shape] == ["u0", "2"]
    assert [str(stride) for stride in rows.stride()] == ["1", "u0"]
    assert str(rows.untyped_storage().nbytes()) == "16*u0"
    assert rows.sum().shape == () and rows.fake_mode is fake.fake_mode
    assert env.deferred_runtime_asserts == ["u0 >= 0"]
    assert str(fake.nonzero().size(0)) == "u0"
    T._check(rows.size(0) == 5)
    assert fake.nonzero().shape == (5, 2)
    fake.view(-1)[0:1].fill_(0)
    assert str(fake.nonzero().size(0)) == "u1"
    assert str(fake.clone().nonzero().size(0)) == "u2"
    assert str(fake.nonzero().size(0)) == "u1"


def test_other_memory_ends_what_a_fake_remembers():
    fake, _ = symbolic(T.ones(2), static_shapes=True)
    other, seen = fake.mul(0), [str(fake.nonzero().size(0))]
    for change in (lambda: setattr(fake, "data", other), lambda: fake.set_(other),
                   lambda: fake.resize_(3)):
        change()
        seen.append(str(fake.nonzero().size(0)))
    assert seen == ["u0", "u1", "u2", "u3"]


def test_a_number_of_rows_follows_its_tensor_through_a_swap():
    fake, _ = symbolic(T.ones(2), static_shapes=True)
    other = fake.mul(0)
    names = str(fake.nonzero().size(0)), str(other.nonzero().size(0))
    T._swap_tensor_impl(fake, other)
    assert (str(other.nonzero().size(0)), str(fake.nonzero().size(0))) == names


def test_an_error_leaves_no_symbol():
    fake, env = symbolic(T.ones(2), static_shapes=True)
    fake.untyped_storage().resize_(0)
    before = T._meta.dumps_env(env)
    with pytest.raises(RuntimeError, match="reaches"):
        fake.nonzero()
    with pytest.raises(RuntimeError, match="another mode"), FakeTensorMode():
        fake.nonzero()
    assert T._meta.dumps_env(env) == before
    frozen, env = symbolic(T.ones(2), static_shapes=True)
    env.freeze()
    before = T._meta.dumps_env(env)
    with pytest.raises(RuntimeError, match="frozen"):
        frozen.nonzero()
    assert T._meta.dumps_env(env) == before


def test_a_graph_binds_the_number_of_rows_once():
    def function(one):
        rows = one.nonzero()
        T._check(rows.size(0) == 3)
        return one.narrow(0, 0, rows.size(0)).mul(2), one.nonzero().sum()

    graph = make_fx(function, tracing_mode="symbolic")(T.ones(5))
    lines = [line.strip() for line in graph.code.splitlines()]
    at = lines.index("t1 = t0.nonzero()")
    assert lines[at + 1:] == [
        "u2 = t1.size(0)", "assert u2 >= 0", "assert u2 + -3 == 0", "t2 = t0.narrow(0, 0, 3)",
        "t3 = t2.mul(2)", "t4 = t0.nonzero()", "t5 = t4.sum()", "return (t3, t5)"]
    again = T._meta.retrace(graph)
    assert again.code == graph.code
    assert T._meta.dumps_env(again.shape_env) == T._meta.dumps_env(graph.shape_env)
    names = {"T": T}
    exec(graph.code, names)
    numbers = [1.0, 0.0, 2.0, 0.0, 3.0]
    for run in (function, graph, again, names["graph"]):
        assert [one.tolist() for one in run(T.tensor(numbers))] == [[2.0, 0.0, 4.0], 6]
        with pytest.raises((RuntimeError, AssertionError)):
            run(T.ones(5))
