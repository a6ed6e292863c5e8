"""Checks of who owns the parts of a graph, and of what a backward leaves behind."""

#: new_sentinel: says by a weak reference when it is freed, as the collector does not track it
def new_sentinel():
    return compile("0", "sentinel", "eval")

#: graph_cycles: cycles through a graph whose parts Python alone owns; each holds the sentinel
def cycle_of_result(leaf, sentinel):
    result = leaf.relu()
    result.held, result.sentinel = result.grad_fn, sentinel
def cycle_of_hook(leaf, sentinel):
    result = leaf * 2
    result.register_hook(lambda _: (result, sentinel))
def cycle_of_leaf_hook(leaf, sentinel):
    leaf.register_hook(lambda _: (leaf, sentinel))
def cycle_of_node_hook(leaf, sentinel):
    node = (leaf * 2).grad_fn
    node.register_hook(lambda *_: (node, sentinel))
def cycle_of_metadata(leaf, sentinel):
    result = leaf * 2
    result.grad_fn.metadata.update(result=result, sentinel=sentinel)
def cycle_of_packed(leaf, sentinel):
    held = [sentinel]
    with T.autograd.graph.saved_tensors_hooks(lambda tensor: held, lambda packed: packed[0]):
        held.append(leaf.relu())
def cycle_of_written(leaf, sentinel):
    result = leaf * 1
    packed = result, sentinel
    with T.autograd.graph.saved_tensors_hooks(lambda tensor: packed, lambda packed: packed[0]):
        result.mul_(leaf.detach())
graph_cycles = (cycle_of_result, cycle_of_leaf_hook, cycle_of_node_hook)
if is_slotcore:  # torch does not collect these
    graph_cycles += (cycle_of_hook, cycle_of_metadata, cycle_of_packed, cycle_of_written)

#: assert_collected: the collector frees each of the cycles (A4a)
#> assert_collected: collects checks
def assert_collected(cycles, tensor):
    for cycle in cycles:
        sentinel = new_sentinel()
        alive = weakref.ref(sentinel)
        with T.enable_grad():
            cycle(differentiable(tensor), sentinel)
        del sentinel
        collect_all()
        collect_all()  # resurrection hides what C++ owns in the first one
        assert alive() is None, f"A4a: {cycle.__name__} is not collected"

#: check_graph_collected: cycles through a graph (A4a)
#> check_graph_collected: collects checks
def check_graph_collected(tensor):
    assert_collected(graph_cycles, tensor)

#: check_handle_kept: hooks end with what they were put on, though their handles are kept (A3f)
#> check_handle_kept: checks
def hook_of_function(leaf, hook):
    result = fn().apply(leaf)
    return result.grad_fn.register_hook(hook)
hook_places = {
    "a leaf": lambda leaf, hook: leaf.register_hook(hook),
    "a result": lambda leaf, hook: (leaf * 1).register_hook(hook),
    "a view": lambda leaf, hook: leaf.view(-1).register_hook(hook),
    "a node": lambda leaf, hook: (leaf * 1).grad_fn.register_hook(hook),
    "a node, before it runs": lambda leaf, hook: (leaf * 1).grad_fn.register_prehook(hook),
    "the node of a Function": hook_of_function,
    "an AccumulateGrad": lambda leaf, hook:
        (leaf * 1).grad_fn.next_functions[0][0].register_hook(hook)}
def handle_of_hook(put, sentinel):
    with T.enable_grad():
        return put(T.ones(2).requires_grad_(), lambda *_, held=sentinel: None)
def check_handle_kept():
    for place, put in hook_places.items():
        sentinel = new_sentinel()
        alive = weakref.ref(sentinel)
        handle = handle_of_hook(put, sentinel)
        del sentinel
        assert alive() is None, f"A3f: the handle of a hook keeps the hooks of {place}"
        handle.remove()

