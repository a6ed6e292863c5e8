"""What a node has saved, when it is written in each way at each time, and as a ctx gives it."""

#: pairs_of_stale_saved [slotcore]: a write is noticed by what was saved before it, and no other
import itertools, random
def savers_of_tensors():
    """What is computed of the leaf x and the tensor s; which of the results is saved, and whether
    also if s requires no gradient; and the gradient of x, where r is 1 if s is x * 1, else 0."""
    rows = expression_rows("x, s, y, r", """
        s * x -> s -> True -> s + x * r
        x * s -> s -> True -> s + x * r
        s * s -> s -> False -> s * 2 * r
        s.relu() -> y -> False -> r
        s.clone().relu_() -> y -> False -> r
        (s * 1)[...].relu_() -> y -> False -> r
        x.clone().mul_(s) -> s -> True -> s + x * r
        (x * 1)[...].mul_(s) -> s -> True -> s + x * r
        written_product(x, lambda b: b[...].mul_(s)) -> s -> True -> s + x * r
        fn("save_input", "y", "saved").apply(s) -> s -> False -> s * r
        fn("save_result", "y", "saved").apply(s) -> y -> False -> y * r
        fn("save_view", "y", "saved").apply(s) -> y -> False -> y * r
        fn("save_input", "x", "saved").apply(s) -> y -> False -> y * r
        DoublesAndSavesInput.apply(s * 1) -> y -> False -> y * r
        DoublesAndSavesInput.apply((s * 1)[...]) -> y -> False -> y * r""")
    return [(make, saved, also(*[None] * 4), slope) for make, saved, also, slope in rows]
def tensors_to_save():
    rows = expression_rows("x", """
        x * 1 -> 1
        (x * 1)[...] -> 1
        (x * 1)._neg_view()._neg_view() -> 1
        T.tensor([2.0, 3.0]) -> 0
        T.tensor([2.0, 3.0])[...] -> 0
        T.tensor([2.0, 3.0]).as_subclass(TensorSub) -> 0""")
    return [(make, depends(None)) for make, depends in rows]
def writes_to_saved():
    """What is done to the tensor t, and whether that counts as a write: not through .data."""
    rows = expression_rows("t", """
        t.add_(1) -> True
        t.mul_(2) -> True
        t.fill_(5) -> True
        t.copy_(T.ones(2)) -> True
        t.__setitem__(0, 7) -> True
        t[1:].add_(1) -> True
        t[2:].add_(1) -> True
        t.view(2, 1).t()[0].mul_(2) -> True
        t.detach().add_(1) -> True
        t[1:].detach()[...].fill_(9) -> True
        t._neg_view().mul_(2) -> True
        t.as_subclass(TensorSub).add_(1) -> True
        T.Tensor(t).zero_().add_(4) -> True
        (t if t._base is None else t._base).mul_(3) -> True
        fn("write_input", "x", "doubles", "mark_input").apply(t) -> True
        t.data.add_(1) -> False
        t.data[:1].fill_(9) -> False
        t.detach().data.mul_(2) -> False
        t.data[...].copy_(T.ones(2) * 4) -> False
        t.clone().add_(1) -> False
        t.add_(T.ones(5)) -> False
        t.copy_(T.ones(3, 3)) -> False""")
    return [(write, counts(None)) for write, counts in rows]
class SavedCase:
    """A graph that saves a tensor, which WRITE writes at some time."""
    def __init__(self, saver, tensor, write):
        (self.make, self.saved, self.always, self.slope), (make, self.depends) = saver, tensor
        (self.write, self.counts), self.x = write, T.tensor([2.0, 3.0]).requires_grad_()
        self.s = make(self.x)
        self.where = f"{self.write.__name__} of {self.saved.__name__} for y = {self.make.__name__}"
        self.where += f" with s = {make.__name__}"
    def compute(self):
        self.y = self.make(self.x, self.s, None, None)
        self.total = self.y.sum() + self.x.sum() * 0
    def target(self):
        return self.saved(self.x, self.s, self.y, None)
    def is_stale_by(self, target, records):
        """Does the write, and returns whether a backward must notice it."""
        with T.set_grad_enabled(records):
            raised = class_raised(self.write, target)
        if raised and not self.write.__name__.startswith("fn"):  # its forward has written
            return False
        return self.counts and (self.depends == 1 or self.always)
    def check_run(self, is_stale, time):
        found, expected = [], RuntimeError
        raised = class_raised(
            lambda: found.append(T.autograd.grad(self.total, self.x, None, True)[0].tolist()))
        if not is_stale:
            with T.no_grad():
                slope = self.slope(self.x, self.s, self.y, self.depends)
            expected = (T.zeros(2) + slope).tolist()
        assert (raised or found[0]) == expected, (
            f"A2b: a backward gives {raised or found[0]}, not {expected}, {time} {self.where}")
def check_written_before(case, records):
    if case.saved.__name__ == "s":
        case.is_stale_by(case.s, False)
    case.compute()
    case.check_run(False, "where the graph is made after")
    return False
def check_written_after(case, records):
    case.compute()
    node = case.y.grad_fn
    is_stale = case.is_stale_by(case.target(), records)
    case.check_run(is_stale, "after")
    case.check_run(is_stale, "for the second time after")
    if case.make.__name__.startswith("fn") and case.depends:
        raised = class_raised(lambda: node.saved_tensors)
        expected = RuntimeError if is_stale else None
        assert raised is expected, f"A2b: a ctx raises {raised}, not {expected}, after {case.where}"
    return is_stale
