"""Lines about the gradients of leaves, and about writes to elements that share memory."""

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

#: check_leaf_found: grad() finds a leaf whose data was replaced, if backward() does (A7)
#> check_leaf_found: checks
def check_leaf_found(replace):
    with T.enable_grad():
        leaf = differentiable(T.ones(1))
        result = (leaf * 2).sum()
        with T.no_grad():
            replace(leaf)
        is_found = raised_by(lambda: T.autograd.grad(result, leaf, retain_graph=True)) is None
        if raised_by(result.backward) is None:
            assert is_found == (leaf.grad is not None), (
                f"A7: backward() has filled the .grad of a leaf: {not is_found};"
                f" grad() finds the leaf: {is_found}")

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

#: check_freed: what nodes save is freed after a backward that does not keep it (A2a)
#> check_freed: checks
def written_in_part(x, write):
    base = x.clone()
    write(base.view(-1)[:1])
    return base
saving = {
    "a product": lambda x: x * x, "a product in place": lambda x: x.clone().mul_(x),
    "what is scaled": lambda x: x * T.ones(tuple(x.size())),
    "a part of what relu() gives": lambda x: x.relu()[...],
    "a part that is scaled": lambda x: written_in_part(x, lambda part: part.mul_(T.ones(1))),
    "a part that relu_() wrote": lambda x: written_in_part(x, lambda part: part.relu_()),
    "a part of a part": lambda x: written_in_part(x, lambda part: part[:1].mul_(T.ones(1))),
}
def check_freed(tensor):
    with T.enable_grad():
        leaf = differentiable(tensor)
        for name, compute in saving.items() if leaf.numel() else ():
            total = compute(leaf).sum()
            for keeps in (True, False):
                error = raised_by(lambda: total.backward(retain_graph=keeps))
                assert error is None, f"A2a: {name} has no backward: {type(error).__name__}"
            assert raised_by(total.backward) is not None, f"A2a: {name} ran again, though freed"
        plain = (leaf + leaf).sum()
        for _ in range(2):
            assert raised_by(plain.backward) is None, "A2a: nodes that save nothing did not run"

