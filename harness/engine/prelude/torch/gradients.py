"""What lines may call about `.grad`, hooks and Functions that PyTorch alone has."""

#: check_gradients_apart [torch]: no two leaves have gradients in the same bytes (A7)
#> check_gradients_apart: checks
def check_gradients_apart(function):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        one, other = T.ones(1, 4).requires_grad_(), T.ones(4, 1).requires_grad_()
        function(one, other).sum().backward()
    assert not shares_bytes(one.grad, other.grad), (
        "A7: a backward gives two leaves one gradient, so that a write to one changes both")

#: hooked_together [torch]: a leaf and a root, of whose graph several tensors have a hook in common
def hooked_together(chosen, mode, hook):
    leaf = T.ones(1).requires_grad_()
    inner = leaf * 2
    root = inner * 3
    T.autograd.graph.register_multi_grad_hook(chosen(leaf, inner, root), hook, mode=mode)
    return leaf, root

#: check_hooks_together [torch]: a hook of several tensors runs once in each backward (A3b)
#> check_hooks_together: checks
def check_hooks_together(chosen, mode):
    if in_hermetic():
        return
    ran = []
    with T.inference_mode(False), T.enable_grad():
        _, root = hooked_together(chosen, mode, lambda *gradients: ran.append(gradients))
        root.backward()
    assert len(ran) == 1, f"A3b: a hook of several tensors ran {len(ran)} times in one backward"

#: check_hooks_in_grad [torch]: a hook of several tensors hinders no grad() (A3b)
#> check_hooks_in_grad: checks
def check_hooks_in_grad(chosen, mode):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        leaf, root = hooked_together(chosen, mode, lambda *gradients: None)
        error = raised_by(lambda: T.autograd.grad(root, leaf))
    assert error is None, f"A3b: where several tensors have a hook, grad() raises {error}"

#: check_hook_of_leaf [torch]: the hook of a tensor runs in each run that needs its gradient (A3b)
#> check_hook_of_leaf: checks
def check_hook_of_leaf(run):
    if in_hermetic():
        return
    ran = []
    with T.inference_mode(False), T.enable_grad():
        leaf = T.ones(1).requires_grad_()
        inner = leaf * 2
        leaf.register_hook(lambda gradient: ran.append("leaf"))
        inner.register_hook(lambda gradient: ran.append("inner"))
        run(inner * 3, leaf)
    assert ran == ["inner", "leaf"], f"A3b: of the hooks of two tensors ran {ran}"

