"""Gradients of leaves in each of many states, and through each of many operations."""

#: pairs_of_converted_gradients [slotcore]: a gradient of another type is converted, to any order
import itertools
def numbers_of_types():
    """A number of each type, for the operand that is no leaf."""
    return {T.bool: True, T.uint8: 3, T.int64: 5, T.float32: 1.5, T.float64: 2.5,
            T.complex64: 1 + 2j}
def pair_of(dtype, number):
    return T.zeros(2, dtype=dtype).fill_(number)
def results_of_types():
    """What is computed from x, its derivative, and the error that it raises for the dtypes of x
    and o: o is a tensor of another type, and has the number v in each element."""
    return expression_rows("x, o, v", """
        x * o -> v -> error_of_two(x, o)
        o * x -> v -> error_of_two(x, o)
        x + o -> 1 -> error_of_two(x, o)
        pair_of(o.dtype, 0).copy_(x) -> 1 -> None
        o.clone().add_(x) -> 1 -> error_of_write(o, x)
        o.clone().mul_(x) -> v -> error_of_write(o, x)
        x * v -> v -> error_of_number(x, o)
        v + x -> 1 -> error_of_number(x, o)
        x.clone().mul_(o) -> v -> error_of_write(x, o)
        x.clone().add_(v) -> 1 -> error_of_number(x, o) or error_if_lower(x, o)
        x * 1 + o[:1] -> 1 -> error_of_two(x, o)
        (x * o).sum() -> v -> error_of_two(x, o)
        x * x * o -> 2 * x * v -> error_of_two(x, o)
        o[:1] * x -> v -> error_of_two(x, o)
        x.expand(3, 2) * o -> 3 * v -> error_of_two(x, o)""")
def error_of_two(one, other):
    """No type of the core holds the numbers of both of these."""
    return RuntimeError if {one, other} == {T.float64, T.complex64} else None
def error_of_number(dtype, of_number):
    """Likewise for a number of Python, which has no size, so that complex64 can hold it."""
    return None if dtype is T.complex64 else error_of_two(dtype, of_number)
def error_if_lower(written, operand):
    """What is written in place keeps its type, and takes no numbers of a higher kind."""
    kinds = [0 if one in (T.bool, T.uint8, T.int64) else 1 + (one is T.complex64)
             for one in (written, operand)]
    return RuntimeError if kinds[0] < kinds[1] else None
def error_of_write(written, operand):
    return error_of_two(written, operand) or error_if_lower(written, operand)
def backwards_to_leaf():
    """Backwards with the gradient g, and how often each adds to the gradient of the leaf x."""
    rows = expression_rows("x, y, g", """
        y.backward(g) -> 1
        (y.backward(g, True), y.backward(g)) -> 2
        (y * 1).backward(g) -> 1
        y.backward(g, inputs=[x]) -> 1
        y.backward(g, None, True) -> 1""")
    return [(run, times(None, None, None)) for run, times in rows]
def result_of_types(leaf, compute, error, other, number):
    """What COMPUTE gives, if it can have a gradient; ERROR says which error it must raise."""
    found, where = [], f"{compute.__name__} with x of {leaf.dtype} and o of {other.dtype}"
    raised = class_raised(lambda: found.append(compute(leaf, other, number)))
    expected = error(leaf.dtype, other.dtype, number)
    assert raised is expected, f"A7: {where} raises {raised}, not {expected}"
    if raised:
        return None
    differentiable = found[0].dtype not in (T.bool, T.uint8, T.int64)
    assert found[0].requires_grad is differentiable, (
        f"A7: requires_grad is {not differentiable} after {where}")
    return found[0] if differentiable else None
def check_converted_gradient(leaf, row, other, number, backward, former):
    """LEAF has a gradient of FORMER in each element, unless that is None."""
    (compute, derivative, error), (run, times) = row, backward
    at, types = leaf.tolist()[0], []
    leaf.register_hook(lambda gradient: types.append(gradient.dtype))
    leaf.grad = None if former is None else pair_of(leaf.dtype, former)
    result = result_of_types(leaf, compute, error, other, number)
    if result is None:
        return
    where = (f"{run.__name__} of y = {compute.__name__}, with x of {leaf.dtype}, o of"
             f" {other.dtype} and the former gradient {former}")
    given = 3 - 2j if result.dtype is T.complex64 else 3
    run(leaf, result, result.detach().clone().fill_(given))
    total = given * complex(derivative(at, other, number)).conjugate() * times
    expected = (total if leaf.dtype is T.complex64 else total.real) + (former or 0)
    gradient, leaf.grad = leaf.grad, None
    assert set(types) == {leaf.dtype}, f"A7: a hook of x sees gradients of {types} in {where}"
    assert gradient.dtype is leaf.dtype, f"A7: x gets a gradient of {gradient.dtype} by {where}"
    assert gradient.tolist() == [expected] * 2, (
        f"A7: x gets the gradient {gradient.tolist()}, not {expected} in each element, by {where}")