#: check_gradient_fits, fitting, unfit_gradients: a hook gives what fits, or an error (A3d, M7)
#> check_gradient_fits: checks
class Twice(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2
def stale_view(x):
    base = x * 1
    view = base.view(-1)
    base.mul_(2)
    return view
def written_by(part, write):
    def compute(x):
        base = x * 1
        write(part(base))
        return base
    return compute
fitting = {
    "product": lambda x: x * x, "sum_of_two": lambda x: x + x, "sum": lambda x: x.sum(),
    "clone": lambda x: x.clone(), "relu": lambda x: x.relu(), "view": lambda x: x.view(-1),
    "relu_in_place": written_by(lambda base: base, lambda part: part.relu_()),
    "turned": lambda x: x.t(), "expanded": lambda x: x.expand(2, 2, 3), "row": lambda x: x[0],
    "rest": lambda x: x[1:], "strided": lambda x: x.as_strided((2, 2), (1, 1)),
    "negative": lambda x: x._neg_view(), "function": Twice.apply,
    "part": written_by(lambda base: base[0:1], lambda part: part.mul_(2)),
    "filled": written_by(lambda base: base, lambda part: part.fill_(2)),
    "copied": lambda x: T.zeros(2, 3).copy_(x), "stale": stale_view,
}
fitting_hooks = {
    "hook": lambda x, y, g: y.register_hook(lambda gradient: g),
    "prehook": lambda x, y, g: y.grad_fn.register_prehook(lambda gradients: (g,)),
    "leaf": lambda x, y, g: x.register_hook(lambda gradient: g),
    "before_leaf": lambda x, y, g: (x * 1).grad_fn.next_functions[0][0].register_prehook(
        lambda gradients: (g,)),
}
unfit_gradients = {
    "5": lambda size: T.ones(5), "0": lambda size: T.ones(0), "1": lambda size: T.ones(1),
    "2, 2, 3": lambda size: T.ones(2, 2, 3), "1, 2, 3": lambda size: T.ones(1, 2, 3),
    "float64": lambda size: T.ones(size, dtype=T.float64),
    "int64": lambda size: T.ones(size, dtype=T.int64),
    "uint8": lambda size: T.ones(size, dtype=T.uint8),
    "bool": lambda size: T.ones(size, dtype=T.bool),
    "complex64": lambda size: T.ones(size, dtype=T.complex64),
    "meta": lambda size: T.ones(size, device="meta"),
    "fake": lambda size: FakeTensorMode().from_tensor(T.ones(size)),
}
def check_gradient_fits(name, hook, given):
    if given == "fake" and not is_slotcore:
        return  # PyTorch refuses it by an AssertionError
    with T.enable_grad():
        leaf = T.ones(2, 3).requires_grad_()
        result = fitting[name](leaf)
        hooked = result if hook in ("hook", "prehook") else leaf
        wrong = unfit_gradients[given](tuple(hooked.size()))
        if not hasattr(result.grad_fn, "register_prehook") or (
                given[0].isdigit() and wrong.size() == hooked.size()):
            return
        kept = fitting_hooks[hook](leaf, result, wrong)
        error = raised_by(lambda: result.backward(T.ones(tuple(result.size()))))
    if is_slotcore:
        assert error is not None, f"A3d: a backward takes what a hook of a {name} gives: {given}"
    if leaf.grad is not None:
        kinds = [(one.size(), one.dtype, one.device) for one in (leaf.grad, leaf)]
        assert kinds[0] == kinds[1], f"A3d: by a hook of a {name} a leaf has another .grad: {given}"
    kept.remove()

#: check_unpacked: what an unpack hook gives, whatever it is, ends no process (A2e)
#> check_unpacked: checks
class SavingOne(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1
    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0]
unpacking = {
    "product": lambda x: x * x, "relu": lambda x: x.relu(), "function": SavingOne.apply,
    "relu_in_place": lambda x: (x * 1).relu_(), "product_in_place": lambda x: (x * 1).mul_(x),
}
def check_unpacked(name, given):
    if given == "fake" and not is_slotcore:
        return  # PyTorch refuses it by an AssertionError
    hooks = T.autograd.graph.saved_tensors_hooks
    with T.enable_grad():
        leaf, seed = T.ones(2).requires_grad_(), T.ones(2).requires_grad_()
        with hooks(lambda one: one, lambda packed: unfit_gradients[given](2)):
            result = unpacking[name](leaf)
        raised_by(result.sum().backward)
        if leaf.grad is not None:
            found = leaf.grad.size(), leaf.grad.dtype
            assert found == ((2,), leaf.dtype), f"A3d: a leaf has a gradient of {found}"
        result = unpacking[name](leaf)
        with hooks(lambda one: one, lambda packed: unfit_gradients[given](2)):
            gradient, = T.autograd.grad(result, leaf, seed, create_graph=True)
        raised_by(lambda: T.autograd.grad(gradient.sum(), seed, allow_unused=True))

#: check_gradient_shared [slotcore]: who changes a gradient that others get is an error there (A3d)
#> check_gradient_shared: checks
class Changing(T.autograd.Function):
    @staticmethod
    def forward(ctx, x, change):
        ctx.change = change
        return x * 1
    @staticmethod
    def backward(ctx, gradient):
        ctx.change(gradient)
        return None, None
def change_by_hook(x, change):
    result = x * 1
    result.grad_fn.register_hook(lambda found, given: change(given[0]))
    return result
changed_gradients = {
    "resized": lambda g: g.resize_(7), "shrunk": lambda g: g.resize_(1),
    "set": lambda g: g.set_(T.ones(5)), "data": lambda g: setattr(g, "data", T.ones(5)),
    "bool": lambda g: setattr(g, "data", T.ones(tuple(g.size()), dtype=T.bool)),
    "meta": lambda g: setattr(g, "data", T.ones(tuple(g.size()), device="meta")),
}
def check_gradient_shared(name, who, how):
    def change(gradient):
        changed_gradients[how](gradient)
    with T.enable_grad():
        leaf = T.ones(2, 3).requires_grad_()
        result = fitting[name](leaf)
        other = {"function": Changing.apply, "hook": change_by_hook}[who](
            result.detach().requires_grad_(), change)
        raised_by(lambda: (result + other).backward(T.ones(tuple(result.size()))))
    kinds = [(one.size(), one.dtype, one.device) for one in (leaf, leaf.grad) if one is not None]
    assert kinds == kinds[:1] * len(kinds), f"A3d: a leaf has another .grad: a {who} changed it"
