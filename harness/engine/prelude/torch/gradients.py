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

#: check_hooks_together [torch]: a hook of several tensors runs once in each backward (A3b)
#> check_hooks_together: checks
def check_hooks_together(chosen, mode):
    if in_hermetic():
        return
    ran = []
    with T.inference_mode(False), T.enable_grad():
        leaf = T.ones(1).requires_grad_()
        inner = leaf * 2
        root = inner * 3
        T.autograd.graph.register_multi_grad_hook(
            chosen(leaf, inner, root), lambda *gradients: ran.append(gradients), mode=mode)
        root.backward()
    assert len(ran) == 1, f"A3b: a hook of several tensors ran {len(ran)} times in one backward"

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
