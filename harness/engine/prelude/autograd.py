"""What lines about graphs may call: hooks, and checks with their own expectation.

A check works on a graph of its own, over a copy of the tensor. Each assert begins with the number
of the contract's sentence.
"""

#: stash: gradients that hooks have kept
stash = []

#: recording, recording_at_start [slotcore]: whether this thread records operations (A5e)
recording = T.is_grad_enabled
recording_at_start = recording()

#: doing: a hook of a tensor or of a node that does what `name` says
def doing(name):
    def nests(*gradients):
        with T.enable_grad():
            (T.ones(1).requires_grad_() * 2).sum().backward()
    def removes(*gradients):
        handles.clear()
    def adds(gradient, *others):
        if isinstance(gradient, T.Tensor) and gradient.requires_grad:
            gradient.register_hook(hook_of(None))
    def raises(*gradients):
        raise KeyError("a hook raises")
    def doubles(gradient, *others):
        return gradient * 2 if isinstance(gradient, T.Tensor) else None
    handles = [name]
    return {"nothing": lambda *gradients: None, "doubles": doubles,
            "stashes": lambda *gradients: stash.append(gradients[0]), "raises": raises,
            "removes": removes, "adds": adds, "nests": nests}[name]

#: node_hook_of: a hook of a node that holds `held`
def node_hook_of(held):
    return lambda *gradients, held=held: None

#: removing: a hook that removes another one
def removing(handle):
    def hook(gradient):
        handle.remove()
    return hook

#: chain: a hundred sums
def chain(tensor):
    result = tensor
    for _ in range(100):
        result = result.add(tensor)  # a tuple has no such method, and would grow
    return result

#: differentiable: a leaf with the size of the tensor and numbers of float32
def differentiable(tensor):
    return T.ones(tuple(tensor.size())).requires_grad_()

#: numbers_of: the sum of a gradient, for tensors of any size
def numbers_of(gradient):
    return None if gradient is None else gradient.sum().item()

#: raised_by: the error that a function raises, or None
def raised_by(function):
    try:
        function()
    except RuntimeError as error:
        return error
    return None

#: check_graph_identity: a node has one wrapper, and a leaf one accumulator (A1c)
#> check_graph_identity: checks
def check_graph_identity(tensor):
    with T.enable_grad():
        leaf = differentiable(tensor)
        first, second = leaf * 2, leaf * 3
    if in_hermetic():
        return
    assert first.grad_fn is first.grad_fn, "A1c: one node has two wrappers"
    accumulator = first.grad_fn.next_functions[0][0]
    assert accumulator is second.grad_fn.next_functions[0][0], "A1c: a leaf has two accumulators"
    assert accumulator.variable is leaf, "A1c: the leaf of an accumulator has another wrapper"
    assert leaf.grad_fn is None, "A1c: a leaf has a node"

#: check_saved_version: what was written since it was saved says so (A2b)
#> check_saved_version: checks
def check_saved_version(tensor):
    with T.enable_grad():
        leaf = differentiable(tensor)
        other, alias = T.ones(tuple(leaf.size())), T.ones(tuple(leaf.size()))
        view = alias.view(-1)
        product, second, result = leaf * other, leaf * alias, (leaf * 1).relu()
        other.add_(1)
        view.add_(1)
        with T.no_grad():
            result.add_(1)
        for written in (product, second, result):
            assert raised_by(written.sum().backward) is not None, "A2b: a write was not noticed"
        third, unseen = leaf * other, leaf * alias
        other.data.add_(1)
        for written in (third, unseen):
            assert raised_by(written.sum().backward) is None, "A2b: a write through .data was seen"

#: check_hook_order: hooks run once, in the contract's order (A3a, A3b)
#> check_hook_order: checks
def check_hook_order(tensor):
    log = []
    with T.enable_grad():
        leaf = differentiable(tensor)
        product = leaf * 3
        product.grad_fn.register_prehook(lambda *_: log.append("pre-hook"))
        product.grad_fn.register_hook(lambda *_: log.append("post-hook"))
        product.register_hook(lambda _: log.append("first"))
        product.register_hook(lambda _: log.append("second"))
        leaf.register_hook(lambda _: log.append("leaf"))
        product.sum().backward()
        order = ["first", "second", "pre-hook", "post-hook", "leaf"]
        assert log == order, f"A3a: hooks ran as {log}"
        used, unused = fn("no_zeros", "pair").apply(leaf)
        seen = []
        unused.register_hook(seen.append)
        used.sum().backward()
    assert seen == [None], f"A3b: the hook of a tensor without a gradient got {seen}"

#: check_hook_removal: a run calls the hooks that were there when it began (A3c)
#> check_hook_removal: checks
def check_hook_removal(tensor):
    log, handles = [], []
    def first(*gradients):
        log.append("first")
        for handle in handles:
            handle.remove()
        registers(lambda *_: log.append("added"))
    with T.enable_grad():
        leaf = differentiable(tensor)
        for owner in (lambda: leaf.register_hook, lambda: total.grad_fn.register_hook,
                      lambda: getattr(total.grad_fn, "register_prehook", leaf.register_hook)):
            total = (leaf * 1).sum()
            registers = owner()
            log.clear()
            handles[:] = registers(first), registers(lambda *_: log.append("second"))
            total.backward(retain_graph=True)
            assert log == ["first", "second"], f"A3c: the first run called {log}"
            total.backward(retain_graph=True)
            assert log == ["first", "second", "added"], f"A3c: both runs called {log}"
            leaf._backward_hooks = None