#: check_graph_kept: what a graph owns keeps its attributes (A4b, P2)
#> check_graph_kept: collects checks
def check_graph_kept(tensor):
    leaf = T.ones(tuple(tensor.size())).as_subclass(TensorSub).detach().as_subclass(TensorSub)
    leaf.requires_grad_()
    mark = leaf.mark = object()
    with T.enable_grad():
        product = leaf * leaf
    if in_hermetic() or not product.requires_grad:
        return
    del leaf
    gc.collect()
    found = product.grad_fn.next_functions[0][0].variable
    assert type(found) is TensorSub, "P2: the type of a leaf is lost"
    assert getattr(found, "mark", None) is mark, "P2: an attribute of a leaf is lost"

#: check_gradient: gradients are those of the program (A7)
#> check_gradient: checks
def check_gradient(tensor):
    with T.enable_grad():
        leaf = differentiable(tensor)
        size = leaf.numel()
        in_place, base, written = leaf * 2, leaf * 1, leaf * 1
        view = written.view(-1)
        written.mul_(7)
        in_place.mul_(leaf)
        base.view(-1)[0:1].mul_(5)
        first, = T.autograd.grad((leaf * leaf * leaf).sum(), leaf, create_graph=True)
        expected = [(leaf * 3 + leaf, 4 * size), (leaf.relu(), size), (leaf.view(-1) * 2, 2 * size),
                    (in_place, 4 * size), (base, size + (4 if size else 0)), (first, 6 * size),
                    (leaf.clone().zero_(), 0), (view, 7 * size)]
        for place, (result, total) in enumerate(expected):
            gradient, = T.autograd.grad(result.sum(), leaf)
            assert numbers_of(gradient) == total, (
                f"A7: the gradient of expression {place} is {gradient.tolist()}")

#: check_backward_references: backwards change no reference count (A9)
#> check_backward_references: checks
def check_backward_references(tensor):
    with T.enable_grad():
        leaf = differentiable(tensor)
        leaf.sum().backward()
        before = sys.getrefcount(leaf), sys.getrefcount(leaf.grad)
        for _ in range(10):
            (leaf * leaf).sum().backward()
        after = sys.getrefcount(leaf), sys.getrefcount(leaf.grad)
    assert after == before, f"A9: the counts of a leaf and its grad were {before} and are {after}"

#: on_small_stack: the result of a function on a thread whose stack a recursion soon overflows
#> on_small_stack: starts_thread
import threading
SMALL_STACK_BYTES = 1 << 18
def on_small_stack(function, bytes_min=0):
    results, errors = [], []
    def work():
        try:
            results.append(function())
        except Exception as error:
            errors.append(error.with_traceback(None))
    former = threading.stack_size(max(SMALL_STACK_BYTES, bytes_min))
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(former)
    thread.join()
    if errors:
        raise errors.pop()
    return results.pop()

#: nested_deallocations: how many plain objects of a chain CPython frees within each other
#> nested_deallocations: finalizes
class NestedLink:
    pass
class NestedMark:
    def __init__(self, depths, step):
        self.depths, self.step = depths, step
    def __del__(self):
        self.depths.append(self.depths[-1] + self.step)
def nested_deallocations(length):
    depths, chain = [0], None
    for _ in range(length):
        link = NestedLink()  # it frees its attributes in this order
        link.first, link.former, link.last = NestedMark(depths, 1), chain, NestedMark(depths, -1)
        chain = link
    del link, chain
    return max(depths)

#: check_deep_graph: a deep graph is run and freed without deep recursion (P6)
#> check_deep_graph: starts_thread checks
def check_deep_graph():
    def work():
        leaf = T.ones(1).requires_grad_()
        result = leaf
        for _ in range(2000):
            result = result + leaf
        result.sum().backward()
        return leaf.grad.item()
    assert on_small_stack(work) == 2001, "A7: the gradient of a deep graph"

#: not_writable, made_without_recording: makers of tensors that recorded writes must not touch
not_writable = {
    "a leaf": lambda: T.ones(2).requires_grad_(),
    "a view of a leaf": lambda: T.ones(2).requires_grad_().view(-1),
    "a view that was made without recording": lambda: made_without_recording(T.ones(2)),
    "a view that a Function returned": lambda: fn("nothing", "v").apply(T.ones(2)),
}
def made_without_recording(base):
    with T.no_grad():
        return base.view(-1)

