"""What lines about kinds of graphs may call: a sentence of the contract that holds for several.

Each function here asks one kind: hooks for saved tensors, hooks of a ctx, results of a Function,
and what is freed. The file graph_kinds_more.py has the rest, and the check that runs one of them.
"""

#: graph_kinds [slotcore]: what is asked of hooks, results and freed tensors (A2, A3, A4, A8)
#> graph_kinds: collects starts_thread
def hooks_of_one_thread():
    packed_here, leaf = [], T.ones(1).requires_grad_()
    def packs_here(one):
        packed_here.append("packed")
        return one
    def multiplies():
        with T.enable_grad():
            (leaf * leaf).relu().sum().backward()
    with T.on_device(0):
        cube = leaf * leaf * leaf
    with T.autograd.graph.saved_tensors_hooks(packs_here, lambda one: one):
        error = Worker(multiplies).join()
        assert error is None and not packed_here, (
            "A2e: a thread uses hooks for saved tensors that another thread has entered")
        T.autograd.grad(cube.sum(), leaf, create_graph=True)
        assert not packed_here, "A2e: the thread of a device uses the hooks of its caller"
        leaf * leaf
    assert packed_here == ["packed"] * 2, (
        f"A2e: the thread that has entered hooks packs {len(packed_here)} of two tensors")
def versions_of_packed():
    hooks = T.autograd.graph.saved_tensors_hooks
    pack_hooks = {"itself": lambda one: one, "a copy": lambda one: one.clone()}
    for packs, pack in pack_hooks.items():
        for written in ("before", "after", "before and after"):
            leaf, factor = T.ones(1).requires_grad_(), T.ones(1).mul_(2)
            if written == "after":
                factor = T.ones(1) + 1
            with hooks(pack, lambda one: one):
                result = leaf * factor
            if written != "before":
                factor.add_(1)
            expected = factor.tolist() if packs == "itself" else [2]
            found = raised_by(result.sum().backward) or leaf.grad.tolist()
            assert found == expected, (
                f"A2e: a factor packed as {packs}, and written {written}: a backward gives {found}")
    leaf = T.ones(1).requires_grad_()
    source = leaf * 1
    with hooks(lambda one: one, lambda one: one):
        result = fn("save_input", "y", "saved").apply(source)
    with T.no_grad():
        source.add_(1)
    found = raised_by(result.sum().backward) or leaf.grad.tolist()
    assert found == [2], (
        f"A2e: what a ctx saves is packed as itself, and written after: backward gives {found}")
