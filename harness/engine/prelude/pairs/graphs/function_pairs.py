"""Custom Functions: what each style of them says of its results, and calls that raise."""

#: pairs_of_function_marks [slotcore]: the styles of a Function agree on results and marks
import itertools
class MarkedStatic(T.autograd.Function):
    """Computes BODY(tensor), and then does MARK to its ctx, as all three styles do."""
    @staticmethod
    def forward(ctx, tensor, body, mark):
        result = body(tensor)
        mark(ctx, tensor, result)
        return result
    backward = staticmethod(len)  # never runs
class MarkedSetup(T.autograd.Function):
    @staticmethod
    def forward(tensor, body, mark):
        return body(tensor)
    @staticmethod
    def setup_context(ctx, inputs, result):
        tensor, body, mark = inputs
        mark(ctx, tensor, result)
    backward = staticmethod(len)
class MarkedLegacy(T.autograd.Function):
    def forward(self, tensor, body, mark):
        return MarkedStatic.forward(self, tensor, body, mark)
    def backward(self, gradient):
        return gradient
def styles_of_functions():
    return expressions_of("x, body, mark", """
        MarkedStatic.apply(x, body, mark)
        MarkedSetup.apply(x, body, mark)
        MarkedLegacy()(x, body, mark)""")
def bodies_of_functions():
    """What a forward returns, and of which kind each of its results is."""
    rows = expression_rows("x", """
        x * 2 -> ["new"]
        x -> ["input"]
        x.view(-1) -> ["view"]
        x.mul_(2) -> ["input"]
        (x * 2, x * 3) -> ["new", "new"]
        (x * 2, 7, x) -> ["new", "number", "input"]
        x[:1] -> ["view"]
        x == 1 -> ["bool"]""")
    return [(body, kinds(None)) for body, kinds in rows]
def marks_of_functions():
    """What a forward says of its input and its result: r is a tuple, if it has several results."""
    return expressions_of("ctx, x, r", """
        None
        ctx.save_for_backward(x, None)
        ctx.mark_dirty(x)
        ctx.save_for_backward(r)
        ctx.mark_non_differentiable(r)
        (ctx.save_for_backward(x), ctx.mark_dirty(x))""")
def arguments_of_functions():
    return expressions_of("x", """
        x
        x * 1
        (x * 1)[:1]
        x.detach()
        x.detach()[:1]""")
class FunctionCase:
    """What a Function with MARK must say of its results, which are of KINDS, for an ARGUMENT."""
    def __init__(self, argument, kinds, mark):
        self.kinds = kinds
        self.is_leaf, self.is_view = argument == "x", "[:1]" in argument
        self.requires_grad = "detach" not in argument
        self.saves, self.marks_dirty = "(r)" in mark and "save" in mark, "dirty" in mark
        self.is_constant = "non_differentiable" in mark
    def error(self):
        if len(self.kinds) > 1 and (self.is_constant or self.saves and self.requires_grad):
            return TypeError  # r is a tuple, and a call that records nothing saves nothing
        if not self.marks_dirty:
            return None
        if "input" not in self.kinds or self.is_leaf and self.requires_grad:
            return RuntimeError
        # One of several results cannot be a view that was written.
        several = len(self.kinds) > 1 and self.is_view and self.requires_grad
        return RuntimeError if several else None
    def result(self, number):
        """Whether the result requires a gradient, is a leaf, the argument, and a view; its number.
        """
        kind = self.kinds[number]
        requires = self.requires_grad and kind != "bool" and not self.is_constant
        is_argument = kind == "input" and self.marks_dirty
        # An argument that is returned becomes a view of it, but not as a result that is marked
        # as non-differentiable, if the argument requires a gradient.
        is_view = kind == "view" or kind == "input" and not (
            self.is_constant and self.requires_grad)
        return (requires, not requires, is_argument,
                is_view and (not is_argument or self.is_view), number * self.requires_grad)
def said_of_result(result, argument):
    return (result.requires_grad, result.is_leaf, result is argument,
            result._base is not None, result.output_nr)
