"""Graphs in Python: identity of nodes (A1c), what a backward frees (A2), gradients (A7)."""

import gc
import sys
import threading

import pytest
import slotcore as T


def leaf(*numbers):
    return T.tensor([float(number) for number in numbers]).requires_grad_()


def test_a_node_has_one_wrapper_while_somebody_holds_it():
    y = leaf(2) * 3
    node = y.grad_fn
    assert node is y.grad_fn
    assert type(node).__name__ == node.name() == "MulBackward0"
    del node
    gc.collect()
    z = y + 1
    assert z.grad_fn.next_functions[0][0] is y.grad_fn


def test_a_node_is_kept_by_its_wrapper():
    node = (leaf(2) * 3).sum().grad_fn
    gc.collect()
    assert node.next_functions[0][0].name() == "MulBackward0"


def test_a_leaf_has_one_accumulator():
    x = leaf(2)
    first, second = ((x * k).grad_fn.next_functions[0][0] for k in (2, 3))
    assert first is second
    assert first.variable is x
    assert x.grad_fn is None


def test_nodes_cannot_be_created_and_their_classes_not_changed():
    with pytest.raises(TypeError):
        T.autograd.Node()
    with pytest.raises(TypeError, match="immutable type"):
        type((leaf(1) * 2).grad_fn).tag = 1
    with pytest.raises(AttributeError):
        (leaf(1) * 2).grad_fn.variable


def test_a_backward_does_not_add_to_a_leaf_that_has_become_a_result():
    x, factor = leaf(2), leaf(5)
    former = (x * 3).sum()
    x.detach_()
    former.backward(retain_graph=True)
    x.mul_(factor)
    with pytest.raises(RuntimeError, match="detached and written"):
        former.backward()
    x.sum().backward()
    assert (x.grad, factor.grad.tolist()) == (None, [2])


def test_a_view_of_a_detached_tensor_has_no_gradient_of_its_former_elements():
    x = leaf(2)
    base = x * 3
    view, other = base.view(-1), base.view(-1)
    base.detach_()
    other.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [3]
    base.zero_()
    view.sum().backward()
    assert x.grad.tolist() == [3] and view.grad_fn.next_functions == ((None, 0),)


def test_integers_require_no_gradient_after_a_write():
    numbers = T.tensor([1, 2])
    numbers.fill_(leaf(5)[0])
    assert numbers.tolist() == [5, 5] and not numbers.requires_grad and numbers.is_leaf


def test_gradients_add_up():
    x, y = leaf(2, 3), leaf(5, 7)
    (x * y + x).sum().backward()
    (x * 1).sum().backward()
    assert x.grad.tolist() == [7, 9]
    assert y.grad.tolist() == [2, 3]


def test_grad_returns_gradients_and_changes_nothing():
    x, unused = leaf(2), leaf(3)
    cube = (x * x * x).sum()
    first, = T.autograd.grad(cube, x, create_graph=True)
    second, = T.autograd.grad(first.sum(), (x,))
    assert (first.item(), second.item(), x.grad) == (12, 12, None)
    with pytest.raises(RuntimeError, match="allow_unused"):
        T.autograd.grad((x * 2).sum(), [x, unused])
    assert T.autograd.grad((x * 2).sum(), [x, unused], allow_unused=True)[1] is None
    with pytest.raises(RuntimeError, match="does not require grad"):
        T.autograd.grad((x * 2).sum(), T.ones(1))


def test_a_second_derivative_goes_through_what_a_written_tensor_was():
    x = T.tensor([3.0]).requires_grad_()
    y = x * 1
    y.mul_(x)
    first, = T.autograd.grad(y.sum(), x, create_graph=True)
    second, = T.autograd.grad(first.sum(), x)
    assert (first.item(), second.item()) == (6, 2)


def test_backward_of_several_tensors_and_of_inputs():
    x, y = leaf(2), leaf(3)
    T.autograd.backward([(x * 2).sum(), (x * y).sum()])
    assert (x.grad.item(), y.grad.item()) == (5, 2)
    z = x * y
    (z * z).sum().backward(inputs=[y, z])
    assert (x.grad.item(), y.grad.item(), z.grad.item()) == (5, 26, 12)


@pytest.mark.parametrize("call", [
    lambda x: x.backward(), lambda x: (x * 2).backward(), lambda x: T.ones(1).backward(),
    lambda x: (x * 2).backward(T.ones(3)), lambda x: (x * 2).sum().backward(inputs=[]),
    lambda x: T.autograd.backward([(x * 2).sum()], []),
], ids=["several", "several too", "no graph", "other size", "no inputs", "too few gradients"])
def test_a_backward_that_cannot_run_says_so(call):
    x = leaf(1, 2)
    with pytest.raises(RuntimeError):
        call(x)
    assert x.grad is None


def test_a_backward_of_several_roots_may_name_its_inputs():
    x, y = leaf(1, 2), leaf(3, 4)
    T.autograd.backward([x * 2, x * y], [T.ones(2)] * 2, inputs=[y])
    assert y.grad.tolist() == [1, 2] and x.grad is None


def test_what_is_no_gradient_is_named_first():
    for call in (T.ones(1).backward, lambda g: T.autograd.backward(T.ones(1), g)):
        with pytest.raises(TypeError):
            call(T.UntypedStorage(1))


