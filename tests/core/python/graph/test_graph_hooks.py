"""A3: hooks of tensors and nodes."""

import weakref

import pytest
import slotcore as T


def leaf(*numbers):
    return T.tensor([float(number) for number in numbers]).requires_grad_()


def test_hooks_run_in_order_and_replace_gradients():
    x, log = leaf(2), []
    y = x * 3

    def note(name, factor):
        return lambda gradient: log.append((name, gradient.item())) or gradient * factor

    y.register_hook(note("first", 2))
    y.register_hook(note("second", 5))
    x.register_hook(note("leaf", 1))
    y.grad_fn.register_prehook(lambda gradients: log.append(("pre", gradients[0].item())))
    y.grad_fn.register_hook(lambda ins, outs: log.append(("post", ins[0].item(), outs[0].item())))
    y.sum().backward()
    assert log == [("first", 1), ("second", 2), ("pre", 10), ("post", 30, 10), ("leaf", 30)]
    assert x.grad.item() == 30


def test_a_hook_sees_gradients_that_grad_returns():
    x, seen = leaf(2), []
    x.register_hook(lambda gradient: seen.append(gradient.item()))
    T.autograd.grad((x * 3).sum(), x)
    assert seen == [3]


def test_a_hook_that_is_removed_while_it_runs_is_called_once_more():
    x, log, handles = leaf(2), [], []

    def remove_all(_):
        for handle in handles:
            handle.remove()

    handles += [x.register_hook(remove_all), x.register_hook(lambda _: log.append("later"))]
    (x * 1).sum().backward()
    (x * 1).sum().backward()
    assert log == ["later"]


def test_a_hook_that_is_added_while_hooks_run_is_called_from_the_next_run_on():
    x, log = leaf(2), []
    with x.register_hook(lambda _: x.register_hook(log.append) and None):
        (x * 1).sum().backward()
        assert log == []
    (x * 1).sum().backward()
    assert len(log) == 1
    x._backward_hooks = None


class Pair(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, first, second):
        return first * 2 + second * 3


PLACES = ["tensor", "other tensor", "before", "after"]


@pytest.mark.parametrize("place", PLACES)
def test_a_run_calls_the_hooks_of_its_node_that_were_there_when_it_began(place):  # A3c
    """Whatever the first hook of a node removes or adds, also to another list of that node."""
    first, other = Pair.apply(T.ones(1).requires_grad_())
    node, log = first.grad_fn, []
    register = {"tensor": first.register_hook, "other tensor": other.register_hook,
                "before": node.register_prehook, "after": node.register_hook}[place]

    def acts(gradient):
        log.append("acts")
        removed.remove()
        added.append(register(lambda *_: log.append("added")))

    added, first_handle = [], first.register_hook(acts)
    removed = register(lambda *_: log.append("removed"))
    (first + other).backward(retain_graph=True)
    assert log == ["acts", "removed"]
    first_handle.remove()
    (first + other).backward()
    assert log == ["acts", "removed", "added"]


def test_an_error_in_a_hook_comes_out_as_it_is():
    x = leaf(2)

    def fail(_):
        raise KeyError("mine")

    handle = x.register_hook(fail)
    with pytest.raises(KeyError, match="mine"):
        (x * 2).sum().backward()
    assert x.grad is None
    handle.remove()
    (x * 2).sum().backward()
    assert x.grad.item() == 2


@pytest.mark.parametrize("result, error", [
    (7, TypeError), ((T.ones(1),), TypeError), (T.ones(3), RuntimeError)])
def test_a_hook_that_returns_rubbish_is_an_error(result, error):
    y = leaf(2) * 3
    y.register_hook(lambda _: result)
    with pytest.raises(error):
        y.sum().backward()


def test_a_hook_may_drop_the_graph_and_start_another_backward():
    x, held = leaf(2), {}
    held["y"] = x * 3

    def drop(_):
        held.clear()
        with T.enable_grad():
            (x * 100).sum().backward()

    held["y"].register_hook(drop)
    held["y"].sum().backward()
    assert x.grad.item() == 103