def check_function_marks(style, make_argument, body, kinds, mark):
    case = FunctionCase(make_argument.__name__, kinds, mark.__name__)
    where = f"{style.__name__} with {body.__name__} and {mark.__name__} of {make_argument.__name__}"
    argument, results = make_argument(T.ones(2).requires_grad_()), []
    raised = class_raised(lambda: results.append(style(argument, body, mark)))
    assert raised is case.error(), f"A8: {raised} is raised, not {case.error()}, by {where}"
    if raised:
        return
    results = results[0] if type(results[0]) is tuple else results
    assert len(results) == len(kinds), f"A8: {len(results)} results come from {where}"
    for number, (result, kind) in enumerate(zip(results, kinds)):
        if kind == "number":
            assert type(result) is int and result == 7, (
                f"A8: {result} is result {number} of {where}, not 7")
            continue
        said, expected = said_of_result(result, argument), case.result(number)
        assert said == expected, (
            "A8: (requires_grad, is_leaf, is the argument, is a view, output_nr) are"
            f" {said}, not {expected}, for result {number} of {where}")
    writes = ("mul_" in body.__name__) + case.marks_dirty
    assert argument._version == writes, f"A8: the version is {argument._version} after {where}"
def bodies_of_views():
    """What a forward returns, and which of its results lie on the argument's elements."""
    rows = expression_rows("x", """
        x -> [True]
        x[:1] -> [True]
        (x[:1], x[1:]) -> [True, True]
        (x, x) -> [True, True]
        (x[:1], x) -> [True, True]
        (x[:1], x[1:], x[:]) -> [True, True, True]
        (x * 2, x[1:]) -> [False, True]
        (x[:1], x * 2) -> [True, False]
        (x[:1], 7, x.detach()) -> [True, None, False]""")
    return [(body, on_argument(None)) for body, on_argument in rows]
def writes_near_results():
    """What is written: the argument b, a view of it, the result r, or a view of that."""
    return expressions_of("b, r", """
        b.mul_(2)
        b[:1].mul_(2)
        b.fill_(3)
        r.mul_(2)
        r[:1].mul_(2)""")
def check_written_result(body, number, on_argument, make_argument, write):
    """A node that Python does not know cannot be made anew for a view that is written."""
    where = f"result {number} of {body.__name__} of {make_argument.__name__}"
    argument = make_argument(T.ones(2).requires_grad_())
    results = MarkedStatic.apply(argument, body, lambda *given: None)
    result = results[number] if type(results) is tuple else results
    name = result.grad_fn.name()
    assert name == "MarkedStaticBackward", f"A8: {where} has a node {name}"
    raised = class_raised(lambda: (write(argument, result), result.grad_fn))
    expected = RuntimeError if on_argument else None
    assert raised is expected, (
        f"A8: {write.__name__} and a read of the node of r raise {raised}, not {expected}, if r is"
        f" {where}")
def check_written_results():
    cases = itertools.product(bodies_of_views(), writes_near_results(), expressions_of("x", """
        x * 1
        (x * 1)[:]"""))
    for (body, on_argument), write, make_argument in cases:
        for number, on in enumerate(on_argument):
            if on is not None:
                check_written_result(body, number, on, make_argument, write)
def pairs_of_function_marks():
    cases = itertools.product(styles_of_functions(), arguments_of_functions(),
                              bodies_of_functions(), marks_of_functions())
    for style, argument, (body, kinds), mark in cases:
        if kinds[0] == "view" and "non_differentiable" in mark.__name__:
            continue  # such a result requires a gradient all the same, if the argument does
        check_function_marks(style, argument, body, kinds, mark)
    check_written_results()

#: pairs_of_failed_calls [slotcore]: a call that raises for results with a history is freed
class SavesTuple(T.autograd.Function):
    """Raises a TypeError, because a tuple is no tensor that could be saved."""
    @staticmethod
    def forward(ctx, tensor):
        results = tensor * 2, tensor * 3
        ctx.save_for_backward(results)
        return results
    backward = staticmethod(len)  # never runs
class SavesAndWritesLeaf(T.autograd.Function):
    """Raises a RuntimeError, because a leaf that requires a gradient cannot be dirty."""
    @staticmethod
    def forward(ctx, tensor):
        results = tensor * 2, tensor * 3
        ctx.save_for_backward(*results)
        ctx.mark_dirty(tensor)
        return *results, tensor
    backward = staticmethod(len)
def pairs_of_failed_calls():
    leaf = T.ones(1).requires_grad_()
    (leaf * 1).size(0)  # so that what the first use of the leaf makes is there
    before = T._live_contexts(), T._live_impls()
    for function, error in ((SavesTuple, TypeError), (SavesAndWritesLeaf, RuntimeError)):
        raised = class_raised(function.apply, leaf)
        assert raised is error, f"A9: {function.__name__} raises {raised}, not {error}"
        after = T._live_contexts(), T._live_impls()
        assert after == before, (
            f"A9: {before} contexts and impls are {after} after {function.__name__} has raised")
