"""What lines about asides may call: acts that change nothing that a later line shows.

The model of a program with an aside is the same program without it.
"""

#: asides: acts with the last tensor of a program, and with the one before
#> asides: in_hermetic
def ask_attributes(x, y):
    for name in filter(str.isidentifier, dir(x)):
        try:
            getattr(x, name)
        except (AttributeError, *refused):
            pass
def wrap_in_hermetic(x, y):
    with hermetic():
        return x.untyped_storage(), x.view(-1), x._base
def drop_cycle(x, y):
    view = x.view(-1)
    view.me = view
    del view
    gc.collect()
def trace_twofold(x, y):
    trace = T.fx.experimental.proxy_tensor.make_fx
    trace(lambda one: one * 2, tracing_mode="fake")(x.detach())
def run_another_graph(x, y):
    leaf = x.detach().clone().requires_grad_()
    (leaf * leaf).sum().backward()
def run_this_graph(x, y):
    (x * 1).sum().backward(inputs=[T.ones(1).requires_grad_()], retain_graph=True)
def walk_graph(x, y):
    todo, met = [x.grad_fn], set()
    while todo:
        node = todo.pop()
        if node is not None and node not in met:
            met.add(node)
            todo += [one for one, _ in node.next_functions]
def hook_and_remove(x, y):
    x.register_hook(lambda gradient: gradient * 7).remove()
def pack_what_is_saved(x, y):
    with T.autograd.graph.saved_tensors_hooks(lambda one: one * 2, lambda one: one):
        x * y
def leave_by_error(x, y):
    try:
        with FakeTensorMode(), T.no_grad(), hermetic():
            raise KeyError
    except KeyError:
        pass
def lend_bytes(x, y):
    memoryview(storage_of(x)).release()
def ask_on_thread(x, y):
    on_thread(lambda: x.size() + x.stride())
def find_again(x, y):
    handle = x._weak_ref()
    try:
        assert T.Tensor._new_with_weak_ptr(handle) is x, "P1: an impl has two wrappers"
    finally:
        T.Tensor._free_weak_ref(handle)
def refuse_all(x, y):
    wrong = T.ones(9, 9, dtype=T.float64)
    for call in (lambda: x.view(7, 7), lambda: x.as_strided((9,), (1 << 40,)),
                 lambda: x.resize_(-1), lambda: x.expand(-7),
                 lambda: x.set_(storage_of(y), -1, (2,), (1,)), lambda: x.copy_(wrong),
                 lambda: x.mul_(wrong), lambda: setattr(x, "grad", wrong),
                 lambda: setattr(x, "data", 1), lambda: x.__setitem__(99, 1), lambda: x[99],
                 lambda: x.backward(wrong)):
        try:
            call()
        except refused:
            continue
        raise AssertionError("P8: a call returns that no tensor can do")
asides = {
    "ask": ask_attributes, "print": lambda x, y: (repr(x), str(y)), "list": lambda x, y: x.tolist(),
    "describe": lambda x, y: described(x, y), "write": lambda x, y: T._meta.dumps(described(x)),
    "convert": lambda x, y: MetaConverter()(x),
    "fake": lambda x, y: FakeTensorMode().from_tensor(x),
    "fake_with_sizes": lambda x, y: FakeTensorMode(shape_env=ShapeEnv()).from_tensor(x),
    "trace": trace_twofold, "wrap_in_hermetic": wrap_in_hermetic,
    "collect": lambda x, y: gc.collect(),
    "drop_view": lambda x, y: (x.view(-1), x.detach(), x.data, x[0]),
    "drop_cycle": drop_cycle, "run_another_graph": run_another_graph,
    "run_this_graph": run_this_graph, "walk_graph": walk_graph, "hook_and_remove": hook_and_remove,
    "pack_what_is_saved": pack_what_is_saved, "leave_by_error": leave_by_error,
    "compute": lambda x, y: (x * y, x + 1, x * True, x * 1.0, x.sum()),
    "copy": lambda x, y: x.clone().add_(1), "lend_bytes": lend_bytes,
    "ask_on_thread": ask_on_thread, "find_again": find_again,
    "refer": lambda x, y: (weakref.ref(x), CppWeak(x)),
    "refuse_all": refuse_all,
}

#: after_changes: what a program of changes shows at its end, with an aside in its middle
#> after_changes: collects in_hermetic
def after_changes(names, aside=None):
    collect_all()
    before = T._live_impls(), T._live_blocks(), T._live_saved_tensors()
    tensors, errors = [T.ones(4)], []
    with T.enable_grad():
        for at, name in enumerate(names):
            if aside and at == len(names) // 2:
                try:
                    asides[aside](tensors[-1], tensors[-2 % len(tensors)])
                except (BufferError, *refused):
                    pass  # what the aside does cannot be done with this tensor
            errors.append(change_of(tensors, name))
            tensors[-1].view_as(tensors[-1])  # a leaf keeps the memory of its first accumulator
        collect_all()
        after = T._live_impls(), T._live_blocks(), T._live_saved_tensors()
        seen = Observations()
        seen.lists = {"t0"}  # the prelude's lists are not of this program
        state = seen.text({f"t{number}": one for number, one in enumerate(tensors)}).split("\n")
        try:
            tensors[-1].sum().backward()
        except refused as error:
            errors.append(type(error))
    grads = [seen.ask(lambda: one.grad.tolist()) for one in tensors if one.is_leaf]
    return [errors, [one - two for one, two in zip(after, before)], state, grads]

#: check_aside [slotcore]: what changes nothing is not seen by what comes later (P8, M10, A5e)
#> check_aside: collects in_hermetic checks
def check_aside(aside, *names):
    if in_hermetic():
        return
    expected = after_changes(names)
    found = after_changes(names, aside)
    if {"grad", "circle_of_grads"} & set(names):
        found[1] = expected[1]  # fakes of what owns itself in C++ own themselves (A4a)
    changed = [(one, two) for one, two in zip(expected, found) if one != two][:1]
    assert found == expected, f"P8: {aside} changes what comes later: {changed}"