#: check_refused_writes: a write that gradients forbid has written nothing (P8)
#> check_refused_writes: checks
def check_refused_writes():
    writes = {
        "copy_": lambda one, source: one.copy_(source),
        "add_": lambda one, source: one.add_(source),
        "mul_": lambda one, source: one.mul_(source),
        "a slice": lambda one, source: one.__setitem__(slice(0, 1), source[:1])}
    with T.enable_grad():
        source = T.ones(2).requires_grad_() * 3
        for place, make in not_writable.items():
            for name, write in writes.items():
                one = make()
                before = state_of(one)
                error = raised_by(lambda: write(one, source))
                assert error is not None, f"P8: {name} wrote {place}, and gradients with it"
                after = state_of(one)
                for what, value in before.items():
                    same = after[what] == value or what == ".grad"
                    assert same, f"P8: {name} of {place} raised and changed the {what}"

#: check_moved_leaf: a backward never adds to a leaf that has become a result since (A2c)
#> check_moved_leaf: checks
def check_moved_leaf():
    with T.enable_grad():
        leaf = T.ones(1).requires_grad_()
        result = (leaf * 2).sum()
        leaf.detach_()
        leaf.mul_(T.ones(1).requires_grad_())
        error = raised_by(result.backward)
    assert error is not None, "A2c: a backward added a gradient to a leaf that is a result by now"

#: check_integer_gradients: no write makes integers require a gradient (A7)
#> check_integer_gradients: checks
def check_integer_gradients():
    writes = {
        "copy_": lambda one, source: one.copy_(source),
        "fill_": lambda one, source: one.fill_(source[0]),
        "masked_fill_": lambda one, source: one.masked_fill_(one == 0, source[0]),
        "a slice": lambda one, source: one.__setitem__(slice(0, 1), source[:1]),
        "a slice that is filled": lambda one, source: one.__setitem__(slice(0, 1), source[0])}
    with T.enable_grad():
        for name, write in writes.items():
            one = T.zeros(2, dtype=T.int64)
            if not name.endswith("_") or hasattr(one, name):
                write(one, T.ones(2).requires_grad_())
            assert not one.requires_grad, f"A7: {name} made integers require a gradient"

#: check_view_of_detached: a view has the gradient of its present elements (A7)
#> check_view_of_detached: checks
def check_view_of_detached():
    with T.enable_grad():
        leaf = T.ones(1).requires_grad_()
        base = leaf * 1
        view = base.view(-1)
        base.detach_()
        base.zero_()
        total = view.sum()
        if total.requires_grad:
            total.backward()
    assert numbers_of(leaf.grad) in (None, 0), "A7: a view has the gradient of former elements"

#: check_call_freed: what a call of a Function makes is freed with its results (A4a)
#> check_call_freed: collects checks
called_on = {"a result": lambda leaf: leaf * 1, "a view": lambda leaf: (leaf * 1).view(-1)}
def called_once(tensor, make, parts):
    leaf = differentiable(tensor)
    leaf.sentinel = new_sentinel()
    alive, kept = weakref.ref(leaf.sentinel), len(ctxs)
    try:
        fn(*parts).apply(make(leaf))
    except (RuntimeError, KeyError):  # of a forward that raises, or may not save this
        pass
    del ctxs[kept:]
    return alive
def check_call_freed(tensor, act):
    for is_dirty in (False, True):
        parts = (act, "x", "doubles", "mark_input") if is_dirty else (act,)
        for place, make in called_on.items():
            with T.enable_grad():
                alive = called_once(tensor, make, parts)
            collect_all()
            collect_all()  # resurrection hides what C++ owns in the first one
            said = f"{place} that it marked as dirty" if is_dirty else place
            assert alive() is None or in_hermetic(), f"A4a: a call with {said} leaves its graph"

#: check_detached: what was saved says that it was detached in place since (A2c)
#> check_detached: checks
def check_detached():
    uses = {"a product": lambda one: one * one,
            "a Function": lambda one: fn("save_input", "y", "saved").apply(one)}
    for name, use in uses.items():
        with T.enable_grad():
            saved = T.ones(1).requires_grad_() * 3
            result = use(saved).sum()
            saved.detach_()
            error = raised_by(result.backward)
        assert error is not None, f"A2c: {name} uses a tensor that was detached in place since"