@pytest.mark.parametrize("types", [(T.float32, T.complex64), (T.complex64, T.float32)])
def test_complex_gradients_are_those_of_complex_tensors(types):
    of_tensor, of_gradient = types
    x = T.ones(1, dtype=of_tensor).requires_grad_()
    with pytest.raises(RuntimeError, match="complex"):
        (x * 1).backward(T.ones(1, dtype=of_gradient))
    with pytest.raises(RuntimeError, match="complex"):
        T.autograd.grad(x * 1, x, T.ones(1, dtype=of_gradient))
    if of_tensor == T.complex64:
        with pytest.raises(RuntimeError, match="real"):
            x.sum().backward()
    (x * 1).backward(T.ones(1, dtype=of_tensor))
    assert x.grad.tolist() == [1]


@pytest.mark.parametrize("call", [lambda y: y * 0.5, lambda y: y.mul_(0.5)])
def test_a_number_beside_a_complex_result_without_dimensions_asks_for_no_other_type(call):
    x = T.tensor([1 + 2j, 3j]).requires_grad_()
    call(x.sum()).backward(T.tensor(1 + 1j))
    assert x.grad.tolist() == [0.5 + 0.5j] * 2


def test_a_stale_result_of_a_function_has_the_number_that_it_had():
    class Same(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1, x

    x = leaf(1, 2) * 1
    first, second = Same.apply(x)
    assert (first.output_nr, second.output_nr) == (0, 1)
    with T.no_grad():
        second.mul_(2)
    with pytest.raises(RuntimeError, match="custom Function"):
        second.grad_fn
    assert second.output_nr == 1 and not second.retains_grad


def test_a_second_backward_says_that_the_graph_was_freed():
    x = leaf(2)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    assert x.grad.item() == 8


def test_a_write_after_the_save_says_so():
    x, other = leaf(2), T.ones(1)
    y = x * other
    other.add_(1)
    with pytest.raises(RuntimeError, match="modified in place"):
        y.sum().backward()
    z = x * 1
    z.mul_(z)
    with pytest.raises(RuntimeError, match="modified in place"):
        z.sum().backward()
    w = x * T.ones(1)
    with T.no_grad():
        x.data.add_(1)  # not seen
    w.sum().backward()


def test_writes_of_leaves_are_refused_while_recording():
    x = leaf(2, 3)
    for write in (lambda: x.add_(1), lambda: x[0:1].zero_(), lambda: x.copy_(T.ones(2))):
        with pytest.raises(RuntimeError, match="leaf"):
            write()
    with T.no_grad():
        x.add_(1)
        view = x[0:1]
    assert x.tolist() == [3, 4]
    with pytest.raises(RuntimeError, match="no_grad"):
        (view.detach() * 1).copy_(x[0:1]) and view.add_(1)


def test_a_write_to_a_view_is_in_the_history_of_its_base():
    x = leaf(1, 2, 3)
    base = x * 1
    view, whole = base[1:2], base.view(3)
    view.mul_(5)
    assert base.grad_fn.name() == "CopySlices"
    assert view.grad_fn.name() == whole.grad_fn.name() == "AsStridedBackward0"
    whole.sum().backward()
    assert x.grad.tolist() == [1, 5, 1]


def test_retained_gradients_follow_the_tensor():
    x = leaf(2)
    y = x * 3
    y.retain_grad()
    y.mul_(4)
    assert y.retains_grad
    y.sum().backward()
    assert y.grad.item() == 1
    assert not x.retains_grad
    with pytest.raises(RuntimeError):
        T.ones(1).retain_grad()


def test_a_backward_changes_no_reference_count():  # A9
    x = leaf(2)
    x.sum().backward()
    before = sys.getrefcount(x), x._use_count(), sys.getrefcount(None)
    for _ in range(10):
        x.mul(x).sum().backward()
        with pytest.raises(RuntimeError):
            x.mul(x).sum().backward(T.ones(3))
    after = sys.getrefcount(x), x._use_count(), sys.getrefcount(None)
    assert after[:2] == before[:2]
    assert abs(after[2] - before[2]) < 10


def test_a_graph_dies_on_any_thread():  # A5a
    x = leaf(2)
    graphs = [(x * k).relu().sum() for k in range(20)]
    thread = threading.Thread(target=graphs.clear)
    thread.start()
    thread.join()
    assert x._use_count() == 1


def test_backwards_of_several_threads_add_up():  # A5b
    x = leaf(1)

    def run():
        for _ in range(50):
            (x * 2).sum().backward()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.item() == 400


class ViewOf(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)

    @staticmethod
    def backward(ctx, g):
        return g


@pytest.mark.parametrize("write", [
    lambda v, s: v.copy_(s), lambda v, s: v.add_(s), lambda v, s: v.__setitem__(slice(0, 1), s),
])
def test_a_refused_write_has_written_nothing(write):
    with T.no_grad():
        made_without = T.ones(1).view(-1)
    for view in (ViewOf.apply(T.ones(1)), made_without):
        with pytest.raises(RuntimeError, match="written in place"):
            write(view, T.tensor([7.0]).requires_grad_())
        assert view.tolist() == [1.0] and view._version == 0 and not view.requires_grad
