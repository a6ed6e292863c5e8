"""What lines about saved tensors and Functions may call: hooks that pack, calls, second runs."""

#: pair: hooks that pack and unpack a saved tensor
def unchanged(packed):
    return packed
def ends_mode(packed):
    T.autograd.graph.saved_tensors_hooks(unchanged, unchanged).__exit__()
    return packed
def exchanges_mode(packed):
    ends_mode(packed)
    T.autograd.graph.saved_tensors_hooks(unchanged, unchanged).__enter__()
    return packed
def leaves_modes(packed):
    import contextlib
    with contextlib.suppress(RuntimeError):
        ends_mode(packed)
    return packed
def drops(packed):
    value = packed.pop()
    stash.clear()
    return value
def stashed_pack(tensor):
    stash.append((tensor,))
    return stash[-1]
def failing(*_):
    raise KeyError("a hook of a saved tensor raises")
def collecting(packed):
    gc.collect()
    return packed
pairs = {
    "same": (unchanged, unchanged), "clones": (lambda x: x.clone(), lambda x: x.clone()),
    "lists": (lambda x: [x], lambda packed: packed[0]), "drops": (lambda x: [x], drops),
    "stashes": (stashed_pack, lambda packed: packed[0]), "leaves": (exchanges_mode, leaves_modes),
    "writes": (lambda x: x.mul_(2), lambda x: x), "raises": (unchanged, failing),
    "collects": (collecting, collecting), "ends": (ends_mode, unchanged),
}
def pair(name):
    return pairs[name]

#: check_packs: hooks pack what is saved once, and unpack it at each use; the inner ones do (A2e)
#> check_packs: checks
def check_packs(tensor):
    log = []
    def noting(name):
        return lambda tensor: log.append(name) or tensor.clone()
    def failing_pack(tensor):
        raise KeyError("a pack hook raises")
    hooks, other = T.autograd.graph.saved_tensors_hooks, differentiable(tensor)
    class SavesOther(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(other)
            return x * 2
        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]
    with T.enable_grad():
        leaf = differentiable(tensor)
        with hooks(failing_pack, failing_pack), hooks(noting("pack"), noting("unpack")):
            result, product, held = leaf.relu(), leaf * leaf, SavesOther.apply(leaf)
        assert log == ["pack"] * 4, f"A2e: four tensors were saved, and the hooks ran as {log}"
        held.grad_fn.saved_tensors, held.grad_fn.saved_tensors
        assert log[4:] == ["unpack"] * 2, f"A2e: two accesses, and the hooks ran as {log[4:]}"
        (result + product).sum().backward()
        assert log[6:] == ["unpack"] * 3, f"A2e: three uses, and the hooks ran as {log[6:]}"
        first, = T.autograd.grad(held.sum(), leaf, create_graph=True)
        assert raised_by(first.sum().backward) is None, "A2e: a packed leaf has left the graph"
    size = tensor.numel()
    assert numbers_of(leaf.grad) == 3 * size, "A7: a gradient through hooks of saved tensors"
    assert numbers_of(other.grad) == size, "A2e: a packed leaf gets another gradient"

#: check_packed_leaf: the hook of a leaf runs once, though a Function packed the leaf (A3b)
#> check_packed_leaf: checks
def check_packed_leaf(tensor):
    log = []
    with T.enable_grad():
        leaf = differentiable(tensor)
        leaf.register_hook(lambda gradient: log.append("hook"))
        with T.autograd.graph.saved_tensors_hooks(lambda one: one.clone(), lambda one: one):
            result = fn("save_input", "y", "saved").apply(leaf)
        result.sum().backward()
    assert log == ["hook"], f"A3b: a Function packed a leaf, whose one hook ran {len(log)} times"

#: check_unpacked_version: what a hook gives for a saved tensor keeps its own version (A2e)
#> check_unpacked_version: checks
def check_unpacked_version(changes):
    with T.enable_grad():
        leaf, other = T.ones(2).requires_grad_(), T.ones(2)
        for _ in range(changes):
            other.add_(1)
        with T.autograd.graph.saved_tensors_hooks(lambda one: other, lambda one: one):
            result = leaf * leaf
        read = getattr(result.grad_fn, "_saved_self", other)
        for _ in range(2):
            result.sum().backward(retain_graph=True)
    for given in (read, other):
        assert given._version == changes, (
            f"A2e: a tensor that a hook gives had version {changes}, and has {given._version}")

