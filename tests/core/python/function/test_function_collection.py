"""A4: the collector frees a ctx that Python alone owns, and nothing of one that C++ shares."""

import gc
import threading
import weakref

import pytest
import slotcore as T


class Sentinel:
    """Says when it dies."""


class Save(T.autograd.Function):
    @staticmethod
    def forward(ctx, x, what):
        y = x * 2
        view = y.view(-1)
        ctx.save_for_backward({"x": x, "y": y, "view": view}[what])
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0], None


def leaf():
    return T.ones(1).requires_grad_()


def attribute_of_ctx(sentinel):
    y = Save.apply(leaf(), "x")
    y.grad_fn.y, y.grad_fn.sentinel = y, sentinel


def ctx_itself(sentinel):
    y = Save.apply(leaf(), "x")
    y.grad_fn.me, y.grad_fn.sentinel = y.grad_fn, sentinel


def attribute_of_result(sentinel):
    y = Save.apply(leaf(), "y")
    y.fn, y.sentinel = y.grad_fn, sentinel


def saved_view_of_the_result(sentinel):
    Save.apply(leaf(), "view").grad_fn.sentinel = sentinel


def hook_of_ctx(sentinel):
    y = Save.apply(leaf(), "x")
    y.grad_fn.register_hook(lambda *_: (y, sentinel))


def saved_intermediate(sentinel):
    x = leaf() * 1
    ctx = Save.apply(x, "x").grad_fn
    x.sentinel, x.y = sentinel, Save.apply(T.ones(1).requires_grad_(), "x")
    ctx.x = x


@pytest.mark.parametrize("cycle", [
    attribute_of_ctx, ctx_itself, attribute_of_result, saved_view_of_the_result, hook_of_ctx,
    saved_intermediate], ids=lambda cycle: cycle.__name__)
def test_is_collected(cycle):
    sentinel = Sentinel()
    alive = weakref.ref(sentinel)
    cycle(sentinel)
    del sentinel
    gc.collect()
    gc.collect()  # resurrection hides what C++ owns in the first one
    assert alive() is None


def test_what_a_graph_owns_is_kept():
    class Two(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, first, second):
            return first * ctx.saved_tensors[0] + second * ctx.factor

    x = leaf()
    first, second = Two.apply(x * 1)
    first.grad_fn.factor = T.ones(1) * 5
    first.me, second.me, first.node = first, second, first.grad_fn
    total = (first + second).sum()
    del first, second
    gc.collect()
    gc.collect()
    total.backward()
    assert x.grad.tolist() == [6]


def test_a_leaf_that_two_own_stays_until_its_attribute_goes():
    """ctx and the accumulator own the leaf together: neither reports it (docs/decisions/014)."""
    x = leaf()
    alive = weakref.ref(x)
    x.y = Save.apply(x, "x")
    del x
    gc.collect()
    gc.collect()
    assert alive() is not None
    del alive().y
    assert alive() is None


def on_a_small_stack(function):
    """The result of a function that runs on a thread with 256 KiB of stack."""
    results, usual = [], threading.stack_size(1 << 18)
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    threading.stack_size(usual)
    thread.join()
    return results[0]


def test_a_deep_graph_is_freed_without_deep_recursion():
    def is_freed():
        y = leaf()
        for _ in range(10_000):
            z = Save.apply(y, "x")
            z.grad_fn.former = y
            y = z
        ctx = weakref.ref(y.grad_fn)
        del y, z
        gc.collect()
        return ctx() is None

    assert on_a_small_stack(is_freed)


def test_a_million_nodes_are_run_and_freed_without_recursion():
    x, sentinel = leaf(), Sentinel()
    y = x + x
    y.grad_fn.metadata["sentinel"] = sentinel
    for _ in range(1_000_000):
        y = y + x
    y.backward()
    assert x.grad.item() == 1_000_002
    of_first = weakref.ref(sentinel)
    del y, sentinel
    assert of_first() is None


def test_owned_by_cpp_lists_what_is_saved():
    x = leaf()
    y = Save.apply(x, "x")
    rows = y.grad_fn._owned_by_cpp()
    assert (id(y.grad_fn), "saved tensor", x._cdata, "tensor", 3, False) in rows


def test_owned_by_cpp_lists_a_reference_once():
    """The saved view leads to the node, which a ctx lists in any case."""
    rows = Save.apply(leaf(), "view").grad_fn._owned_by_cpp()
    assert len({*rows}) == len(rows)
