"""What lines about remains may call: what a dead tensor had, while something knows it weakly."""

#: attachments: what a tensor may own
def own_by_hook(one, held):
    one.register_hook(lambda gradient, held=held: None)
def own_by_node_hook(one, held):
    one.note = one * 1
    one.note.grad_fn.register_hook(lambda *gradients, held=held: None)
def own_by_grad(one, held):
    one.grad = T.ones(2, 2)
    one.grad.note = held
def own_by_grad_hook(one, held):
    one.grad = T.ones(2, 2).requires_grad_()
    one.grad.register_hook(lambda gradient, held=held: None)
def own_by_storage(one, held):
    one.untyped_storage().note = held
def own_by_graph(one, held):
    other = T.ones(2, 2).requires_grad_()
    result = other * 1
    result.grad_fn.metadata["held"] = held
    one.note = result
def own_by_cycle(one, held):
    one.note = [one, held]
attachments = {
    "attribute": lambda one, held: setattr(one, "note", held), "hook": own_by_hook,
    "node_hook": own_by_node_hook, "grad": own_by_grad,
    "grad_hook": own_by_grad_hook, "storage": own_by_storage, "graph": own_by_graph,
    "cycle": own_by_cycle,
}

#: weak_views: what knows a tensor and does not own it
def known_to_describer(one):
    describer = MetaConverter().describer
    describer.describe_tensor(one)
    return describer
def known_to_converter(one):
    converter = MetaConverter()
    return converter, converter(one)
def known_to_mode(one):
    mode = FakeTensorMode(shape_env=ShapeEnv())
    return mode, mode.from_tensor(one)
def known_to_environment(one):
    env = ShapeEnv()
    FakeTensorMode(shape_env=env).from_tensor(one)
    return env
weak_views = {
    "weakref": weakref.ref, "cpp": CppWeak, "describer": known_to_describer,
    "converter": known_to_converter, "mode": known_to_mode, "environment": known_to_environment,
    "view": lambda one: one.detach(),
    "id": lambda one: one._cdata,
}

#: check_remains [slotcore]: what a tensor owns ends with it, though something knows it (P3, P5)
#> check_remains: collects finalizes checks
def check_remains(*names):
    if in_hermetic():
        return
    *owned, known = names
    with T.enable_grad():
        one, sentinels = T.ones(2, 2).requires_grad_(), []
        for name in owned:
            held = new_sentinel()
            sentinels.append(weakref.ref(held))
            attachments[name](one, held)
            del held
    try:
        view = weak_views[known](one)
    except refused:
        return
    del one
    collect_all()
    for name, sentinel in zip(owned, sentinels):
        if (name, known) not in (("storage", "view"),):
            assert sentinel() is None, f"P3: {known} keeps what a dead tensor had as {name}"
    del view
    collect_all()
    assert not any(sentinel() for sentinel in sentinels), "P5: something of a dead tensor is left"

#: check_expired [slotcore]: a callback of a weakref finds that what it knew has expired (P4)
#> check_expired: finalizes starts_thread in_hermetic checks
import slotcore_c10, threading
expiring = {
    "tensor": lambda: T.ones(2), "instance": lambda: TensorSub(1),
    "parameter": lambda: T.nn.Parameter(T.ones(2)), "view": lambda: T.ones(2)[1:],
    "result": lambda: T.ones(2).requires_grad_() * 2, "meta": lambda: T.ones(2, device="meta"),
    "storage": lambda: T.UntypedStorage(2), "storage_instance": lambda: Sub(2),
}
def check_expired(name, end):
    if in_hermetic():
        return
    with T.enable_grad():
        one, seen = expiring[name](), []
    handle = CppWeak(one)
    owner = slotcore_c10.Owner(handle.handle) if end == "owner" else None
    reference = weakref.ref(one, lambda _: seen.append(handle.expired()))
    left = [one]
    del one
    if end == "hermetic_mode":
        with hermetic():
            left.clear()
    elif end == "thread":
        thread = threading.Thread(target=left.clear)
        thread.start()
        thread.join()
    left.clear()
    del owner
    assert reference() is None and seen == [True], (
        f"P4: where a {name} dies, a callback of a weakref asks whether it expired: {seen}")
