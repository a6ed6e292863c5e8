"""What becomes of a leaf between the making of a graph and its backward."""

#: pairs_of_changed_leaves [slotcore]: two changes of a leaf, one after the other, before a backward
import itertools
def graphs_of_leaf():
    """What is computed of x, whether x is saved, and the gradient, where c is what x was."""
    return [(make, saves(None, None), slope) for make, saves, slope in expression_rows("x, c", """
        x * 3 -> False -> c * 0 + 3
        x * x -> True -> x * 2
        x[...] -> False -> c * 0 + 1
        x.view(2, 1).t()[0] * 2 -> False -> c * 0 + 2
        fn("save_input", "y", "saved").apply(x) -> True -> x
        x.relu() -> False -> c * 0 + 1
        (x * 1).mul_(x) -> True -> x + c
        written_product(x, lambda b: b[1:].mul_(1)) -> False -> c * 0 + 1""")]
def changes_of_leaf():
    """What is done to the leaf x, and to what m says of it; o is another leaf."""
    return expression_rows("x, o, m", """
        x.requires_grad_(False) -> m.update(requires=False)
        x.requires_grad_(False).requires_grad_() -> m.update(requires=True)
        x.detach_() -> m.update(requires=False)
        x.detach_().requires_grad_() -> m.update(requires=True)
        setattr(x, "data", T.tensor([5.0, 7.0])) -> None
        x.data.mul_(2) -> None
        x.detach()[1:].add_(1) -> m.update(writes=1)
        written_without_recording(x) -> m.update(writes=1)
        setattr(x, "grad", T.ones(2) * 4) -> m.update(former=4)
        setattr(x, "grad", None) -> m.update(former=None)
        x.register_hook(lambda gradient: gradient * 5) -> m.update(scale=m["hooked"]())
        setattr(x, "_backward_hooks", None) -> m.update(scale=1)
        x.retain_grad() -> None
        x.sum().backward() -> m.update(former=m["sum"]())
        (x * 7, x.view(-1), x.detach()) -> None
        (x.detach_(), x.mul_(o)) -> m.update(is_leaf=False)
        setattr(x, "data", T.ones(3)) -> m.update(fits=False)
        setattr(x, "data", T.ones(2, dtype=T.float64)) -> m.update(fits=False)""")
def written_without_recording(tensor):
    with T.no_grad():
        tensor.mul_(3)
class StateOfLeaf(dict):
    def __init__(self):
        super().__init__(requires=True, writes=0, former=None, scale=1, is_leaf=True, fits=True)
        # A leaf that requires no gradient refuses a hook, and a backward.
        self["hooked"] = lambda: self["scale"] * (5 if self["requires"] else 1)
        self["sum"] = lambda: (self["former"] or 0) + self["scale"] if self["requires"] else (
            self["former"])
def gradient_of_state(state, slopes, by_grad):
    """What grad() gives, or what is in `.grad` after a backward."""
    right = [state["scale"] * one for one in slopes] if state["requires"] else None
    former = None if by_grad else state["former"]
    if former is None:
        return right
    return [one + former for one in right or [0, 0]]
def check_changed_leaf(graph, changes, by_grad):
    (make, saves, slope), state = graph, StateOfLeaf()
    x, o = T.tensor([2.0, 3.0]).requires_grad_(), T.ones(2).requires_grad_()
    constant = x.detach().clone()
    total = make(x, None).sum() + o.sum() * 2
    for change, effect in changes:
        class_raised(change, x, o, None)
        effect(None, None, state)
    if not state["fits"] and not state["requires"]:
        return 0
    is_lost = not (state["is_leaf"] and state["fits"] and (state["requires"] or not by_grad))
    expected = RuntimeError if is_lost or saves and state["writes"] else None
    where = (f"{'grad()' if by_grad else 'backward()'} of the sum of {make.__name__} raises, not"
             f" {expected}, after {[change.__name__ for change, _ in changes]}")
    found = []
    run = (lambda: T.autograd.grad(total, [x, o])) if by_grad else total.backward
    raised = class_raised(lambda: found.append(run()))
    assert raised is expected, f"A2c: {raised} is what {where}"
    if expected:
        return 0
    right = gradient_of_state(state, slope(x.detach(), constant).tolist(), by_grad)
    if not by_grad:
        found[0] = x.grad, o.grad
    gradients = [one if one is None else one.tolist() for one in found[0]]
    assert gradients == [right, [2.0, 2.0]], (
        f"A7: x and o get the gradients {gradients}, not {[right, [2.0, 2.0]]}, by what {where}")
    return 1
def pairs_of_changed_leaves():
    graphs, changes, asked = graphs_of_leaf(), changes_of_leaf(), 0
    for number, pair in enumerate(itertools.product(changes[:-3], changes)):
        for place, graph in enumerate(graphs[number % 3::3]):
            asked += check_changed_leaf(graph, pair, (number + place) % 4 == 0)
    assert asked > 300, f"A7: only {asked} leaves got a gradient"

#: pairs_of_unrecorded_views [slotcore]: views that are made without recording, of what was written
import itertools
def histories_of_base():
    """What a view is made of; x is a leaf of four elements, and p needs no gradient."""
    return expressions_of("x, p", """
        x
        x * 2
        (x * 2).add_(1)
        (x * 2).mul_(p).mul_(p)
        (x * 2).relu_().detach_().add_(1)
        changed_without_recording(x)
        changed_without_recording(x * 2)
        changed_by_view(x * 2)
        (x * 2).add_(1).t()
        changed_by_view(x * 2).t()
        p
        p.add_(1)
        p.add_(1).t()
        p.mul_(x)
        p.mul_(x).t()""")
def changed_without_recording(tensor):
    tensor.detach().mul_(3)
    return tensor
def changed_by_view(tensor):
    tensor[1:].mul_(2)
    return tensor
def check_view_in_mode(make, view, is_recorded):
    base = make(T.ones(2, 2).requires_grad_(), T.ones(2, 2))
    with T.set_grad_enabled(is_recorded):
        made = view(base)
    has_history = is_recorded and base.requires_grad
    found = (made.requires_grad, made.is_leaf, made.grad_fn is not None,
             made._version - base._version,
             made._base is (base if base._base is None else base._base))
    right = (base.requires_grad, not has_history, has_history, 0, True)
    assert found == right, (
        f"A7a: with recording {is_recorded}, {view.__name__} of x = {make.__name__} has"
        f" (requires_grad, is_leaf, a grad_fn, a later version, the base) {found}, not {right}")
def pairs_of_unrecorded_views():
    views = expressions_of("x", """
        x[0]
        x[...]
        x[1:].t()[:1]
        x.t()
        x.view(2, 2)
        x.narrow(0, 1, 1)
        x.expand(3, 2, 2)
        x.as_strided((3,), (1,), 1)""")
    for make, view, is_recorded in itertools.product(histories_of_base(), views, (False, True)):
        check_view_in_mode(make, view, is_recorded)
