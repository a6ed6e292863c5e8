"""What lines about the gradients of leaves may call: sizes, and where gradients come from.

And writes to an expanded tensor, whose elements share memory.
"""

#: gradient_givers: where a wrong gradient for a product comes from; each returns the backward
def give_by_function(leaf, product, wrong):
    class Gives(T.autograd.Function):
        @staticmethod
        def forward(ctx, tensor):
            return tensor * 2
        @staticmethod
        def backward(ctx, gradient):
            return wrong
    return Gives.apply(leaf).sum().backward
def give_by_hook(leaf, product, wrong):
    product.register_hook(lambda gradient: wrong)
    return product.sum().backward
def give_by_leaf(leaf, product, wrong):
    leaf.register_hook(lambda gradient: wrong)
    return product.sum().backward
def give_by_node_hook(leaf, product, wrong):
    product.grad_fn.register_hook(lambda inputs, outputs: (wrong, *inputs[1:]))
    return product.sum().backward
def give_by_prehook(leaf, product, wrong):
    product.grad_fn.register_prehook(lambda outputs: (wrong,))
    return product.sum().backward
gradient_givers = {
    "caller": lambda leaf, product, wrong: lambda: product.backward(wrong),
    "grad": lambda leaf, product, wrong: lambda: T.autograd.grad(product, leaf, wrong),
    "assignment": lambda leaf, product, wrong: lambda: setattr(leaf, "grad", wrong),
    "function": give_by_function, "hook": give_by_hook, "leaf": give_by_leaf,
    "node_hook": give_by_node_hook, "prehook": give_by_prehook,
}

#: check_wrong_gradient: a gradient of a wrong size is an error, wherever it comes from (A3d, A7)
#> check_wrong_gradient: checks
def check_wrong_gradient(giver):
    with T.enable_grad():
        for size in ((3, 2), (6,), (1, 6), (2, 3, 1), (3,), (1, 3), (2, 2), (2, 1), (4, 3), (2, 0)):
            leaf = T.ones(2, 3).requires_grad_()
            product = leaf * 2
            backward = gradient_givers[giver](leaf, product, T.ones(*size))
            assert raised_by(backward) is not None and leaf.grad is None, (
                f"A3d: {giver} gives a tensor of (2, 3) a gradient of {size}")

#: check_gradient_count: as many gradients are given as there are tensors, or it is an error (A3d)
#> check_gradient_count: checks
gradient_counts = {
    "backward(y, [g, g])": lambda y, x, g: T.autograd.backward([y], [g, g]),
    "backward([y, y], [g])": lambda y, x, g: T.autograd.backward([y, y], [g]),
    "y.backward((g, g))": lambda y, x, g: y.backward((g, g)),
    "grad(y, x, [g, g])": lambda y, x, g: T.autograd.grad([y], [x], [g, g]),
    "grad([y, y], x, [g])": lambda y, x, g: T.autograd.grad([y, y], [x], [g]),
}
def check_gradient_count():
    with T.enable_grad():
        for name, give in gradient_counts.items():
            leaf, error = T.ones(2).requires_grad_(), None
            try:
                give(leaf * 2, leaf, T.ones(2))
            except (RuntimeError, TypeError) as raised:
                error = raised
            assert error is not None, f"A3d: {name} takes a wrong number of gradients"

#: check_leaf_replaced: a leaf whose data was replaced has a gradient of its own size (A7)
#> check_leaf_replaced: checks
def check_leaf_replaced(replace):
    if in_hermetic():
        return
    with T.enable_grad():
        leaf = T.ones(1).requires_grad_()
        held = leaf * 2  # its graph keeps the node that adds up the gradients of the leaf
        with T.no_grad():
            replace(leaf)
        error = raised_by((leaf * leaf).sum().backward)
    assert error is None, f"A7: a backward to a leaf whose data was replaced raises: {error}"
    found = leaf.grad.dtype, tuple(leaf.grad.size()), leaf.grad.tolist()
    expected = leaf.dtype, tuple(leaf.size()), leaf.detach().mul(2).tolist()
    assert found == expected, (
        f"A7: a leaf whose data was replaced has the gradient {found}, not {expected}")
    del held

#: check_shared_elements: a write to an expanded tensor is an error, or has its gradient (A7)
#> check_shared_elements: checks
def check_shared_elements(write):
    if in_hermetic():
        return
    gradients = []
    with T.enable_grad():
        for rows in (lambda row: row.expand(3, 2), lambda row: row.expand(3, 2).clone()):
            leaf = T.ones(2).requires_grad_()
            written = rows(leaf * 2)
            if raised_by(lambda: write(written)) is not None:
                return
            error = raised_by(written.sum().backward)
            assert error is None, f"A7: the backward of a write that was accepted raises: {error}"
            gradients.append(leaf.grad.tolist())
    shared, apart = gradients
    assert shared == apart, f"A7: a write to an expanded tensor has the gradient {shared}"

#: check_unreached: a backward to what a graph does not lead to runs nothing (A2a)
#> check_unreached: checks
def check_unreached():
    with T.enable_grad():
        plain = T.ones(2)
        former = plain.view(-1)  # without a node, since its base required no gradient
        leaf = plain.requires_grad_()
        for name, target, used in (("another leaf", T.ones(2).requires_grad_(), leaf),
                                   ("another result", T.ones(2).requires_grad_() * 2, leaf),
                                   ("a former view", former, former)):
            ran, result = [], fn("save_input").apply(used)
            if result.requires_grad:
                result.register_hook(ran.append)
                T.autograd.grad(result.sum(), target, allow_unused=True)
                assert not ran, f"A2a: a backward to {name} runs nodes that do not lead to it"

#: check_former_result: a result that becomes a leaf has the gradient of a leaf (A7)
#> check_former_result: checks
def check_former_result():
    with T.enable_grad():
        result = T.ones(1).requires_grad_() * 2
        result.retain_grad()
        result.detach_().requires_grad_()
        (result * 3).sum().backward()
    found = result.grad.tolist()
    assert found == [3], f"A7: a leaf that was a result has the gradient {found}, and not [3]"
