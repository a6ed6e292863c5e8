"""Gradients of tensors that are written with themselves, through views, and between gaps."""

#: pairs_of_shared_writes [slotcore]: gradients of writes to a tensor, its parts and its views
def gradient_of_sum(result, leaf):
    return T.autograd.grad(result.sum(), leaf, retain_graph=True)[0].tolist()
def two_leaves():
    return [T.tensor(numbers).requires_grad_() for numbers in ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])]
def check_rows_of_writes(rows, make, leaf, where):
    """Each row has a write to what MAKE makes, and the gradient of its sum at LEAF."""
    for write, expected in rows:
        tensor = make()
        write(tensor, leaf)
        found, right = gradient_of_sum(tensor, leaf), expected(None, None)
        assert found == right, (
            f"A7: {write.__name__} leads to the gradient {found}, not {right}, {where}")
def check_written_by_itself():
    """The tensor a = x * 1 is written with itself and with parts of itself."""
    x, y = two_leaves()
    rows = expression_rows("a, x", """
        a.add_(a) -> [2.0, 2.0, 2.0]
        a.copy_(a) -> [1.0, 1.0, 1.0]
        a.fill_(a[1]) -> [0.0, 3.0, 0.0]
        a[:1].fill_(a[1]) -> [0.0, 2.0, 1.0]
        a.mul_(a.clone()) -> [2.0, 4.0, 6.0]
        a.mul_(a * 1) -> [2.0, 4.0, 6.0]
        a[:1].copy_(a[1:2]) -> [0.0, 2.0, 1.0]
        a[2:][:0].mul_(9) -> [1.0, 1.0, 1.0]
        a[:1].add_(a[1:2]) -> [1.0, 2.0, 1.0]
        a.copy_(T.ones(3).requires_grad_()) -> [0.0, 0.0, 0.0]
        a[1:].copy_(T.ones(2)) -> [1.0, 0.0, 0.0]
        (a[1:].mul_(2), a[:2].mul_(3), a.view(3, 1)[1:].mul_(5)) -> [3.0, 30.0, 10.0]""")
    check_rows_of_writes(rows, lambda: x * 1, x, "at x for a = x * 1, x = [1.0, 2.0, 3.0]")
    tensor = x * 1
    tensor.mul_(tensor)  # has saved its operand, which is what it writes
    raised = class_raised(gradient_of_sum, tensor, x)
    assert raised is RuntimeError, f"A7: a gradient after a.mul_(a) raises {raised} for a = x * 1"
def check_written_with_leaf():
    """A tensor that requires no gradient is written with a leaf y, also with one that is expanded
    for it; its elements may have gaps between them, or before them."""
    y = two_leaves()[1]
    rows = expression_rows("a, y", """
        a.copy_(y) -> [3.0, 3.0, 3.0]
        a[1:].mul_(y) -> [2.0, 2.0, 2.0]""")
    check_rows_of_writes(rows, lambda: T.ones(3, 3), y, "at y for a = T.ones(3, 3)")
    makes = expressions_of("", """
        T.ones(6)[2:].detach()
        T.ones(9)[::2].detach()
        T.ones(2, 3).t().detach()""")
    writes = expression_rows("a, y", """
        a[1].fill_(y[0]) -> ((1.0, 1.0, 2.0), 0)
        a[1:].add_(y[1]) -> ((3.0, 4.0, 4.0), 1)
        a[-1].mul_(y[2]) -> ((1.0, 1.0, 2.0), 2)""")
    for write, results in writes:
        gradients, place = results(None, None)
        for make, expected in zip(makes, gradients):
            tensor, where = make(), f"after {write.__name__} for a = {make.__name__}"
            assert write(tensor, y).is_leaf is False, f"A7: the written view is a leaf {where}"
            found = gradient_of_sum(tensor, y)[place]
            assert found == expected, (
                f"A7: the gradient at y[{place}] is {found}, not {expected}, {where}")
def check_views_follow():
    """A write to the base gives its views a gradient, and each further write another node."""
    base, y = T.ones(3), two_leaves()[1]
    views = {"base[1:]": base[1:], "base.view(-1)": base.view(-1)}
    masks = {"base[1:]": [0.0, 1.0, 1.0], "base.view(-1)": [1.0, 1.0, 1.0]}
    assert base.add_(y) is base, "A7: add_() returns another tensor"
    nodes = {}
    for name, view in views.items():
        assert view.requires_grad, f"A7: {name} requires no gradient after base.add_(y)"
        nodes[name] = view.grad_fn
        assert view.grad_fn is nodes[name], f"A7: {name} has a new node at each look"
        assert view.output_nr == 0, f"A7: {name} is result {view.output_nr} of its node"
    found = gradient_of_sum(views["base[1:]"], y)
    assert found == masks["base[1:]"], f"A7: base[1:] has the gradient {found} after base.add_(y)"
    assert base.mul_(5) is base, "A7: mul_() returns another tensor"
    for name, view in views.items():
        assert view.grad_fn is not nodes[name], f"A7: {name} keeps its node after base.mul_(5)"
        found, expected = gradient_of_sum(view, y), [5 * number for number in masks[name]]
        assert found == expected, (
            f"A7: {name} has the gradient {found}, not {expected}, after base.mul_(5)")
def check_hooks_of_written_view():
    """A hook belongs to the value that the view had when it was registered."""
    (x, _), log = two_leaves(), []
    base = x * 1
    view = base[1:]
    former_handle = view.register_hook(lambda gradient: log.append("former"))
    former_hooks = view._backward_hooks
    assert base.mul_(3) is base, "A7: mul_() returns another tensor"
    assert view.register_hook(lambda gradient: log.append("later")) is not former_handle, (
        "A7: a hook that is registered after a write has the handle of a former one")
    assert view._backward_hooks is not former_hooks, "A7: a written view keeps its former hooks"
    found = gradient_of_sum(view, x)
    assert found == [0.0, 3.0, 3.0], f"A7: a view with hooks has the gradient {found}"
    assert log == ["later"], f"A7: the hooks {log} run, not only the one after the write"
def check_real_parts():
    """A complex tensor is written with a real leaf, which gets the real part of its gradient."""
    leaf, gradient = T.ones(2).requires_grad_(), T.tensor([3 + 5j, 7j])
    rows = expression_rows("a, r", """
        a.copy_(r) -> [3.0, 0.0]
        a[1:].add_(r[1:]) -> [0.0, 0.0]
        a.add_(r) -> [3.0, 0.0]
        a.add_(1j).mul_(r) -> [5.0, 7.0]
        a.fill_(r[0]) -> [3.0, 0.0]
        a.conj()[:1].copy_(r[1:]) -> [0.0, 3.0]""")
    for write, expected in rows:
        tensor = T.zeros(2, dtype=T.complex64)
        write(tensor, leaf)
        found = T.autograd.grad(tensor, leaf, gradient)[0].tolist()
        right = expected(None, None)
        assert found == right, (
            f"A7: {write.__name__} of zeros a and ones r leads to the gradient {found}, not"
            f" {right}, at r for the gradient [3+5j, 7j] at a")
def pairs_of_shared_writes():
    check_written_by_itself()
    check_written_with_leaf()
    check_views_follow()
    check_hooks_of_written_view()
    check_real_parts()
