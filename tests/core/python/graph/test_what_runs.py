"""A5e, A2a: modes of recording, which nodes a backward runs, and what they save."""

import pytest
import slotcore as T


def leaf(*numbers):
    return T.tensor([float(number) for number in numbers]).requires_grad_()


def test_modes_are_restored():
    x = leaf(2)
    with T.no_grad():
        assert not (x * 2).requires_grad
        with T.enable_grad():
            assert T.is_grad_enabled()
        assert not T.is_grad_enabled()
    with T.set_grad_enabled(False):
        assert not T.is_grad_enabled()
    assert T.is_grad_enabled()
    with pytest.raises(KeyError), T.no_grad():
        raise KeyError
    assert T.is_grad_enabled()


@pytest.mark.parametrize("make, inside", [
    (T.no_grad, False), (T.enable_grad, True), (lambda: T.set_grad_enabled(False), False)])
def test_a_mode_may_be_entered_again(make, inside):  # A5e
    mode = make()
    with mode:
        with T.enable_grad(), mode:
            assert T.is_grad_enabled() == inside
        assert T.is_grad_enabled() == inside
    assert T.is_grad_enabled()
    with mode:
        assert T.is_grad_enabled() == inside
    assert T.is_grad_enabled()
    with pytest.raises(RuntimeError, match="not been entered"):
        mode.__exit__(None, None, None)
    assert T.is_grad_enabled()


@pytest.mark.parametrize("former_view", [True, False])
def test_a_backward_to_what_the_graph_lacks_runs_nothing(former_view):  # A2a
    class Saves(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            ran.append(gradient)
            return gradient * 2

    x, ran = T.ones(2), []
    view = x.view(-1)
    x.requires_grad_()
    # A view that is older than its base's gradient has no node.
    y = Saves.apply(view if former_view else x)
    found, = T.autograd.grad(y.sum(), view, allow_unused=True)
    assert found is None and ran == [] and len(y.grad_fn.saved_tensors) == 1


def test_nothing_is_saved_for_a_view_that_takes_no_gradient():
    """A view from before its base required a gradient requires one, but has no place in a graph."""
    base, other = T.tensor([3.0]), leaf(5)
    early = base[:]
    base.requires_grad_()

    def saved_by(line):
        log = []
        with T.autograd.graph.saved_tensors_hooks(lambda t: log.append(t.item()), id):
            line()
        return log

    assert saved_by(lambda: early * T.tensor([2.0])) == []
    assert saved_by(lambda: T.tensor([2.0]).mul_(early)) == []
    assert saved_by(lambda: early * other) == saved_by(lambda: other * early) == [3]
    assert saved_by(lambda: other.clone().mul_(early)) == [3]
    assert sorted(saved_by(lambda: base * other)) == [3, 5]


def test_a_view_with_a_node_requires_a_gradient():  # A7a
    """Also when the node was made after a write, and the base was detached since."""
    base = T.ones(2, 2)
    view = base.t()
    view.add_(1)
    base.requires_grad_()
    assert view.grad_fn and not view.is_leaf
    base.detach_()
    assert view.requires_grad and not view.is_leaf
    describer = T._subclasses.meta_utils.MetaTensorDescriber()
    text = T._meta.dumps(T._meta.describe(describer, view))
    assert T._meta.dumps(T._meta.loads(text)) == text