def pairs_of_converted_gradients():
    leaves = {T.float32: 2.0, T.float64: 4.0, T.complex64: 3 - 1j}
    backwards, numbers = backwards_to_leaf(), numbers_of_types()
    for (i, row), (dtype, at), (j, (other, number)) in itertools.product(
            enumerate(results_of_types()), leaves.items(), enumerate(numbers.items())):
        leaf = pair_of(dtype, at).requires_grad_()
        check_converted_gradient(leaf, row, pair_of(other, number), number,
                                 backwards[(i + j) % 5], (None, 7)[(i + j) % 2])

#: pairs_of_leaf_states [slotcore]: each kind of leaf adds each backward to each former gradient
import itertools
def leaf_of(tensor):
    return tensor.detach().requires_grad_()
def leaf_swapped(base):
    leaf, other = leaf_of(base), T.zeros(1)
    T.utils.swap_tensors(leaf, other)
    return other
def leaf_with_new_data(base):
    """A leaf that had other sizes when a graph was made of it, which lives meanwhile."""
    leaf = leaf_of(T.ones(1))
    graph = leaf * 2
    leaf.data = base
    return leaf
def leaf_toggled(base):
    """A leaf that required no gradient for a while, beside a graph from before."""
    leaf = leaf_of(base)
    graph = leaf * 2
    leaf.requires_grad_(False)
    return leaf.requires_grad_()
def leaf_with_hooks(base):
    leaf = leaf_of(base)
    leaf.register_hook(lambda gradient: None)
    leaf.register_hook(lambda gradient: gradient)
    return leaf
def kinds_of_leaves():
    return expressions_of("b", """
        leaf_of(b)
        leaf_swapped(b)
        leaf_with_new_data(b)
        leaf_toggled(b)
        leaf_with_hooks(b)
        leaf_of(b.t()[::2])
        leaf_of(b[:1].expand(2, 3))
        T.nn.Parameter(b)
        leaf_of(b._neg_view())
        b.view(3, 2).requires_grad_()
        T.Tensor._make_subclass(TensorSub, b, True)
        leaf_of(b.t())""")
def former_gradients():
    """What `.grad` of a leaf of these sizes is before a backward."""
    return expressions_of("sizes", """
        None
        T.ones(*sizes)
        T.ones(*sizes)._neg_view()
        T.ones(*sizes[::-1]).t()
        leaf_of(T.ones(*sizes))""")
def backward_in_hook(tensor, gradient):
    leaf = leaf_of(T.ones(1))
    leaf.register_hook(lambda _: tensor.backward(gradient))
    leaf.sum().backward()
def backwards_of_leaves():
    """Backwards with the gradient g, and how often each adds to the gradient of the leaf x."""
    rows = expression_rows("x, y, g", """
        y.backward(g) -> 1
        (y.backward(g, True), y.backward(g)) -> 2
        T.autograd.backward([y, y], [g, g]) -> 2
        backward_in_hook(y, g) -> 1
        y.backward(g, inputs=[x]) -> 1
        y.backward(g, None, True) -> 1""")
    return [(run, times(None, None, None)) for run, times in rows]
def results_of_leaves():
    """What is computed from a leaf x, and its derivative."""
    return expression_rows("x", """
        x * 2 -> 2
        x * x -> 2 * x
        x.clone() * 2 -> 2
        Legacy()(x) -> 2 * x
        x.relu() -> x > 0
        x._neg_view() * 2 -> -2
        x.t().t() -> 1""")
def flat_list(tensor):
    return [number + 0 for row in tensor.tolist() for number in row]
def gradient_of_leaf(leaf, former, row, backward):
    """What the gradient of LEAF must be: its numbers, strides, requires_grad, and whether it is
    FORMER."""
    (compute, derivative), (run, times) = row, backward
    numbers = flat_list(leaf)
    sums = flat_list(former) if former is not None else [0] * len(numbers)
    sums = [one + times * derivative(number) * (number + 1)
            for one, number in zip(sums, numbers)]
    creates_graph = "None, True" in run.__name__
    requires = creates_graph and compute.__name__ in ("x * x", "Legacy()(x)")
    if former is not None:
        return sums, former.stride(), former.requires_grad or requires, not creates_graph
    # Expanded rows and every other column do not fill a range of memory.
    fills = leaf.stride() not in ((0, 1), (2, 3))
    return sums, leaf.stride() if fills else (leaf.size(1), 1), requires, False