#: check_checkpoint_freed [torch]: a checkpoint leaves nothing of what a Function has saved (A4a)
#> check_checkpoint_freed: collects checks
def call_in_checkpoint(saved, returned):
    made = []
    class SavesParts(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            parts = {"x": x, "y": x * 2, "z": T.zeros(2)}
            made.extend(weakref.ref(part) for part in parts.values())
            ctx.save_for_backward(*(parts[name] for name in saved))
            return tuple(parts[name] for name in returned)
        @staticmethod
        def backward(ctx, *gradients):
            ctx.saved_tensors
    leaf = T.ones(2).requires_grad_()
    first = lambda leaf: SavesParts.apply(leaf * 1)[0]
    by_checkpoint(first, leaf, use_reentrant=False).sum().backward()
    return made
def check_checkpoint_freed(saved, returned):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        made = call_in_checkpoint(saved, returned)
    collect_all()
    left = sum(one() is not None for one in made)
    assert left == 0, f"A4a: a checkpoint of a Function leaves {left} of {len(made)} tensors"

#: check_recomputed_in [torch]: a checkpoint computes again in the mode that it was in (A10)
#> check_recomputed_in: checks
def modes_here(tensor):
    product, made = tensor[None] @ T.ones(2, 1, device="cpu"), T.ones(1)
    dispatch = __import__("torch.utils._python_dispatch", fromlist=["_"])
    modes = len(dispatch._get_current_dispatch_mode_stack())
    return f"{modes} modes", str(product.dtype), str(made.device)
def check_recomputed_in(mode):
    if in_hermetic():
        return
    seen = []
    def function(leaf):
        seen.append(modes_here(leaf))
        return leaf.exp().exp()
    with T.inference_mode(False), T.enable_grad():
        leaf = T.ones(2).requires_grad_()
        by_checkpoint(T.exp, leaf, use_reentrant=False)  # the first call imports modules
        with mode():
            total = by_checkpoint(function, leaf, use_reentrant=False).sum()
        total.backward()
    assert seen[0] == seen[-1], f"A10: a checkpoint ran in {seen[0]} first, and in {seen[-1]} again"

#: check_dirty_refused [torch]: a Function may not write to a view of a leaf (A7)
#> check_dirty_refused: checks
class Doubled(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)
    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2
def check_dirty_refused():
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        leaf = T.ones(2, 3).requires_grad_()
        try:
            Doubled.apply(leaf.view(6))
        except RuntimeError:
            return
    assert leaf.is_leaf, "A7: a Function has written to a view of a leaf, which is no leaf any more"

#: LONG_CHAIN, USUAL_STACK_BYTES [torch]: more steps than a recursion has room for on such a stack
LONG_CHAIN, USUAL_STACK_BYTES = 100_000, 1 << 23

#: long_links, check_long_chain [torch]: a chain of 100,000 objects is freed on a usual stack (P6)
#> check_long_chain: starts_thread collects finalizes checks
long_links = {name: deep_links[name] for name in ("slot", "attribute", "buffer", "death")}
if hasattr(T.Tensor, "untyped_storage"):
    long_links |= {name: deep_links[name] for name in ("storage", "storage_slot")}
def freed_chain(link):
    with T.inference_mode(False):
        chain = T.ones(2)
        chain.first = new_sentinel()
        first = weakref.ref(chain.first)
        for _ in range(LONG_CHAIN):
            chain = link(chain)
    del chain
    gc.collect()
    return first
def check_long_chain(name):
    if in_hermetic() or name not in long_links:
        return
    first = on_small_stack(lambda: freed_chain(long_links[name]), USUAL_STACK_BYTES)
    assert first() is None, f"P6: a chain by {name} is not freed"

#: graph_links, check_long_graph [torch]: a graph of 100,000 steps is freed on a usual stack (P6)
#> check_long_graph: starts_thread checks
def link_by_rows(former):
    former[0].mul_(2)
    return former
graph_links = {"product": deep_links["graph"], "hook": deep_links["hook"], "rows": link_by_rows,
               "in_place": lambda former: former.mul_(2)}
def freed_graph(link):
    with T.inference_mode(False), T.enable_grad():
        leaf = T.ones(2).requires_grad_()
        known, last = weakref.ref(leaf), leaf * 1
        for _ in range(LONG_CHAIN):
            last = link(last)
    del leaf, last
    return known
def check_long_graph(name):
    if in_hermetic():
        return
    known = on_small_stack(lambda: freed_graph(graph_links[name]), USUAL_STACK_BYTES)
    assert known() is None, f"P6: a graph by {name} is not freed"

#: check_raw_saved [torch]: what a node saved, taken from it, says that it was freed (A2a)
#> check_raw_saved: checks
def raw_saved_by(node):
    found = [getattr(node, name) for name in dir(node) if name.startswith("_raw_saved")]
    return [raw for one in found for raw in (one if isinstance(one, (tuple, list)) else [one])]
def check_raw_saved(end):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        leaf = T.ones(2).requires_grad_()
        result = leaf * leaf
        raws = raw_saved_by(result.grad_fn)
        if end == "run":
            result.sum().backward()
        del result
        taken = [leaf * leaf for _ in range(50)]  # the memory that was freed
    for raw in raws:
        try:
            said = raw.register_hooks(lambda saved: saved, lambda packed: packed)
        except RuntimeError as error:
            said = error
        assert "freed" in str(said), "A2a: what a node that is gone has saved says nothing of it"
    del taken