class NotesGradients(T.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * 2, x * 1
    @staticmethod
    def backward(ctx, g, h):
        ctx.log.append(("backward", g.item(), h.item()))
        return g * 2, None
def hooks_of_a_context():
    log, leaf = [], T.ones(1).requires_grad_()
    first, second = NotesGradients.apply(leaf, 7)
    node = first.grad_fn
    node.log = log
    def before(*seen):
        log.append(("pre-hook", len(seen), len(seen[0])))
        return (seen[0][0] * 3, *seen[0][1:])
    def after(*seen):
        log.append(("post-hook", *(len(one) for one in seen)))
        return (seen[0][0] * 5, *seen[0][1:])
    handles = [node.register_prehook(before), node.register_hook(after)]
    first.register_hook(lambda gradient: log.append("tensor"))
    first.sum().backward(retain_graph=True)
    expected = ["tensor", ("pre-hook", 1, 2), ("backward", 3.0, 0.0), ("post-hook", 1, 2)]
    assert log == expected, f"A3a: hooks of a ctx and its tensor run as {log}"
    assert leaf.grad.item() == 30, (
        f"A3b: hooks of a ctx that multiply by 3 and by 5 make {leaf.grad.item()} of 2")
    for handle in handles:
        handle.remove()
    log.clear()
    first.sum().backward()
    assert log == ["tensor", ("backward", 1.0, 0.0)], (
        f"A3c: after hooks of a ctx were removed, a backward runs {log}")
class ReturnsIntegers(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, *(T.ones(2, dtype=kind) for kind in (T.int64, T.bool, T.uint8))
    @staticmethod
    def backward(ctx, *all_gradients):
        ctx.kinds = [one.dtype for one in all_gradients[1:]]
        return all_gradients[0] * 2
def integers_among_results():
    leaf = T.ones(2).requires_grad_()
    results = ReturnsIntegers.apply(leaf)
    require = [one.requires_grad for one in results]
    assert require == [True, False, False, False], (
        f"A7: of a float32, an int64, a bool and a uint8 of a Function, these require: {require}")
    leaves = [one.is_leaf for one in results]
    assert leaves == [False, True, True, True], (
        f"A7: of a float32, an int64, a bool and a uint8 of a Function, these are leaves: {leaves}")
    results[0].sum().backward()
    found = results[0].grad_fn.kinds
    assert found == [T.int64, T.bool, T.uint8], (
        f"A8: the missing gradients of an int64, a bool and a uint8 arrive as {found}")
    assert leaf.grad.tolist() == [2, 2], f"A7: the gradient of 2 is {leaf.grad.tolist()}"
def multiplied_by_hook(leaf, factor):
    with T.autograd.graph.saved_tensors_hooks(lambda one: one, lambda one: one):
        return leaf * factor
makers_that_save = {
    "a product": lambda leaf, factor: leaf * factor, "a packed product": multiplied_by_hook,
    "a product in place": lambda leaf, factor: leaf.clone().mul_(factor),
    "a Function": lambda leaf, factor: fn("save_input", "y", "saved").apply(factor, leaf),
}
def saved_tensors_die():
    for maker, make in makers_that_save.items():
        leaf, factor = T.ones(1).requires_grad_(), T.ones(1)
        alive, result = weakref.ref(factor), make(leaf, factor)
        del factor
        node = result.grad_fn
        assert alive() is not None, f"A2: {maker} does not keep the tensor that it saved"
        result.sum().backward(retain_graph=True)
        assert alive() is not None, f"A2a: a backward with retain_graph frees what {maker} saved"
        result.sum().backward()
        assert alive() is None, f"A2a: {maker} keeps what it saved, after a backward has freed it"
        del node
def cycle_by_unpack_hook(make):
    held, leaf = [new_sentinel()], T.ones(1).requires_grad_()
    def unpack(one):
        return held[1]
    with T.autograd.graph.saved_tensors_hooks(lambda one: 7, unpack):
        held.append(make(leaf))
    return weakref.ref(held[0])
def cycles_of_unpack_hooks():
    alive = {
        "a relu()": cycle_by_unpack_hook(lambda leaf: leaf.relu()),
        "a product": cycle_by_unpack_hook(lambda leaf: leaf * leaf),
        "a Function": cycle_by_unpack_hook(fn("save_input", "y", "saved").apply)}
    collect_all()
    collect_all()
    for maker, sentinel in alive.items():
        assert sentinel() is None, (
            f"A4a: the collector leaves a cycle through the unpack hook of {maker}")
class ReturnsView(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)
    @staticmethod
    def backward(ctx, g):
        return g
class ReturnsViewAndProduct(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1), x * 2
    @staticmethod
    def backward(ctx, g, h):
        return g + h * 2
parts_of_results = {
    "a view": lambda one: one, "a view of a view": lambda one: one.view(-1),
    "a slice of a view": lambda one: one[:1],
    "a view of a slice of a view": lambda one: one[:].view(-1),
}
writes_to_results = {
    "mul_": lambda one: one.mul_(2), "fill_": lambda one: one.fill_(2),
    "copy_": lambda one: one.copy_(T.ones(1)), "relu_": lambda one: one.relu_(),
    "zero_": lambda one: one.zero_(), "add_": lambda one: one.add_(T.ones(1).requires_grad_()),
    "an assignment": lambda one: one.__setitem__(slice(0, 1), 3),
}
def views_among_results():
    for place, returns in {"result": lambda x: ReturnsView.apply(x),
                           "first result": lambda x: ReturnsViewAndProduct.apply(x)[0]}.items():
        for part, take in parts_of_results.items():
            for write, act in writes_to_results.items():
                base = T.ones(2).requires_grad_() * 1
                one = take(returns(base))
                error = raised_by(lambda: act(one))
                assert error is not None, (
                    f"A8: {write} writes {part} that is the {place} of a Function")
                assert base.tolist() == [1, 1] and base._version == 0, (
                    f"P8: {write} of {part} that is the {place} of a Function raises, and writes")
def leaf_of_another_dtype():
    for graph, make in {"a product": lambda leaf: leaf * 2, "a view": lambda leaf: leaf.view(-1),
                        "relu()": lambda leaf: leaf.relu()}.items():
        for dtype in (T.float64, T.complex64):
            leaf = T.ones(2).requires_grad_()
            result = make(leaf)
            leaf.data = T.ones(2, dtype=dtype)
            error = raised_by(result.sum().backward)
            assert error is not None and leaf.grad is None, (
                f"A3d: a leaf that has become {dtype} gets the gradient of {graph} of a float32")
graph_kinds = {
    "thread_of_hooks": hooks_of_one_thread, "packed_version": versions_of_packed,
    "hooks_of_ctx": hooks_of_a_context, "integer_results": integers_among_results,
    "saved_dies": saved_tensors_die, "unpack_cycle": cycles_of_unpack_hooks,
    "view_among_results": views_among_results, "leaf_of_another_dtype": leaf_of_another_dtype,
}
