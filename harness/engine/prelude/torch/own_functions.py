"""Functions of one's own, with a backward and a tangent each, for the transforms of PyTorch.

A rule of a Function is called by every transform: backward by gradients, jvp by tangents, both by
second derivatives. Before 2.0 a forward has its ctx, and no transform of functorch takes it.
"""

#: function_by, saves [torch]: the `apply` of a Function that has these rules, and one of them
def function_by(forward, set_up, backward, tangent):
    def forward_with_ctx(ctx, *arguments):
        results = forward(*arguments)
        set_up(ctx, arguments, results)
        return results
    rules = {"forward": forward_with_ctx, "backward": backward, "jvp": tangent}
    if hasattr(T, "func"):
        rules.update(forward=forward, setup_context=set_up)
    rules = {name: staticmethod(rule) for name, rule in rules.items()}
    return type("Own", (T.autograd.Function,), {"generate_vmap_rule": True, **rules}).apply
def saves(ctx, *tensors):
    ctx.save_for_backward(*tensors)
    ctx.save_for_forward(*tensors)

#: cubed, exponential, exponential_in_place [torch]: Functions that save an argument, or a result
def times_slope(ctx, given):
    return given * 3 * ctx.saved_tensors[0] ** 2
def times_result(ctx, given):
    return given * ctx.saved_tensors[0]
def saves_written(ctx, arguments, result):
    ctx.mark_dirty(result)
    saves(ctx, result)
cubed = function_by(lambda a: a ** 3, lambda ctx, arguments, result: saves(ctx, *arguments),
                    times_slope, times_slope)
exponential = function_by(lambda a: a.exp(), lambda ctx, arguments, result: saves(ctx, result),
                          times_result, times_result)
exponential_in_place = function_by(
    lambda a: a.exp_(), saves_written, times_result,
    lambda ctx, given: given.mul_(ctx.saved_tensors[0]))

#: same_numbers, first_row, ordered [torch]: Functions that give an argument, a view, an order
def saves_order(ctx, arguments, results):
    ctx.mark_non_differentiable(results[1])
    saves(ctx, results[1])
def in_former_order(ctx, given, _):
    return T.zeros_like(given).scatter(0, ctx.saved_tensors[0], given)
same_numbers = function_by(lambda a: a, lambda ctx, arguments, result: None,
                           lambda ctx, given: given, lambda ctx, given: given)
first_row = function_by(lambda a: a[:1], lambda ctx, arguments, result: None,
                        lambda ctx, given: T.cat([given, T.zeros_like(given)]),
                        lambda ctx, given: given[:1])
ordered = function_by(lambda a: tuple(a.sort(0)), saves_order, in_former_order,
                      lambda ctx, given: (given.gather(0, ctx.saved_tensors[0]), None))

#: product [torch]: a Function of two tensors that gives no gradient that nobody needs
def gives_what_is_needed(ctx, given):
    both = reversed(ctx.saved_tensors)
    return tuple(given * one if needed else None
                 for one, needed in zip(both, ctx.needs_input_grad))
def tangent_of_product(ctx, one, other):
    first, second = ctx.saved_tensors
    return (0 if one is None else one * second) + (0 if other is None else other * first)
product = function_by(lambda a, b: a * b, lambda ctx, arguments, result: saves(ctx, *arguments),
                      gives_what_is_needed, tangent_of_product)