def check_written_between(case, records):
    case.compute()
    case.check_run(False, "before")
    is_stale = case.is_stale_by(case.target(), records)
    case.check_run(is_stale, "that is the second one, after")
    return is_stale
def check_written_in_hook(case, records):
    """A hook of the sum writes before the node takes what it has saved."""
    case.compute()
    targets, is_stale = [case.target()], []
    def hook(gradient):
        if targets:
            is_stale.append(case.is_stale_by(targets.pop(), records))
    case.total.register_hook(hook)
    raised = class_raised(T.autograd.grad, case.total, case.x, None, True)
    assert (raised is RuntimeError) is is_stale[0], (
        f"A2b: a backward raises {raised} where a hook does {case.where}")
    case.check_run(is_stale[0], "after one in which a hook did")
    return is_stale[0]
def pairs_of_stale_saved():
    chosen, stale = random.Random(1), 0
    times = check_written_before, check_written_after, check_written_between, check_written_in_hook
    cases = itertools.product(savers_of_tensors(), tensors_to_save(), writes_to_saved())
    for number, case in enumerate(chosen.sample([*cases], 300)):
        stale += times[number % 4](SavedCase(*case), number % 8 > 3)
    assert 80 < stale < 200, f"A2b: {stale} of 300 graphs have saved what was written"

#: pairs_of_saved_places [slotcore]: what a ctx has saved is what it was, at its place in the graph
import itertools
class SavesAsTold(T.autograd.Function):
    """Returns two results, and saves what TAKE says of the arguments and the results."""
    @staticmethod
    def forward(ctx, x, q, take, kept):
        results = x * q, x * q * 3
        kept[:] = take(x, q, *results)
        ctx.save_for_backward(*kept)
        return results
    @staticmethod
    def backward(ctx, *gradients):
        return (None,) * 4
class SavesInSetup(SavesAsTold):
    @staticmethod
    def forward(x, q, take, kept):
        return x * q, x * q * 3
    @staticmethod
    def setup_context(ctx, inputs, results):
        x, q, take, kept = inputs
        kept[:] = take(x, q, *results)
        ctx.save_for_backward(*kept)
class SavesLegacy(T.autograd.Function):
    def forward(self, *arguments):
        return SavesAsTold.forward(self, *arguments)
    def backward(self, *gradients):
        return (None,) * 4
def arguments_to_save():
    return expressions_of("x", """
        x
        x * 1
        x[...]
        (x * 1)[::2]
        (x * 1)._neg_view()
        x.detach()
        T.ones(2, dtype=T.int64)
        x.as_subclass(TensorSub)
        SavesAsTold.apply(x, x, lambda *given: (), [])[1]""")
def tensors_to_take():
    return expressions_of("x, q, y, z", """
        (x,)
        (y,)
        (z,)
        (z, None, x)
        (x, y, q)
        (y, z, y)
        (q, x.detach(), q)
        (x + 1, z, q.detach()[...])
        (None,)""")
def place_of(tensor):
    """What tells one place in a graph from another, and one layout of numbers from another."""
    if tensor is None:
        return None
    with T.enable_grad():
        edge = (tensor * 1).grad_fn.next_functions[0] if tensor.requires_grad else None
    return (edge, tensor.requires_grad, tensor.is_leaf, tensor._version, tensor.dtype,
            tensor.shape, tensor.stride(), tensor.is_neg(), tensor.tolist())
def check_saved_places(apply, make, take, packed):
    x, q, kept = T.tensor([2.0, 3.0]).requires_grad_(), T.ones(1).requires_grad_(), []
    where = f"by {take.__name__} of {apply.__name__} with x = {make.__name__}, packed: {packed}"
    with (T.autograd.graph.saved_tensors_hooks(lambda one: [one], lambda held: held[0])
          if packed else T.enable_grad()):
        results = [*apply(make(x), q, take, kept)]
    node, total = results[0].grad_fn, results[0].sum() + results[1].sum()
    check_saved_of_node(node, total, results, kept, packed, where)
    total.backward()
    raised = class_raised(lambda: node.saved_tensors)
    assert raised is RuntimeError, f"A2a: {raised} where the graph was freed, {where}"
def check_saved_of_node(node, total, results, kept, packed, where):
    """What KEPT has was saved, and must be found again, also without it and the results."""
    right = [*map(place_of, kept)]
    is_result = [any(one is result for result in results) for one in kept]
    for time in ("at once", "after a backward", "after the results are dropped"):
        saved = node.saved_tensors
        found = [*map(place_of, saved)]
        assert found == right, f"A2: {found} is saved, not {right}, {time}, {where}"
        for one, former, own in zip(saved, kept, is_result):
            assert packed or own or one is former, (
                f"A2: {one} is saved in place of {former}, {time}, {where}")
        if time == "after a backward":
            del one, former
            kept.clear()
            results.clear()
        else:
            total.backward(retain_graph=True)
    expected = None if packed or saved == (None,) else RuntimeError
    if expected:
        with T.no_grad():
            saved[0].mul_(1)
    raised = class_raised(lambda: node.saved_tensors)
    assert raised is expected, f"A2b: {raised} after a write to a saved tensor, {where}"
def pairs_of_saved_places():
    applies = expressions_of("x, q, take, kept", """
        SavesAsTold.apply(x, q, take, kept)
        SavesInSetup.apply(x, q, take, kept)
        SavesLegacy()(x, q, take, kept)""")
    for number, (make, take, packed) in enumerate(itertools.product(
            arguments_to_save(), tensors_to_take(), (False, True))):
        check_saved_places(applies[number % 3], make, take, packed)
