"""Custom Functions: gradients, what a ctx saves (A2), and A6 to A8."""

import warnings
import weakref

import pytest
import slotcore as T
from squares import Square, leaf


def function(forward, backward=lambda ctx, *gradients: gradients[0]):
    return type("Made", (T.autograd.Function,),
                {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def test_gradients_to_the_second_order():
    x = leaf(3)
    first, = T.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    second, = T.autograd.grad(first.sum(), x)
    assert (first.item(), second.item()) == (6, 2)


def test_saved_tensors_are_what_was_saved():
    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(x, None, y)
        assert ctx.saved_tensors == ()
        return y
    x = leaf(3)
    y = function(forward).apply(x)
    saved = y.grad_fn.saved_tensors
    assert saved[0] is x and saved[1] is None
    assert saved[2].grad_fn is y.grad_fn and saved[2].tolist() == [6]
    assert y.grad_fn.to_save is None
    y.sum().backward()
    with pytest.raises(RuntimeError, match="freed"):
        y.grad_fn.saved_tensors
    assert saved[2].tolist() == [6]


def test_a_saved_result_makes_no_cycle():
    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(y)
        return y
    ctx = weakref.ref(function(forward).apply(leaf(1)).grad_fn)
    assert ctx() is None


def test_a_saved_tensor_that_was_written_says_so():
    y = Square.apply(leaf(3) * 1)
    with T.no_grad():
        y.grad_fn.saved_tensors[0].add_(1)
    with pytest.raises(RuntimeError, match="modified in place"):
        y.grad_fn.saved_tensors


def test_an_input_that_is_returned_becomes_a_view():
    x = leaf(3)
    y = function(lambda ctx, x: x).apply(x)
    assert y is not x and y._base is x and type(y.grad_fn).__name__ == "MadeBackward"
    y.sum().backward()
    assert x.grad.tolist() == [1]
    with pytest.raises(RuntimeError, match="custom Function"):
        y.add_(1)
    z = x * 1
    y = function(lambda ctx, x: x).apply(z)
    z.mul_(2)
    with pytest.raises(RuntimeError, match="custom Function"):
        y.grad_fn


@pytest.mark.parametrize("mode", [T.enable_grad, T.no_grad])
def test_a_call_that_is_not_recorded_leaves_its_argument_as_it_was(mode):  # A8
    x = T.ones(2).view(-1)
    with mode():
        y = function(lambda ctx, x: x).apply(x)
    assert y is not x and y._base is x._base and not y.requires_grad
    x.add_(leaf(3))
    assert x.requires_grad
    with pytest.raises(RuntimeError, match="custom Function"):
        y.add_(leaf(3))


def test_a_dirty_input_is_returned_itself():
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x
    scale = function(forward, lambda ctx, g: g * 3)
    x = leaf(2)
    y = x * 1
    assert scale.apply(y) is y
    y.sum().backward()
    assert x.grad.tolist() == [3]
    base = leaf(2, 5)
    z = base * 1
    view = z[0:1]
    assert scale.apply(view) is view
    assert z.tolist() == [6, 5]
    z.sum().backward()
    assert base.grad.tolist() == [3, 1]
    with pytest.raises(RuntimeError, match="leaf"):
        scale.apply(leaf(1))


def test_a_mark_alone_counts_as_a_write():  # A2b
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x
    x = leaf(2)
    y = x * 1
    square = y * y
    function(forward).apply(y)
    assert y._version == 1
    with pytest.raises(RuntimeError, match="modified"):
        square.sum().backward()


def test_a_view_that_forward_wrote_has_the_gradient_of_the_write():
    def forward(ctx, x, looks):
        ctx.mark_dirty(x)
        x.mul_(2)
        assert not looks or x.grad_fn
        return x
    for looks in False, True:
        x = T.ones(3).requires_grad_()
        base = x * 1
        view = base.narrow(0, 1, 2)
        function(forward, lambda ctx, gradient: (gradient * 2, None)).apply(view, looks)
        found = [T.autograd.grad(result.sum(), x, retain_graph=True)[0].tolist()
                 for result in (view, base)]
        assert found == [[0, 2, 2], [1, 2, 2]]


def test_a_dirty_tensor_must_be_returned():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x * 1
    with pytest.raises(RuntimeError, match="dirty"):
        function(forward).apply(leaf(1) * 1)


def test_a_view_whose_elements_forward_wrote_is_a_result():
    class Quadruple(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x * 2).view(-1).mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 4

    x = T.tensor([1.0, 2.0]).requires_grad_()
    (Quadruple.apply(x)[1] * 3).backward()
    assert x.grad.tolist() == [0, 12]


def test_a_view_is_written_only_as_the_only_result():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x, x * 1
    with pytest.raises(RuntimeError, match="writes a view in place"):
        function(forward).apply((leaf(1) * 1).view(-1))


@pytest.mark.parametrize("mark", ["dirty_tensors", "non_differentiable", "to_save"])
def test_marks_must_be_tuples_of_tensors(mark):
    for wrong in (7, (7,)):
        def forward(ctx, x):
            setattr(ctx, mark, wrong)
            return x * 1
        with pytest.raises(TypeError):
            function(forward).apply(leaf(1))


def test_arguments_and_results_that_are_no_tensors():
    seen = []

    def forward(ctx, x, number, y):
        seen.append(ctx.needs_input_grad)
        return x * number, 7, y

    def backward(ctx, first, number, third):
        seen.append((number, third.tolist()))
        return first * 5, None, None
    x = leaf(1)
    result = function(forward, backward).apply(x, 5, T.ones(2))
    assert seen == [(True, False, False)]
    assert result[1] == 7 and not isinstance(result[2].grad_fn, type(None))
    result[0].sum().backward()
    assert seen[1] == (None, [0, 0]) and x.grad.tolist() == [5]


def test_a_missing_gradient_may_be_none():
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1, x * 2
    both = function(forward, lambda ctx, first, second: seen.append(first) or second)
    both.apply(leaf(1))[1].sum().backward()
    assert seen == [None]


@pytest.mark.parametrize("returned", [(), (None, None, T.ones(1)), T.ones(5).expand(2, 5), 7])
def test_wrong_gradients_are_errors(returned):
    y = function(lambda ctx, x: x * 1, lambda ctx, g: returned).apply(leaf(1, 2))
    with pytest.raises((RuntimeError, TypeError)):
        y.sum().backward()


def test_surplus_none_is_no_error():
    x = leaf(1)
    function(lambda ctx, x: x * 1, lambda ctx, g: (g, None, None)).apply(x).sum().backward()
    assert x.grad.tolist() == [1]


def test_a_gradient_for_no_tensor_is_an_error():
    y = function(lambda ctx, x, n: x * 1, lambda ctx, g: (g, g)).apply(leaf(1), 5)
    with pytest.raises(RuntimeError, match="was not a tensor"):
        y.sum().backward()


def test_setup_context_runs_after_forward():
    class Made(T.autograd.Function):
        @staticmethod
        def forward(x, n):
            return x * n

        @staticmethod
        def setup_context(ctx, inputs, y):
            ctx.n = inputs[1]
            ctx.save_for_backward(y)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.n, None
    x = leaf(2)
    y = Made.apply(x, 5)
    assert y.grad_fn.saved_tensors[0].tolist() == [10]
    y.sum().backward()
    assert x.grad.tolist() == [5]


def test_an_error_in_forward_leaves_the_mode():
    def forward(ctx, x):
        raise KeyError("mine")
    with pytest.raises(KeyError):
        function(forward).apply(leaf(1))
    assert T.is_grad_enabled()


def test_a_function_without_forward_says_so():
    class Empty(T.autograd.Function):
        pass
    with pytest.raises(NotImplementedError, match="forward"):
        Empty.apply(leaf(1))


class Legacy(T.autograd.Function):
    def forward(self, x):
        self.save_for_backward(x)
        return x * x

    def backward(self, g):
        return g * self.saved_tensors[0] * 2


def test_a_legacy_function_is_its_ctx():
    x, f = leaf(3), Legacy()
    with pytest.raises(RuntimeError, match="apply"):
        f.next_functions
    y = f(x)
    assert y.grad_fn is f
    y.sum().backward()
    assert x.grad.tolist() == [6]
    with pytest.warns(UserWarning, match="graph of its former call"):
        f(x)
    del y
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(x).sum().backward()
    assert x.grad.tolist() == [12]


def test_foreign_backward_classes_are_refused():
    class Made(Square):
        pass
    Made._backward_cls = dict
    with pytest.raises(TypeError, match="makes a dict"):
        Made.apply(leaf(1))