def one_used_of_two(tensor):
    class Two(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, first, second):
            return first

    return Two.apply(tensor)


def test_the_hook_of_a_tensor_without_a_gradient_gets_none():
    used, unused = one_used_of_two(leaf(2))
    seen = []
    unused.register_hook(lambda gradient: seen.append(("first", gradient)))
    unused.register_hook(lambda gradient: seen.append(("second", gradient)))
    unused.retain_grad()
    used.sum().backward()
    assert seen == [("first", None), ("second", None)] and unused.grad is None


def test_a_hook_cannot_replace_none():
    x = leaf(2)
    used, unused = one_used_of_two(x)
    unused.register_hook(lambda gradient: T.ones(1))
    with pytest.raises(RuntimeError, match="None"):
        used.sum().backward()
    assert x.grad is None


def test_hooks_stay_with_the_value_that_they_were_put_on():
    x, log = leaf(2), []
    y = x * 1
    y.register_hook(lambda gradient: log.append(("old", gradient.item())))
    y.mul_(3)
    y.register_hook(lambda gradient: log.append(("new", gradient.item())))
    y.sum().backward()
    assert log == [("new", 1), ("old", 3)]


def test_hooks_of_a_new_value_are_no_hooks_of_the_old_one():
    x, log = leaf(2), []
    y = x * 1
    y.register_hook(log.append).remove()
    y.mul_(3)
    y.register_hook(lambda gradient: gradient * 5)
    y.sum().backward()
    assert x.grad.tolist() == [15.0] and log == []


def test_the_dict_of_hooks_has_them_in_their_order():
    x = leaf(2)
    handles = [x.register_hook(hook) for hook in (len, repr, id)]
    assert list(x._backward_hooks.values()) == [len, repr, id]
    handles[1].remove()
    assert list(x._backward_hooks.values()) == [len, id] and len(x._backward_hooks) == 2
    handles[1].remove()
    assert len(x._backward_hooks) == 2


@pytest.mark.parametrize("made", [lambda x: x, lambda x: x * 1, lambda x: x.view(-1)])
def test_hooks_that_are_set_as_they_are_run_once(made):  # A3b
    log = []
    one = made(leaf(2))
    one.register_hook(log.append)
    one._backward_hooks = one._backward_hooks
    one.sum().backward()
    assert len(log) == 1
    log.clear()


@pytest.mark.parametrize("put", [
    lambda x, hook: x.register_hook(hook), lambda x, hook: (x * 1).register_hook(hook),
    lambda x, hook: (x * 1).grad_fn.register_hook(hook),
    lambda x, hook: (x * 1).grad_fn.register_prehook(hook)])
def test_a_handle_keeps_no_hook(put):  # A3f
    class Hook:
        def __call__(self, *gradients):
            pass

    hook = Hook()
    alive = weakref.ref(hook)
    handle = put(leaf(2), hook)
    del hook
    assert alive() is None
    handle.remove()
    with handle:
        pass


def test_a_hook_needs_a_dict_that_a_handle_can_refer_to():
    x = leaf(1)
    x._backward_hooks = plain = {}
    with pytest.raises(TypeError, match="weak reference"):
        x.register_hook(len)
    assert plain == {}
    x._backward_hooks = None


def test_hooks_that_cannot_be_set_leave_the_former_ones():
    class Same(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

    written = leaf(2) * 1
    view = Same.apply(written)
    view.register_hook(len)
    former = view._backward_hooks
    written.mul_(2)
    with pytest.raises(RuntimeError, match="custom Function"):
        view._backward_hooks = {}
    assert view._backward_hooks is former and list(former.values()) == [len]


def test_hooks_need_a_gradient_and_a_callable():
    with pytest.raises(RuntimeError):
        T.ones(1).register_hook(print)
    with pytest.raises(TypeError):
        leaf(1).register_hook(7)
    x = leaf(1)
    x._backward_hooks = 7
    with pytest.raises(TypeError, match="dict"):
        (x * 1).sum().backward()
    x._backward_hooks = None
