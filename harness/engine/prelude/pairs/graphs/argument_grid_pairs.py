"""Arguments and results of each kind, for each style of a Function, and replies of backwards."""

#: pairs_of_function_arguments [slotcore]: what a Function hears and gives for kinds of arguments
import random
class HowToCall:
    """What a Function returns, and replies to a backward; and what it has heard."""
    def __init__(self, results, reply_row, zeros):
        (self.reply, self.what), self.results, self.zeros = reply_row, results, zeros
        self.needs, self.got = [], None
    def forward(self, ctx, results):
        ctx.set_materialize_grads(self.zeros)
        ctx.mark_non_differentiable(*(
            one for one in results if isinstance(one, T.Tensor) and one.shape == (5,)))
        self.needs.append(ctx.needs_input_grad)
    def backward(self, ctx, gradients, arguments):
        self.got = gradients
        self.needs.append(ctx.needs_input_grad)
        given = [T.ones(2) * number if isinstance(one, T.Tensor) else None
                 for number, one in enumerate(arguments, 1)]
        return self.reply(given, ctx.needs_input_grad)
class HearsStatic(T.autograd.Function):
    @staticmethod
    def forward(ctx, how, *arguments):
        ctx.how, ctx.arguments, results = how, [how, *arguments], how.results()
        how.forward(ctx, results)
        return results
    @staticmethod
    def backward(ctx, *gradients):
        return ctx.how.backward(ctx, gradients, ctx.arguments)
class HearsSetup(HearsStatic):
    @staticmethod
    def forward(how, *arguments):
        return how.results()
    @staticmethod
    def setup_context(ctx, inputs, results):
        ctx.how, ctx.arguments = inputs[0], inputs
        ctx.how.forward(ctx, results)
class HearsLegacy(T.autograd.Function):
    def forward(self, how, *arguments):
        return HearsStatic.forward(self, how, *arguments)
    def backward(self, *gradients):
        return self.how.backward(self, gradients, self.arguments)
def styles_that_hear():
    return expressions_of("how, a, b, c", """
        HearsStatic.apply(how, a, b, c)
        HearsSetup.apply(how, a, b, c)
        HearsLegacy()(how, a, b, c)""")
def arguments_to_hear():
    """An argument, and whether it requires a gradient."""
    return [(make, requires(None)) for make, requires in expression_rows("x", """
        x -> True
        x * 1 -> True
        x[...] -> True
        TwoResults.apply(x)[1] -> True
        x.detach() -> False
        T.ones(2, dtype=T.int64) -> False
        7 -> False
        None -> False
        [x] -> False""")]
def results_to_give():
    """Of these, the tensors with five elements are marked, so that they require no gradient."""
    return expressions_of("", """
        (T.ones(2),)
        (T.ones(2), T.ones(3, dtype=T.float64))
        (7, T.ones(2), None, T.ones(3))
        (T.ones(5), T.ones(2, 3), T.ones(1, dtype=T.int64))
        (T.ones(2), T.ones(5), T.ones(0), T.ones(4, dtype=T.complex64))""")
def replies_of_backwards():
    """What a backward returns of the gradients g, and what a backward then does to x."""
    return [(reply, what(None, None)) for reply, what in expression_rows("g, needs", """
        (*g,) -> "adds"
        (*g, None, None) -> "adds"
        (*(one if need else None for one, need in zip(g, needs)),) -> "adds"
        (None,) * len(g) -> "nothing"
        (*g[:-1],) -> RuntimeError
        (T.ones(2), *g[1:]) -> RuntimeError
        (*g, T.ones(2)) -> RuntimeError
        (7, *g[1:]) -> RuntimeError
        (*g[:1], "text", *g[2:]) -> TypeError""")]
def edge_of(argument, requires):
    if not requires:
        return None, 0
    return argument.grad_fn or (argument * 1).grad_fn.next_functions[0][0], argument.output_nr
