"""Calls of Functions that fail, each for one of many reasons."""

#: pairs_of_failed_functions [slotcore]: a call of a Function that raises leaves nothing behind
import itertools, sys
class FailsAsTold(T.autograd.Function):
    """Has two results, and does DEED to its ctx, which may make the call fail."""
    @staticmethod
    def forward(ctx, x, other, deed):
        results = x * 2, other * 3
        return deed(ctx, x, other, results) or results
    @staticmethod
    def backward(ctx, first, second):
        return first * 2, second * 3, None
class FailsInSetup(FailsAsTold):
    @staticmethod
    def forward(x, other, deed):
        return x * 2, other * 3
    @staticmethod
    def setup_context(ctx, inputs, results):
        inputs[2](ctx, *inputs[:2], results)
def raise_key_error(*given):
    raise KeyError("a forward raises")
def call_with_hooks(apply, pack, *given):
    with T.autograd.graph.saved_tensors_hooks(pack, lambda one: one):
        return apply(*given)
def deeds_that_fail():
    """What a forward does with its results r, and the error that the call raises."""
    return [(deed, error(*[None] * 4)) for deed, error in expression_rows("ctx, x, o, r", """
        raise_key_error() -> KeyError
        (ctx.save_for_backward(*r, x), raise_key_error()) -> KeyError
        (ctx.mark_non_differentiable(r[1]), ctx.save_for_backward(o), r[9]) -> IndexError
        (T.set_grad_enabled(True), x * 5, raise_key_error()) -> KeyError
        (T.enable_grad().__enter__(), ctx.nothing) -> AttributeError
        ctx.save_for_backward(*r, 7) -> TypeError
        ctx.save_for_backward(x, r) -> TypeError
        setattr(ctx, "to_save", [x]) -> TypeError
        ctx.mark_dirty(7) -> TypeError
        setattr(ctx, "dirty_tensors", 7) -> TypeError
        ctx.mark_non_differentiable(r) -> TypeError
        setattr(ctx, "non_differentiable", {}) -> TypeError
        ctx.mark_dirty(o) -> RuntimeError
        (ctx.save_for_backward(r[0]), ctx.mark_dirty(x, o)) -> RuntimeError
        ctx.set_materialize_grads(7) -> TypeError
        ctx.save_for_forward("text") -> TypeError
        ctx.name(7) -> TypeError
        ctx.saved_tensors[0] -> IndexError
        T.ones(2).backward() -> RuntimeError
        (ctx.register_hook(lambda *given: None), T.ones(2).view(3)) -> RuntimeError""")]
def arguments_of_failures():
    return expressions_of("x", """
        x
        x * 1
        x[...]
        TwoResults.apply(x)[1]
        (x * 1)[...]
        x.as_subclass(TensorSub)""")
def counts_of_calls(*objects):
    return (T._live_contexts(), T._live_impls(), T._live_saved_tensors(), T.is_grad_enabled(),
            *map(sys.getrefcount, objects))
def facts_of(tensor):
    return (tensor.requires_grad, tensor.is_leaf, tensor.output_nr, tensor.tolist(), tensor.grad,
            tensor._backward_hooks, tensor.retains_grad)
def check_failed_call(apply, make, deed, error, packs):
    x, other = T.tensor([2.0, 3.0]).requires_grad_(), T.ones(2).requires_grad_()
    argument, where = make(x), f"{apply.__qualname__} of {make.__name__} with {deed.__name__}"
    kept = argument * 1  # so that what the first use makes is there
    kept, node = (argument * 1, other * 1), argument.grad_fn
    facts, before = facts_of(argument), counts_of_calls(argument, other, deed, node or x)
    if packs is None:
        raised = class_raised(apply, argument, other, deed)
    else:
        raised = class_raised(call_with_hooks, apply, packs, argument, other, deed)
    after = counts_of_calls(argument, other, deed, node or x)
    assert raised is error, f"A8: {raised} is raised, not {error}, by {where}"
    assert after == before, (
        f"A9: contexts, impls, saved tensors, the mode and references were {before} and are"
        f" {after} after {where}, which raises {error}")
    is_written = "mark_dirty(x" in deed.__name__  # forward has said so, and counts as a write
    assert argument._version == is_written, f"P8: the version is {argument._version} after {where}"
    assert facts_of(argument) == facts and (argument.grad_fn is node or is_written), (
        f"P8: the argument has changed from {facts} to {facts_of(argument)} by {where}")
    first, second = apply(argument, other, lambda *given: None)
    (first.sum() + second.sum()).backward()
    through = 10.0 if "Two" in make.__name__ else 1.0
    found, expected = (x.grad.tolist(), other.grad.tolist()), ([2.0 * through] * 2, [3.0, 3.0])
    assert found == expected, f"A7: gradients are {found}, not {expected}, after {where}"
def pairs_of_failed_functions():
    cases = itertools.product((FailsAsTold.apply, FailsInSetup.apply), arguments_of_failures(),
                              deeds_that_fail())
    for number, (apply, make, (deed, error)) in enumerate(cases):
        check_failed_call(apply, make, deed, error, (None, id)[number % 2])
    saves = expressions_of("ctx, x, o, r", """
        ctx.save_for_backward(x)
        ctx.save_for_backward(*r)
        ctx.save_for_backward(None, o, r[1])""")
    for deed, make in itertools.product(saves, arguments_of_failures()):
        check_failed_call(FailsAsTold.apply, make, deed, KeyError, raise_key_error)
        check_failed_call(FailsInSetup.apply, make, deed, KeyError, raise_key_error)
