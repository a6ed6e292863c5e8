"""First and second derivatives, compared with formulas and with differences of values."""

#: pairs_of_packed_derivatives [slotcore]: derivatives through what hooks have packed and unpacked
import itertools
def state_of_packed(tensor):
    return (tensor.requires_grad, tensor.grad_fn, tensor.grad, tensor._version, tensor.tolist())
def keep_packed(tensor, kept):
    """Notes in KEPT the state of what a pack hook returns: nothing may change it later."""
    kept.append((tensor, state_of_packed(tensor)))
    return tensor
def keep_marked(tensor, kept):
    """The same after the hook has asked for gradients of its own copy."""
    class_raised(tensor.requires_grad_)
    return keep_packed(tensor, kept)
def kinds_of_packed():
    """What a pack hook makes of the tensor t."""
    return expressions_of("t, kept", """
        keep_packed(t.detach(), kept)
        keep_packed(t.clone(), kept)
        keep_packed(T.tensor(t.tolist()), kept)
        t
        keep_packed(t.data, kept)
        keep_marked(t.clone(), kept)
        keep_packed(t._neg_view().clone()._neg_view(), kept)
        keep_packed(t.clone()[...], kept)""")
def places_in_graph():
    """A tensor that equals the leaf x, at other places of the graph."""
    return expressions_of("x", """
        x
        x * 1
        (x * 1)[:]
        x.view(2, 1).t()[0]
        T.ones(2) * x""")
def squares_of_written(tensor, weights):
    """The squares of TENSOR, which is weights * x, after a write has multiplied its second element
    by twice the weight: with the weights 2 and 5, they are 4 * x * x and 2500 * x * x."""
    tensor[1:].mul_(weights[1:] * 2)
    return tensor * tensor
class SavesInputAndResult(T.autograd.Function):
    @staticmethod
    def forward(ctx, tensor):
        weights = T.tensor([2.0, 5.0])  # is saved as well: neither an argument nor a result
        result = tensor * tensor * weights
        ctx.save_for_backward(tensor, weights, None, result)
        return result
    @staticmethod
    def backward(ctx, gradient):
        tensor, weights, _, _ = ctx.saved_tensors
        return gradient * tensor * weights * 2
def formulas_of_derivatives():
    """A result, its derivative and its second derivative, for each element x with the weight w;
    v is the factor of x * x in squares_of_written()."""
    return expression_rows("x, w, v", """
        x * w -> w -> 0
        w * x -> w -> 0
        x * x -> 2 * x -> 2
        x.relu() -> 1 -> 0
        x * x * x -> 3 * x * x -> 6 * x
        Legacy()(x) -> 2 * x -> 2
        (x * 1).relu_() * x -> 2 * x -> 2
        (x * 1).mul_(w) * x -> 2 * w * x -> 2 * w
        squares_of_written(x * w, w) -> 2 * x * v -> 2 * v
        x.clone().mul_(x * 1) -> 2 * x -> 2
        SavesInputAndResult.apply(x) -> 2 * x * w -> 2 * w
        x * 3 -> 3 -> 0""")
def derivatives_of(result, leaf):
    """The first and the second derivative by grad(), and the first by backward()."""
    def grad(tensor):
        total = (tensor + leaf * 0).sum()  # so that each result depends on the leaf
        return T.autograd.grad(total, leaf, create_graph=True)[0]
    first = grad(result)
    second = grad(first)
    result.sum().backward()
    gradient, leaf.grad = leaf.grad, None
    return first.tolist(), second.tolist(), gradient.tolist()
def check_packed_derivatives(formulas, place, pack):
    """Returns the number of the tensors that were packed as another tensor."""
    (compute, *derivatives), kept = formulas, []
    leaf, weights = T.tensor([3.0, 4.0]).requires_grad_(), T.tensor([2.0, 5.0])
    hooks = T.autograd.graph.saved_tensors_hooks(lambda t: pack(t, kept), lambda t: t)
    with hooks:
        result = compute(place(leaf), weights, None)
    where = f"of {compute.__name__} at {place.__name__}, packed as {pack.__name__}"
    elements = (3, 2, 4), (4, 5, 2500)
    first, second = ([one(*element) for element in elements] for one in derivatives)
    for by, found, expected in zip(("grad() gives the derivative", "grad() gives the second one",
                                    "backward() gives the gradient"),
                                   derivatives_of(result, leaf), (first, second, first)):
        assert found == expected, f"A2e: {by} {found}, not {expected}, {where}"
    del result, hooks
    for tensor, before in kept:
        after = state_of_packed(tensor)
        assert after == before, (
            f"A2e: (requires_grad, grad_fn, grad, version, numbers) of a packed tensor are {after}"
            f" after the graph has ended, and were {before}, {where}")
    return len(kept)
