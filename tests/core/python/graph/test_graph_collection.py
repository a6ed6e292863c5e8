"""A4: the collector frees a graph that Python alone owns, and nothing that C++ shares."""

import gc
import weakref

import pytest
import slotcore as T


class Sentinel:
    """Says when it dies."""


class Sub(T.Tensor):
    """A tensor with weak references and attributes."""


def leaf():
    return T.ones(1).requires_grad_()


def attribute_of_a_leaf(sentinel):
    x = leaf()
    x.y = x * x
    x.sentinel = sentinel


def attribute_of_a_result(sentinel):
    y = leaf().relu()
    y.fn = y.grad_fn
    y.sentinel = sentinel


def accumulator(sentinel):
    x = leaf()
    x.accumulator = (x * 1).grad_fn.next_functions[0][0]
    x.sentinel = sentinel


def hook_of_a_leaf(sentinel):
    x = leaf()
    x.register_hook(lambda _: (x, sentinel))


def hook_that_holds_the_accumulator(sentinel):
    x = leaf()
    node = x.view_as(x).grad_fn.next_functions[0][0]
    x.me = x
    x.register_hook(lambda _: (node, sentinel))


def hook_of_a_leaf_that_only_its_view_keeps(sentinel):
    x = leaf()
    view = x.view(1)
    x.register_hook(lambda _: (view, sentinel))


def hooks_of_a_leaf_and_its_copy(sentinel):
    x, y = T.ones(1), leaf()
    y.register_hook(lambda _: (x, y, sentinel))
    x.copy_(y)


def hook_of_a_result(sentinel):
    y = leaf() * 2
    y.register_hook(lambda _: (y, sentinel))


def hook_of_a_node(sentinel):
    y = leaf() * 2
    y.grad_fn.register_hook(lambda *_: (y, sentinel))


def prehook_that_holds_its_node(sentinel):
    node = (leaf() * 2).grad_fn
    node.register_prehook(lambda _: (node, sentinel))


def view_in_place(sentinel):
    base = leaf() * 1
    view = base.view(1)
    view.mul_(leaf())
    base.view = view.grad_fn
    base.sentinel = sentinel


def deep(sentinel):
    x = leaf()
    y = x
    for _ in range(5000):
        y = y + x
    y.me = y
    y.sentinel = sentinel


SHAPES = [attribute_of_a_leaf, attribute_of_a_result, accumulator, hook_of_a_leaf,
          hook_that_holds_the_accumulator, hook_of_a_leaf_that_only_its_view_keeps,
          hooks_of_a_leaf_and_its_copy, hook_of_a_result, hook_of_a_node,
          prehook_that_holds_its_node, view_in_place, deep]


# Two wrappers own a leaf in these. Under resurrection one hides its references (decision 014).
OF_TWO_WRAPPERS = (hook_that_holds_the_accumulator, hooks_of_a_leaf_and_its_copy)


@pytest.mark.parametrize("shape", [
    shape for shape in SHAPES
    if T._preservation == "refcount-bit" or shape not in OF_TWO_WRAPPERS],
    ids=lambda shape: shape.__name__)
def test_a_cycle_that_python_alone_owns_is_collected(shape):
    sentinel = Sentinel()
    alive = weakref.ref(sentinel)
    shape(sentinel)
    del sentinel
    gc.collect()
    if alive() is not None:  # resurrection hides what C++ owns in the first collection
        gc.collect()
    assert alive() is None


def packs_itself(x):
    y = x * x
    y.grad = y * y


def packs_a_view_of_itself(x):
    y = x * x
    view = y.view(1)
    y.grad = view * view


def packs_its_node(x):
    y = x * x
    with T.autograd.graph.saved_tensors_hooks(lambda t: [t, y.grad_fn], lambda packed: packed[0]):
        y.grad = y * y