def check_leaf_state(make, make_former, row, backward):
    leaf = make(T.tensor([[1.0, 2, 3], [4, 5, 6]]))
    former = make_former(leaf.shape)
    leaf.grad, expected = former, gradient_of_leaf(leaf, former, row, backward)
    backward[0](leaf, row[0](leaf), T.ones(*leaf.shape).add_(leaf.data))
    gradient, leaf.grad = leaf.grad, None
    found = (flat_list(gradient), gradient.stride(), gradient.requires_grad, gradient is former)
    assert found == expected, (
        "A7: (numbers, strides, requires_grad, is the former one) of the gradient are"
        f" {found}, not {expected}, for x = {make.__name__} with the former gradient"
        f" {make_former.__name__} after {backward[0].__name__} of y = {row[0].__name__}")
def pairs_of_leaf_states():
    rows = results_of_leaves()
    for i, (make, make_former, backward) in enumerate(itertools.product(
            kinds_of_leaves(), former_gradients(), backwards_of_leaves())):
        check_leaf_state(make, make_former, rows[i % len(rows)], backward)

#: pairs_of_layouts_of_bases [slotcore]: a gradient through views is by indices, not by memory
import itertools, math
def bases_of_views():
    """What is computed of a leaf x of 2 rows and 3 columns; elements may share a place."""
    return expressions_of("x", """
        x.expand(2, 2, 3)
        x[:1].expand(3, 3)
        x[1].expand(2, 3)
        x.select(1, 0).expand(4, 2)
        x.view(6)[::2].view(3, 1).expand(3, 2)
        x.as_strided((2, 2), (1, 1))
        x.as_strided((3, 2), (0, 2), 1)
        x.t()
        x.t().view(3, 2, 1)
        (x * 1).t()[1:]
        x._neg_view().t()""")
def views_of_bases():
    return expressions_of("b", """
        b
        b[0]
        b[-1]
        b[1:]
        b[:2]
        b[::2]
        b[...]
        b.select(-1, 0)
        b.narrow(-1, 1, 1)
        b.transpose(0, -1)
        b.expand(2, *b.shape)
        b.view(*b.shape, 1)
        b.view(-1)""")
def gradients_through(make, views):
    """The gradients of a base and its leaf, where each element of a view has a weight of its own;
    None if there is no such view."""
    x = T.tensor([[2.0, 3.0, 5.0], [7.0, 11.0, 13.0]]).requires_grad_()
    base = make(x)
    base.retain_grad()
    found = []
    if class_raised(lambda: found.append(views[1](views[0](base)))):
        return None
    count = math.prod(found[0].shape)
    weights = T.tensor([float(1 + place) for place in range(count)]).view(found[0].shape)
    (found[0] * weights).sum().backward()
    return base.grad.tolist(), x.grad.tolist()
def pairs_of_layouts_of_bases():
    asked, views = 0, [*itertools.product(views_of_bases(), repeat=2)]
    for place, make in enumerate(bases_of_views()):
        for pair in views[place % 3::3]:
            found = gradients_through(make, pair)
            if found is None:
                continue
            expected = gradients_through(lambda x: make(x).clone(), pair)
            asked += 1
            assert found == expected, (
                f"A7: the gradients of b and x through {pair[1].__name__} of {pair[0].__name__},"
                f" with b = {make.__name__}, are {found}, not {expected} as with a clone of b")
    assert asked > 300, f"A7: only {asked} pairs of views are asked"

#: pairs_of_exact_sums [slotcore]: a gradient is summed in its own type before it is converted
def sums_of_wider_gradients():
    """What broadcasts the leaf x to the sizes of w; a gradient of the result is one of x."""
    return expressions_of("x, w", """
        x * w
        w * x
        x + w
        w + x
        w.clone().mul_(x)
        w.clone().add_(x)
        (x * 1) * w
        x[...] + w
        x._neg_view()._neg_view() * w
        x * w[...]""")
def pairs_of_exact_sums():
    shapes = [((), (3,)), ((1,), (3,)), ((1, 1), (1, 3)), ((2, 1), (2, 3)), ((), (3, 2)),
              ((1, 2), (3, 2)), ((2,), (3, 2))]
    for compute, (sizes, wide) in itertools.product(sums_of_wider_gradients(), shapes):
        x = T.ones(*sizes).requires_grad_() if sizes else T.tensor(1.0).requires_grad_()
        columns = T.tensor([1e8, 1.0, -1e8], dtype=T.float64)
        gradient = (columns.view(3, 1) if wide == (3, 2) else columns).expand(*wide)
        compute(x, T.ones(*wide, dtype=T.float64)).backward(gradient)
        # Where two columns are added as well, the sum has twice the 1.
        expected = 2.0 if wide == (3, 2) and sizes == () else 1.0
        found = {*flattened([x.grad.tolist()])}
        assert found == {expected}, (
            f"A7: the gradient of x is {found}, not {expected}, in {compute.__name__} with x of"
            f" {sizes}, w of {wide} and a gradient whose sum float32 rounds")
