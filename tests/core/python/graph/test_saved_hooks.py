"""A2e: hooks that pack and unpack what nodes save; and the metadata of nodes."""

import gc
import threading
import weakref

import pytest
import slotcore as T

hooks = T.autograd.graph.saved_tensors_hooks


class Sentinel:
    """Says when it dies."""


class Save(T.autograd.Function):
    @staticmethod
    def forward(ctx, x, other):
        y = x * 2
        ctx.save_for_backward(y if other is None else other)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0], None


def leaf(*numbers):
    return T.tensor([float(number) for number in numbers or (3,)]).requires_grad_()


def same(tensor):
    return tensor


def test_each_save_is_packed_once_and_each_use_unpacked():
    log, x = [], leaf(2, 3)
    with hooks(lambda t: log.append("pack") or [t], lambda p: log.append("unpack") or p[0]):
        y = x * x
    assert log == ["pack"] * 2
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert log[2:] == ["unpack"] * 4
    assert x.grad.sum().item() == 2 * (4 + 6)


def test_the_inner_pair_packs_and_the_thread_keeps_it_to_itself():
    log = []

    def noting(name):
        return lambda tensor: log.append(name) or tensor

    with hooks(noting("outer"), same):
        with hooks(noting("inner"), same):
            leaf().relu()
        leaf().relu()
        thread = threading.Thread(target=lambda: leaf().relu())
        thread.start()
        thread.join()
    leaf().relu()
    assert log == ["inner", "outer"]


def test_a_use_gets_what_the_hook_returns_whatever_was_written_since():
    x = leaf(2)
    with hooks(lambda t: t.clone(), same):
        y = (x * 1).relu() * 1
        z = y.relu()
    with T.no_grad():
        z.add_(100)
    z.sum().backward()
    assert x.grad.item() == 1


def test_no_recording_while_a_hook_packs():
    seen = []
    with hooks(lambda t: seen.append((t * 2).requires_grad) or t, same):
        y = leaf() * 1
        y.relu()
    assert seen and not any(seen)


def test_second_derivatives_go_through_packed_tensors():
    x = leaf(5)
    with hooks(lambda t: t.clone(), lambda p: p.clone()):
        y = (x * x * x).sum()
        g, = T.autograd.grad(y, x, create_graph=True)
        h, = T.autograd.grad(g.sum(), x, create_graph=True)
    assert (g.item(), h.item()) == (75, 30)
    h.sum().backward()
    assert x.grad.item() == 6


def test_a_packed_leaf_that_is_no_input_gets_its_gradient():
    x, other = leaf(2), leaf(7)
    with hooks(lambda t: t.clone(), same):
        y = Save.apply(x, other)
    g, = T.autograd.grad(y.sum(), x, create_graph=True)
    g.sum().backward()
    assert other.grad.item() == 1


def test_a_freed_graph_has_no_packed_tensors():
    alive = []

    def pack(tensor):
        packed = Sentinel()
        packed.tensor = tensor
        alive.append(weakref.ref(packed))
        return packed

    with hooks(pack, lambda packed: packed.tensor):
        y = Save.apply(leaf(), None)
        z = leaf() * leaf()
    (y + z).sum().backward()
    assert [one() for one in alive] == [None] * 3
    with pytest.raises(RuntimeError, match="freed"):
        y.grad_fn.saved_tensors


@pytest.mark.parametrize("make", [
    lambda x: x * x, lambda x: x.relu(), lambda x: Save.apply(x, x),
    lambda x: (x * 1).relu_()], ids=["product", "relu", "function", "in_place"])
def test_an_error_of_a_pack_hook_comes_out(make):
    def pack(tensor):
        raise KeyError("pack")

    x = leaf()
    with hooks(pack, same), pytest.raises(KeyError, match="pack"):
        make(x)
    make(x).sum().backward()


def test_what_a_raising_hook_did_not_save_is_an_error_in_the_backward():
    def pack(tensor):
        raise KeyError("pack")

    x = leaf() * 1
    with hooks(pack, same), pytest.raises(KeyError):
        x.relu_()
    with pytest.raises(RuntimeError, match="has not saved"):
        x.sum().backward()


@pytest.mark.parametrize("unpack, error", [
    (lambda packed: {}["unpack"], KeyError), (lambda packed: None, TypeError)])
def test_an_error_of_an_unpack_hook_comes_out(unpack, error):
    with hooks(same, unpack):
        y, z = Save.apply(leaf(), None), leaf().relu()
    for use in (y.sum().backward, z.sum().backward, lambda: y.grad_fn.saved_tensors):
        with pytest.raises(error):
            use()