@pytest.mark.parametrize("shape", [packs_itself, packs_a_view_of_itself, packs_its_node])
def test_a_cycle_without_an_object_that_can_be_cleared_is_freed(shape):
    before = T._live_impls()
    with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda packed: packed):
        shape(leaf())
    for _ in range(3):
        gc.collect()
    assert T._live_impls() == before


def test_what_a_graph_owns_survives_collections():
    x = Sub(1).requires_grad_()
    x.tag, x.me = 7, x
    y = x * x
    del x
    for _ in range(3):
        gc.collect()
    found = y.grad_fn.next_functions[0][0].variable
    assert type(found) is Sub
    assert found.tag == 7
    del found.me


def test_hooks_survive_collections_while_the_graph_lives():
    seen = []
    y = leaf() * 2
    y.grad_fn.register_hook(lambda *_: seen.append("node"))
    z = y + 1
    y.register_hook(lambda _: seen.append("tensor"))
    del y
    gc.collect()
    z.sum().backward()
    assert seen == ["tensor", "node"]


def test_garbage_does_not_take_hooks_of_a_node_that_older_objects_own():
    seen = []
    y = leaf() * 2
    z = y + 1
    gc.collect()  # the next collection does not look at `z`, which also owns the node
    y.grad_fn.register_hook(lambda *_: seen.append("node"))
    garbage = y + 2
    garbage.me = garbage
    del y, garbage
    gc.collect(0)
    z.sum().backward()
    assert seen == ["node"]


def test_a_tensor_that_owns_itself_in_cpp_says_so():
    x = leaf()
    x.grad = x * x
    rows = x._owned_by_cpp()
    assert (id(x), "impl", x._cdata, "tensor", 4, False) in rows
    # Under resurrection an impl owns its wrapper only while Python does not.
    is_held = (x._cdata, "wrapper", id(x), "wrapper", 0, False) in rows
    assert is_held == (T._preservation == "refcount-bit")
    names = {owned: name for _, _, owned, name, references, _ in rows if references}
    assert sorted(names.values()) == ["AccumulateGrad", "MulBackward0", "storage", "storage",
                                      "tensor", "tensor"]
    links = [link for _, link, _, _, references, _ in rows if references]
    assert sorted(set(links)) == [".grad", ".grad_fn", ".next_functions", ".variable", "impl",
                                  "saved tensor", "storage"]
    cyclic = {owned for *_, owned, _, _, is_in_cycle in rows if is_in_cycle}
    assert len(cyclic) == 4  # all but the storages
    x.grad = None
    assert not any(is_in_cycle for *_, is_in_cycle in x._owned_by_cpp())


def test_hooks_and_metadata_are_among_what_is_owned():
    x = leaf()
    x.register_hook(print)
    y = x * 1
    y.grad_fn.metadata["held"] = 1
    links = {link: owned for _, link, owned, _, references, _ in y._owned_by_cpp()
             if not references}
    assert links["._backward_hooks"] == id(x._backward_hooks)
    assert links[".metadata"] == id(y.grad_fn.metadata)


def lent(one):
    """Which storages have borrowed the bytes of which objects."""
    return [(owner, owned) for owner, link, owned, *_ in one._owned_by_cpp() if link == "buffer"]


@pytest.mark.parametrize("part", [slice(None), slice(4, 8)])
def test_the_object_whose_bytes_a_storage_borrows_is_among_what_is_owned(part):
    lender = T.UntypedStorage(8)
    t = T.frombuffer(memoryview(lender)[part], dtype=T.uint8)
    storage = t.untyped_storage()
    assert lent(t) == lent(storage) == [(storage._cdata, id(lender))]
    rest = storage[1:]
    [(shared, owned)] = lent(t)
    assert owned == id(lender) and shared != storage._cdata
    assert lent(rest) == lent(storage) == lent(t)
    row = (shared, "bytes", 2, False)
    assert (storage._cdata, "data", *row) in t._owned_by_cpp()
    assert (rest._cdata, "data", *row) in rest._owned_by_cpp()
