"""Who owns the ctx of a custom Function (A1), and what it answers (A1b)."""

import gc
import weakref

import pytest
import slotcore as T
from squares import Square, leaf


def test_the_node_owns_ctx():
    y = Square.apply(leaf(3)).sum()
    gc.collect()
    ctx = Square.ctx()
    assert ctx is y.grad_fn.next_functions[0][0]
    assert type(ctx) is Square._backward_cls
    assert type(ctx).__name__ == ctx.name() == "SquareBackward"
    del ctx, y
    assert Square.ctx() is None


def test_a_ctx_does_not_keep_its_node():
    y = Square.apply(leaf(3))
    ctx = y.grad_fn
    del y
    with pytest.raises(RuntimeError, match="graph is gone"):
        ctx.next_functions
    with pytest.raises(RuntimeError, match="freed"):
        ctx.saved_tensors
    for call in (ctx.name, ctx._sequence_nr):
        with pytest.raises(RuntimeError, match="graph is gone"):
            call()
    for register in (ctx.register_hook, ctx.register_prehook):
        with pytest.raises(RuntimeError, match="graph is gone"):
            register(print)


def test_what_a_ctx_saved_goes_with_its_node():  # A2a
    x = leaf(3)
    kept = weakref.ref(x)
    y = Square.apply(x)
    del x
    ctx = y.grad_fn
    assert kept() is ctx.saved_tensors[0]
    live = T._live_impls()
    del y
    assert kept() is None
    assert T._live_impls() < live - 1
    with pytest.raises(RuntimeError, match="freed"):
        ctx.saved_tensors


def test_a_ctx_without_a_call_has_nothing():
    ctx = Square._backward_cls()
    assert ctx.saved_tensors == ()
    assert ctx.needs_input_grad is None and ctx.requires_grad is False
    with pytest.raises(RuntimeError, match="apply"):
        ctx.name()


def test_a_call_that_is_not_recorded_has_no_node():
    with T.no_grad():
        y = Square.apply(leaf(3))
    assert y.grad_fn is None and not y.requires_grad
    assert Square.ctx() is None
    assert Square.apply(T.ones(1)).grad_fn is None


def test_ctx_lives_on_when_its_finalizer_resurrects_it():
    kept = []

    class Resurrected(Square._backward_cls):
        def __del__(self):
            kept.append(self)

    class Made(Square):
        pass

    Made._backward_cls = Resurrected
    Resurrected._forward_cls = Made
    y = Made.apply(leaf(3))
    y.grad_fn.tag = 7
    del y
    ctx, = kept
    assert ctx.tag == 7
    with pytest.raises(RuntimeError, match="freed"):
        ctx.saved_tensors
    kept.clear()
    del ctx
    gc.collect()
    assert not kept


def test_release_objects_frees_saved_tensors_outside_of_a_backward():
    y = Square.apply(leaf(3))
    y.grad_fn.maybe_clear_saved_tensors()
    assert len(y.grad_fn.saved_tensors) == 1
    y.grad_fn._release_objects()
    with pytest.raises(RuntimeError, match="freed"):
        y.grad_fn.saved_tensors


def test_whether_gradients_are_made_is_a_bool():
    ctx = Square._backward_cls()
    for wrong in (T.ones(1), 1, None):
        with pytest.raises(TypeError, match="bool"):
            ctx.set_materialize_grads(wrong)
    ctx.set_materialize_grads(False)
    assert ctx.materialize_grads is False


def test_what_is_saved_for_forward_is_saved_until_apply_returns():
    seen = []

    class Forward(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, x)
            ctx.save_for_forward(x)
            seen.append(ctx.saved_tensors)
            return x * 1

    x = leaf(1)
    y = Forward.apply(x)
    assert [len(saved) for saved in (*seen, y.grad_fn.saved_tensors)] == [1, 2]
    assert seen[0][0] is x
    ctx = Square._backward_cls()
    ctx.save_for_forward(x, None)
    for wrong in ((1,), (x, (x,)), ("x", x)):
        with pytest.raises(TypeError, match="tensors, not a"):
            ctx.save_for_forward(*wrong)
    assert ctx.saved_tensors == (x, None)
    ctx.save_for_forward(x, x)
    assert ctx.saved_tensors == (x, x)


def test_a_class_without_a_module_is_a_function():
    scope = {"__builtins__": __builtins__}
    exec("def made(base, members): return type('Made', (base,), members)", scope)
    members = {"forward": staticmethod(lambda ctx, x: x * 2), "backward": lambda ctx, g: g}
    made = scope["made"](T.autograd.Function, members)
    assert "__module__" not in vars(made)
    assert type(made.apply(leaf(1)).grad_fn).__name__ == "MadeBackward"
