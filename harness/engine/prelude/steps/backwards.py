"""What lines about backward() and grad() may call: all forms of their arguments, beside weights.

The graph is linear and its tensors have equal elements, so the gradient of a tensor is a number:
the sum, over roots, of the root's gradient times the weight of the paths between the two.
"""

#: Mixing: a Function of two arguments and two results
class Mixing(T.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * 3 + y, y * 5
    @staticmethod
    def backward(ctx, of_first, of_second):
        return of_first * 3, of_first + of_second * 5

#: MixedGraph: tensors by name, and of each what leads to it with which weight
class MixedGraph:
    weights = {
        "a": {"a": 1}, "b": {"b": 1}, "c": {"c": 1, "a": 2},
        "first": {"first": 1, "c": 3, "a": 6, "b": 1},
        "second": {"second": 1, "c": 0, "a": 0, "b": 5},
        "view": {"view": 1, "first": 1, "c": 3, "a": 6, "b": 1},
        "sum": {"sum": 1, "second": 1, "c": 1, "a": 2, "b": 5},
        "number": {"number": 1, "c": 1, "a": 2}, "other": {"other": 1}, "constant": {},
    }
    def __init__(self):
        a, b, other = (T.ones(2).requires_grad_() for _ in range(3))
        c = a * 2
        first, second = Mixing.apply(c, b)
        self.tensors = {
            "a": a, "b": b, "c": c, "first": first, "second": second, "view": first.view(-1),
            "sum": second + c, "number": c.sum(), "other": other, "constant": T.ones(2)}

#: given_gradients: for each tensor what it is given, and the number that this is or an error
def ones_like_root(tensor, **how):
    return T.ones(tuple(tensor.size()), **how)
given_gradients = {
    "ones": lambda one: (ones_like_root(one), 1),
    "twos": lambda one: (ones_like_root(one) + 1, 2),
    "none": lambda one: (None, 1 if one.dim() == 0 else RuntimeError),
    "wide": lambda one: (T.ones(3), RuntimeError), "list": lambda one: ([1.0], TypeError),
    "number": lambda one: (1.0, TypeError),
    "expanded": lambda one: (T.ones(1).view(()).expand(tuple(one.size())), 1),
    "double": lambda one: (ones_like_root(one, dtype=T.float64), 1),
    "complex": lambda one: (ones_like_root(one, dtype=T.complex64), RuntimeError),
    "leaf": lambda one: (ones_like_root(one).requires_grad_(), 1),
}

#: backward_kinds: how a backward is asked for, with roots, their gradients and the inputs
def asked_backward(roots, gradients, inputs, **how):
    T.autograd.backward(roots, gradients, inputs=inputs or None, **how)
def asked_gradients(roots, gradients, inputs, **how):
    return T.autograd.grad(roots, inputs, gradients, **how)
def asked_by_method(roots, gradients, inputs):
    for root, gradient in zip(roots, gradients):
        root.backward(gradient, inputs=inputs or None, retain_graph=True)
backward_kinds = {
    "backward": asked_backward, "method": asked_by_method, "grad": asked_gradients,
    "unused": lambda *all: asked_gradients(*all, allow_unused=True),
    "create": lambda *all: asked_backward(*all, create_graph=True),
    "retain": lambda *all: asked_gradients(*all, retain_graph=True),
}

#: expected_of_backward: the error that a call must raise, or the number that each tensor gets
def expected_of_backward(graph, how, roots, numbers, inputs):
    is_grad = how in ("grad", "unused", "retain")
    errors = [number for number in numbers if isinstance(number, type)]
    if errors or "constant" in [*roots, *inputs] or is_grad and not inputs:
        return (*errors, RuntimeError)[0], {}
    found = {}
    for root, number in zip(roots, numbers):
        for name, weight in graph.weights[root].items():
            found[name] = found.get(name, 0) + weight * number
    wanted = inputs or [name for name in ("a", "b", "other") if name in found]
    if how in ("grad", "retain") and any(name not in found for name in wanted):
        return RuntimeError, {}
    return None, {name: found[name] for name in wanted if name in found}

#: check_backward_asked: what a call of backward() or grad() raises or gives (A7, A3d)
#> check_backward_asked: checks
def check_backward_asked(how, gradient, roots, inputs):
    if in_hermetic():
        return
    with T.enable_grad():
        graph = MixedGraph()
        roots, inputs = roots.split(), inputs.split()
        given = [given_gradients[gradient](graph.tensors[name]) for name in roots]
        wrong, expected = expected_of_backward(
            graph, how, roots, [number for _, number in given], inputs)
        error, results = None, None
        try:
            results = backward_kinds[how]([graph.tensors[name] for name in roots],
                                          [value for value, _ in given],
                                          [graph.tensors[name] for name in inputs])
        except (RuntimeError, TypeError, ValueError) as raised:
            error = raised
    names = f"{how} of {roots} to {inputs} by {gradient}"
    is_as_expected = (error is None) == (wrong is None)
    if is_slotcore and error is not None:  # torch does not promise a class
        is_as_expected = type(error) is wrong
    assert is_as_expected, f"A3d: {names} raises {type(error).__name__}"
    if error is not None:
        return
    if results is not None:
        gradients = [*zip(inputs, results)]
    else:
        gradients = [(name, one.grad) for name, one in graph.tensors.items()
                     if name in inputs or one.is_leaf]
    for name, found in gradients:
        hoped = None if name not in expected else [float(expected[name])] * (
            graph.tensors[name].numel())
        found_numbers = None if found is None else flat_numbers([found.tolist()])
        assert found_numbers == hoped, f"A7: {names}: {name} gets {found_numbers}, not {hoped}"
        is_constant = found is None or not found.requires_grad
        assert is_constant or how == "create" or gradient == "leaf", (
            f"A7: {names}: the gradient of {name} requires a gradient")

#: leaf_changes: what changes a leaf that has a hook; gives the tensor whose hook it is then
def exchanged(leaf):
    other = T.ones(2).requires_grad_()
    T.utils.swap_tensors(leaf, other)
    return other
def exchanged_with_hook(leaf):
    other = T.ones(2).requires_grad_()
    other.register_hook(lambda gradient: gradient * 5)
    T.utils.swap_tensors(other, leaf)
    return other
def given_data(leaf):
    leaf.data = T.ones(2) * 4
    return leaf
def set_to_other(leaf):
    with T.no_grad():
        return leaf.set_(T.ones(2))
leaf_changes = {
    "swap": exchanged, "swap with hook": exchanged_with_hook, "data": given_data,
    "set": set_to_other, "constant": lambda leaf: leaf.requires_grad_(False).requires_grad_(),
}

#: check_leaf_hooks: a hook goes with its leaf, beside a later one, until it is removed (A3a, A3f)
#> check_leaf_hooks: swaps checks
def check_leaf_hooks(change):
    if in_hermetic():
        return
    called = []
    with T.enable_grad():
        leaf = T.ones(2).requires_grad_()
        handle = leaf.register_hook(lambda gradient: called.append("first"))
        leaf = leaf_changes[change](leaf)
        leaf.register_hook(lambda gradient: called.append("second"))
        (leaf * 2).sum().backward()
        handle.remove()
        (leaf * 2).sum().backward()
    assert called == ["first", "second", "second"], (
        f"A3f: after {change} and a removal, two backward passes of a leaf call {called}")