#: check_hooks_set: hooks that are set as they are run once for each gradient (A3b)
#> check_hooks_set: checks
def check_hooks_set(tensor):
    log = []
    with T.enable_grad():
        for tensor in (differentiable(tensor), differentiable(tensor) * 1):
            log.clear()
            tensor.register_hook(lambda _: log.append("ran"))
            tensor._backward_hooks = tensor._backward_hooks
            tensor.sum().backward()
            tensor._backward_hooks = None
            assert log == ["ran"], f"A3b: a hook that was set again ran {len(log)} times"

#: check_hook_raises: an error comes out as it is, and leaves nothing behind (A3d, A5c)
#> check_hook_raises: checks
def check_hook_raises(tensor):
    def fail(gradient):
        raise KeyError("mine")
    with T.enable_grad():
        leaf = differentiable(tensor)
        handle = leaf.register_hook(fail)
        product = leaf * leaf
        try:
            product.sum().backward(retain_graph=True)
        except KeyError:
            handle.remove()
            assert T.is_grad_enabled(), "A5c: an error changed the mode"
            product.sum().backward()
            assert numbers_of(leaf.grad) == 2 * leaf.numel(), "A5c: a gradient after an error"
        else:
            assert leaf.numel() == 0, "A3d: an error in a hook is lost"

#: check_hook_collected: hooks of a node survive while the graph lives (A3f)
#> check_hook_collected: collects checks
def hook_itself(node, log):
    node.register_hook(lambda *_: (node, log.append("itself")) and None)
def check_hook_collected(tensor):
    log = []
    with T.enable_grad():
        leaf = differentiable(tensor)
        product = leaf * 2
        total = (product + 1).sum()
        gc.collect()  # the next collection does not look at `total`, which also owns the node
        product.grad_fn.register_hook(lambda *_: log.append("node"))
        garbage = product + 2
        garbage.me = garbage
        del product, garbage
        gc.collect(0)
        gc.collect()
        total.backward()
    assert log == ["node"], "A3f: a hook is lost"
    with T.enable_grad():
        product = differentiable(tensor) * 2
        hook_itself(product.grad_fn, log)
        total = product.sum()
        del product
        gc.collect()
        total.backward()
    assert log == ["node", "itself"], "A3f: a hook that holds its node is lost"

#: check_hook_rebased: hooks stay with the value that they were put on (A3g)
#> check_hook_rebased: checks
def check_hook_rebased(tensor):
    log = {}
    with T.enable_grad():
        leaf = differentiable(tensor)
        product = leaf * 1
        product.register_hook(lambda gradient: log.update(old=numbers_of(gradient)))
        product.mul_(3)
        product.register_hook(lambda gradient: log.update(new=numbers_of(gradient)))
        product.sum().backward()
    size = leaf.numel()
    assert log == {"new": size, "old": 3 * size}, f"A3g: hooks of {size} numbers saw {log}"

#: check_integer_data: what requires a gradient takes no integers for its data (A7)
#> check_integer_data: checks
def check_integer_data():
    with T.enable_grad():
        base = T.ones(4)
        former_view = base[1:3]
        base.requires_grad_()
        result = base * 2
        for name, one in {"leaf": base, "view": base[1:3], "result": result,
                          "view of a result": result[1:], "view that was made before": former_view,
                          }.items():
            for numbers in (T.ones(2, dtype=T.int64), T.ones(2, dtype=T.uint8)):
                try:
                    one.data = numbers
                except RuntimeError:
                    pass
                assert not one.requires_grad or one.dtype == T.float32, (
                    f"A7: a {name} requires a gradient, and has numbers of {one.dtype}")

#: check_gradients_given: a .grad shares no byte with what a backward was given (A7)
#> check_gradients_given: checks
def check_gradients_given():
    with T.enable_grad():
        leaf = T.ones(2).requires_grad_()
        result = leaf * 1
        result.retain_grad()
        for name, one in {"leaf": leaf, "result": result, "view": result.view(-1)}.items():
            one.retain_grad()
            given, heard = T.ones(2), []
            handle = one.register_hook(heard.append)
            for backwards in (1, 2):
                one.backward(given, retain_graph=True)
                one.grad.fill_(5)
                both = given.tolist(), heard[-1].tolist()
                assert both == ([1, 1], [1, 1]), (
                    f"A7: after backward {backwards}, a write to .grad of the {name} made {both}")
            handle.remove()
            del one.grad

#: check_retained: a result that is written retains the gradient of its last value (A3g)
#> check_retained: checks
retained_writes = {
    "mul_": lambda one: one.mul_(2),
    "relu_": lambda one: one.relu_(),
    "copy_": lambda one: one.copy_(T.ones(3)),
    "a slice that is assigned": lambda one: one.__setitem__(slice(0, 1), 3),
    "mul_ of a view": lambda one: one.view(-1).mul_(2),
    "mul_ of a slice": lambda one: one[0:1].mul_(2),
    "a Function": lambda one: fn("write_input", "x", "doubles", "mark_input").apply(one),
    "a Function of a view":
        lambda one: fn("write_input", "x", "doubles", "mark_input").apply(one.view(-1))}
def check_retained():
    with T.enable_grad():
        for name, write in retained_writes.items():
            for origin, is_view in (("", False), ("a second ", False), ("", True)):
                leaf = T.ones(3).requires_grad_()
                base = fn("nothing", "pair").apply(leaf)[1] if origin else leaf * 1
                retained = base.view(-1) if is_view else base
                retained.retain_grad()
                write(base)
                (retained * 5).sum().backward()
                found = None if retained.grad is None else retained.grad.tolist()
                said = f"{origin or 'the '}{'view' if is_view else 'result'} that {name} wrote"
                assert found == [5, 5, 5], f"A3g: {said} retains the gradient {found}"