def test_a_pack_hook_must_not_write():
    with hooks(lambda t: t.add_(1), same), pytest.raises(RuntimeError, match="must not write"):
        (leaf() * 1).relu()


def test_a_hook_may_leave_the_mode_that_called_it():
    def leaves(tensor):
        hooks(same, same).__exit__()
        return tensor

    with pytest.raises(RuntimeError, match="no hooks"):
        with hooks(leaves, same):
            y = leaf(2).relu()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="no hooks"):
        hooks(same, same).__exit__(None, None, None)


def test_a_hook_cannot_take_the_impl_of_what_is_being_written():
    x, other, weight = leaf(2) * 1, leaf(7) * 1, leaf(5)

    def swaps(tensor):
        T.utils.swap_tensors(x, other)

    with hooks(swaps, same), pytest.raises(RuntimeError, match="use_count"):
        x.mul_(weight)


def test_hooks_must_be_callable():
    with pytest.raises(TypeError, match="callable"):
        hooks(same, None)
    with pytest.raises(TypeError):
        hooks(same)


def packed_holds_result(sentinel):
    holder = []
    with hooks(lambda t: holder, lambda p: T.ones(1)):
        y = leaf().relu()
    holder += [y, sentinel]


def context_packs_result(sentinel):
    holder = []
    with hooks(lambda t: holder, lambda p: T.ones(1)):
        y = Save.apply(leaf(), None)
    holder += [y, y.grad_fn, sentinel]


def unpack_holds_result(sentinel):
    kept = []
    with hooks(same, lambda p: kept[0]):
        y = leaf().relu()
    kept += [y, sentinel]


def metadata_holds_result(sentinel):
    y = leaf().relu()
    y.grad_fn.metadata.update(y=y, sentinel=sentinel)


def metadata_holds_context(sentinel):
    y = Save.apply(leaf(), None)
    y.grad_fn.metadata.update(y=y, ctx=y.grad_fn, sentinel=sentinel)


def metadata_holds_its_node(sentinel):
    node = leaf().relu().grad_fn
    node.metadata.update(node=node, sentinel=sentinel)


@pytest.mark.parametrize("cycle", [
    packed_holds_result, context_packs_result, unpack_holds_result, metadata_holds_result,
    metadata_holds_context, metadata_holds_its_node], ids=lambda cycle: cycle.__name__)
def test_a_cycle_is_collected(cycle):
    sentinel = Sentinel()
    alive = weakref.ref(sentinel)
    cycle(sentinel)
    del sentinel
    gc.collect()
    gc.collect()  # resurrection hides what C++ owns in the first one
    assert alive() is None


def test_the_collector_leaves_what_a_graph_owns():
    x, alive = leaf(2), []

    def pack(tensor):
        packed = [tensor, Sentinel()]
        alive.append(weakref.ref(packed[1]))
        return packed

    with hooks(pack, lambda packed: packed[0]):
        total = (x * x).sum()
    total.grad_fn.next_functions[0][0].metadata["sentinel"] = mark = Sentinel()
    mark = weakref.ref(mark)
    gc.collect()
    assert mark() is not None and all(one() for one in alive)
    total.backward()
    assert x.grad.item() == 4
    del total
    assert mark() is None


def test_metadata_is_one_dict_of_the_node():
    y = leaf() * 2
    y.grad_fn.metadata["tag"] = 7
    assert y.grad_fn.metadata == {"tag": 7}
    ctx = Save.apply(leaf(), None).grad_fn
    with pytest.raises(RuntimeError, match="metadata"):
        ctx.metadata
    with pytest.raises(AttributeError):
        y.grad_fn.metadata = {}


def test_release_objects_frees_packed_tensors_and_metadata():
    sentinel = Sentinel()
    alive = weakref.ref(sentinel)
    with hooks(lambda t, kept=sentinel: [t, kept], lambda p: p[0]):
        y = leaf().relu() * 1
    y.grad_fn.metadata["kept"] = sentinel
    del sentinel
    gc.collect()
    assert alive() is not None
    y._release_objects()
    assert alive() is None
    with pytest.raises(RuntimeError, match="freed"):
        y.sum().backward()


def test_a_packed_view_of_a_later_leaf_still_requires_a_gradient():
    base = T.ones(1)
    view = base.view(-1)
    base.requires_grad_()
    assert view.requires_grad and view.is_leaf
    for way in (same, lambda tensor: tensor.clone()):
        with hooks(way, same):
            y = Save.apply(leaf(), view)
        saved = y.grad_fn.saved_tensors[0]
        assert saved.requires_grad and saved.is_leaf and saved.grad_fn is None
    plain = T.ones(1)
    with hooks(same, same):
        y = Save.apply(leaf(), plain)
    assert not y.grad_fn.saved_tensors[0].requires_grad