def gradient_heard(result, is_used, zeros):
    """Size, dtype and sum of the gradient that a backward hears for RESULT; None for None."""
    if not isinstance(result, T.Tensor) or not is_used and not zeros:
        return None
    return result.shape, result.dtype, result.numel() if is_used else 0
def check_heard(style, rows, how, used):
    """Calls the Function, and asks for its node and results, and then what a backward hears."""
    x = T.ones(2).requires_grad_()
    arguments, requires = [how, *(make(x) for make, _ in rows)], (False, *(one for _, one in rows))
    where = (f"{style.__name__} with {[make.__name__ for make, _ in rows]}, results"
             f" {how.results.__name__}, {how.reply.__name__} returned, and materialize_grads"
             f" {how.zeros}")
    found = style(*arguments)
    assert how.needs == [requires], f"A8: needs_input_grad is {how.needs} in {where}"
    can_have = [any(requires) and isinstance(one, T.Tensor) and one.numel() != 5
                and one.dtype is not T.int64 for one in found]
    for number, (one, can) in enumerate(zip(found, can_have, strict=True)):
        assert getattr(one, "requires_grad", False) is can, (
            f"A8: requires_grad of result {number} is {not can} in {where}")
    roots = [number for number, can in enumerate(can_have) if can]
    if not roots:
        return 0
    edges = tuple(edge_of(one, need) for one, need in zip(arguments, requires)
                  if isinstance(one, T.Tensor))
    node = found[roots[0]].grad_fn
    assert node.next_functions == edges, (
        f"A8: the node leads to {node.next_functions}, not {edges}, in {where}")
    check_backward_heard(how, found, roots[used % len(roots):], arguments, where)
    assert how.needs == [requires] * 2, f"A8: needs_input_grad becomes {how.needs} in {where}"
    check_gradient_replied(x, rows, how.what, where)
    return 1
def check_backward_heard(how, found, roots, arguments, where):
    """Runs a backward from those of the results FOUND whose numbers are ROOTS."""
    # A text in place of a gradient is refused as such only for an argument that is a tensor.
    expected = how.what if isinstance(how.what, type) else None
    if expected is TypeError and not isinstance(arguments[1], T.Tensor):
        expected = RuntimeError
    raised = class_raised(T.autograd.backward, [found[number] for number in roots],
                          [T.ones(*found[number].shape, dtype=found[number].dtype)
                           for number in roots])
    assert raised is expected, f"A8: a backward raises {raised}, not {expected}, in {where}"
    heard = [one if one is None else (one.shape, one.dtype, one.sum().item()) for one in how.got]
    right = [gradient_heard(one, number in roots, how.zeros) for number, one in enumerate(found)]
    assert heard == right, f"A8: the backward hears {heard}, not {right}, in {where}"
def check_gradient_replied(x, rows, what, where):
    """The second result of TwoResults has ten times the gradient, and zeros for a missing one."""
    through = [place for place, (make, _) in enumerate(rows, 2) if "Two" in make.__name__]
    total = sum(place for place, (_, need) in enumerate(rows, 2) if need) + 9 * sum(through)
    expected = {"adds": [float(total)] * 2, "nothing": [0.0] * 2 if through else None}.get(what)
    gradient = None if x.grad is None else x.grad.tolist()
    assert gradient == expected, f"A8: x gets the gradient {gradient}, not {expected}, in {where}"
def pairs_of_function_arguments():
    chosen, asked, kinds = random.Random(2), 0, arguments_to_hear()
    parts = styles_that_hear(), results_to_give(), replies_of_backwards()
    for number in range(170):
        style, results, reply = map(chosen.choice, parts)
        rows = [chosen.choice(kinds) for _ in range(3)]
        asked += check_heard(style, rows, HowToCall(results, reply, number % 3 > 0), number)
    assert asked > 100, f"A8: only {asked} backwards have run"