def pairs_of_packed_derivatives():
    places, packed = places_in_graph(), 0
    for (i, formulas), (j, pack) in itertools.product(
            enumerate(formulas_of_derivatives()), enumerate(kinds_of_packed())):
        packed += check_packed_derivatives(formulas, places[(i + j) % 5], pack)
    assert packed > 200, f"A2e: hooks have packed only {packed} tensors"

#: pairs_of_written_differences [slotcore]: gradients of writes to views are differences
import itertools
def triple_of(*numbers):
    return T.zeros(3, dtype=T.float64).copy_(T.tensor(numbers))
class PointOfDifferences:
    """Two vectors, and for each of them the direction of the derivatives. Each result is of degree
    two at most along it, and floats hold all values exactly, so that differences of values equal
    derivatives."""
    def __init__(self):
        self.vectors = triple_of(2, 3, 5), triple_of(7, 4, 6)
        self.directions = triple_of(.5, .25, 1), triple_of(1, .5, .125)
        self.weights = triple_of(1, 64, 4096)
    def moved(self, steps):
        return [at + along * steps for at, along in zip(self.vectors, self.directions)]
    def leaves(self):
        return [at.clone().requires_grad_() for at in self.vectors]
    def along(self, gradients):
        """The derivative in the direction, from the GRADIENTS of both vectors."""
        return sum((gradient * direction).sum()
                   for gradient, direction in zip(gradients, self.directions)
                   if gradient is not None)
def bases_to_write():
    """Tensors of three elements, of which some depend on x and y, and some on nothing."""
    return expressions_of("x, y, zeros", """
        x * 1
        zeros(6)[::2].detach()
        (x + y).view(3, 1).t()[0]
        fn().apply(x)
        (x * 1)._neg_view()
        zeros(3)._neg_view().detach()""")
def views_to_write():
    return expressions_of("t", """
        t
        t[1:]
        t.view(3, 1).t()
        t.view_as(t)._neg_view()[::2]""")
def writes_to_views():
    """Writes to the view v of a base; u is such a view of y, and s is a view of all of v."""
    return expressions_of("v, u, y, s", """
        v.mul_(u)
        v.add_(u)
        v.copy_(u)
        v.fill_(y[1])
        v.mul_(v.clone())
        v.relu_()
        v.mul_(3).add_(u)
        v.__setitem__(0, u[0])
        v.add_(s)
        v.copy_(s)
        v.fill_(7)""")
class WrittenCase:
    def __init__(self, make, view, write, point):
        self.make, self.view, self.write, self.point = make, view, write, point
    def weighted(self, x, y):
        """The base, the view, two other views, and a view of x after the write, with weights."""
        base = self.make(x, y, lambda size: T.zeros(size, dtype=T.float64))
        view, start, weights = self.view(base), base[:2], self.point.weights
        alias, of_alias = view[...], self.view(weights * 8)
        self.write(view, self.view(y), y, alias)
        return ((base, weights), (view, self.view(weights * 2)), (start, weights[:2] * 4),
                (alias, of_alias), (x[:1], weights[:1] * 0))
    def value(self, steps):
        return sum((tensor * weights).sum().item()
                   for tensor, weights in self.weighted(*self.point.moved(steps)))
    def derivative(self, leaves, create_graph=False):
        results, weights = zip(*(one for one in self.weighted(*leaves) if one[0].requires_grad))
        return self.point.along(
            T.autograd.grad(results, leaves, weights, None, create_graph, True))
    def second_derivative(self):
        leaves = self.point.leaves()
        first = self.derivative(leaves, True)
        total = first + leaves[0][0] * 0  # so that it depends on a leaf
        return self.point.along(T.autograd.grad([total], leaves, [None], None, False, True))
def check_written_case(case, is_second):
    below, above = case.value(-1), case.value(1)
    where = f"of {case.write.__name__} with v = {case.view.__name__} of t = {case.make.__name__}"
    found, expected = case.derivative(case.point.leaves()).item(), (above - below) / 2
    assert found == expected, f"A7: the derivative is {found}, not {expected}, {where}"
    if is_second:
        found, expected = case.second_derivative().item(), above - 2 * case.value(0) + below
        assert found == expected, f"A7: the second derivative is {found}, not {expected}, {where}"
def pairs_of_written_differences():
    point = PointOfDifferences()
    cases = itertools.product(bases_to_write(), views_to_write(), writes_to_views())
    for number, case in enumerate([*cases][::2]):
        check_written_case(WrittenCase(*case, point), number % 5 == 0)