#: checkpointed [torch]: computes a tensor again in its backward
import torch.utils.checkpoint
def checkpointed(function, tensor):
    return torch.utils.checkpoint.checkpoint(function, tensor, use_reentrant=True)

#: Legacy [slotcore]: a Function whose instances are called
class Legacy(T.autograd.Function):
    def forward(self, x):
        self.save_for_backward(x)
        return x * x
    def backward(self, g):
        x, = self.saved_tensors
        return g * x * 2

#: check_hooks_left: hooks for saved tensors that are left in the midst of a call of one (A2e)
#> check_hooks_left: starts_thread checks
def hooks_left(point):
    heard, scopes = [], []
    def scope_of(name):
        def leave(where):
            if (name, where) == ("inner", point) and len(scopes) == 2:
                scopes.pop().__exit__(None, None, None)
        def pack(one):
            heard.append(name)
            leave("pack")
            return one
        def unpack(one):
            leave("unpack")
            return one
        return T.autograd.graph.saved_tensors_hooks(pack, unpack)
    with T.enable_grad():
        leaf = T.ones(2).requires_grad_()
        for name in ("outer", "inner"):
            scopes.append(scope_of(name))
            scopes[-1].__enter__()
        (leaf * leaf).sum().backward()
        leaf * leaf
        scopes.pop().__exit__(None, None, None)
        leaf * leaf
    return heard, leaf.grad.tolist()
def check_hooks_left(point):
    if in_hermetic():
        return
    heard, gradient = on_small_stack(lambda: hooks_left(point))  # hooks end with their thread
    # A backward may also end with the hooks with which it began.
    allowed = {"pack": ["iooo"], "unpack": ["iioo", "iiiioo"]}[point]
    names = "".join(name[0] for name in heard)
    assert names in allowed, f"A2e: hooks that were left in {point}: {heard} have packed"
    assert gradient == [2.0, 2.0], f"A2e: after hooks were left in {point} a gradient is {gradient}"

#: results_of_forward, check_saved_history: what forward saves has its history, whatever it returns
#> check_saved_history: checks
results_of_forward = {
    "argument": lambda argument: argument, "view": lambda argument: argument.view(-1),
    "detached": lambda argument: argument.detach(), "product": lambda argument: argument * 1,
}
def check_saved_history(name):
    if in_hermetic():
        return
    give = results_of_forward[name]
    class Saves(T.autograd.Function):
        @staticmethod
        def forward(ctx, argument):
            ctx.save_for_backward(argument)
            return give(argument)
        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.saved_tensors[0]
    with T.enable_grad():
        leaf = T.tensor([2.0]).requires_grad_()
        argument = leaf * 1
        history = argument.grad_fn
        result = Saves.apply(argument)
        saved = result.grad_fn.saved_tensors[0]
        assert saved.grad_fn is history, "A2a: what a Function saved has another history"
        first, = T.autograd.grad(result.sum(), leaf, create_graph=True)
        assert first.tolist() == [2.0], f"A7: the gradient of a Function is {first.tolist()}"
        second, = T.autograd.grad(first.sum(), leaf)
        assert second.tolist() == [1.0], f"A7: its second derivative is {second.tolist()}"

#: check_zeros_written: a backward writes the zeros of a missing gradient, and gets zeros again (A8)
#> check_zeros_written: checks
def check_zeros_written():
    class Two(T.autograd.Function):
        @staticmethod
        def forward(ctx, argument):
            return argument * 1, argument * 1
        @staticmethod
        def backward(ctx, gradient, missing):
            return missing.add_(gradient)
    with T.enable_grad():
        leaf = T.ones(2).requires_grad_()
        result, _ = Two.apply(leaf)
        for _ in range(2):
            found, = T.autograd.grad(result.sum(), leaf, retain_graph=True)
            assert found.tolist() == [1.0, 1.0], f"A8: a missing gradient gives {found.tolist()}"
