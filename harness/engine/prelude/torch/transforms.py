"""What lines may call about functions that run under a transform of PyTorch (A10).

A transform runs a function of a tensor, and changes how its operations run or are recorded. What it
gives is compared with what the function gives by itself: its values, what it writes to its
argument, and derivatives, which central differences of the function give. A transform may refuse a
function by an error.
"""

#: functions_of_torch [torch]: torch.func, or functorch of 1.13
def functions_of_torch():
    return T.func if hasattr(T, "func") else __import__("functorch")

#: example, weighted [torch]: a tensor without special values, and a sum in which each number counts
def example():
    return T.tensor([[0.3, -0.7, 1.1], [-1.3, 0.9, 0.4]], dtype=T.float64)
def weighted(result):
    numbers = result.reshape(-1)
    return (numbers * T.arange(1, numbers.numel() + 1, dtype=T.float64)).sum()

#: SMALL_STEP, LARGE_STEP, slope, gradient_by_differences [torch]: central differences
SMALL_STEP, LARGE_STEP = 1e-5, 3e-5  # of derivatives, and of their differences
def slope(function, x, direction):
    with T.no_grad():
        up, down = (function(x + sign * SMALL_STEP * direction) for sign in (1, -1))
        return (up - down) / (2 * SMALL_STEP)
def gradient_by_differences(function, x):
    units = T.eye(x.numel(), dtype=x.dtype).unbind()
    total = lambda one: weighted(function(one.clone()))
    return T.stack([slope(total, x, unit.view(x.size())) for unit in units])

#: through, within [torch]: a mode in which each operation runs as it is; a call in a mode
def through():
    module = __import__("torch.utils._python_dispatch", fromlist=["TorchDispatchMode"])
    class Through(module.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
            return function(*arguments, **(keywords or {}))
    return Through()
def within(mode, function, *arguments):
    with mode():
        return function(*arguments)

#: by_checkpoint [torch]: calls a function again when a backward needs what it has computed
def by_checkpoint(function, *arguments, **keywords):
    module = __import__("torch.utils.checkpoint", fromlist=["checkpoint"])
    return module.checkpoint(function, *arguments, **keywords)

#: transforms [torch]: by name of a transform, what a function gives by itself, and what it gives so
def values_by(call):
    def compared(function, x):
        argument, own = x.clone(), x.clone()
        return (function(own), own), (call(function, argument), argument)
    return compared
def gradients_by(call, writes=False):
    def compared(function, x):
        leaf = x.clone().requires_grad_()
        argument = leaf * 1
        total = weighted(call(function if writes else lambda one: function(one * 1), argument))
        if writes and argument._version == 0:
            with T.no_grad():
                argument.mul_(5)
        found, = T.autograd.grad(total, leaf, allow_unused=True)
        found = T.zeros_like(x) if found is None else found
        return (gradient_by_differences(function, x),), (found,)
    return compared
def gradients_of_functions_by(call):
    def compared(function, x):
        found = functions_of_torch().grad(lambda one: weighted(call(function, one * 1)))(x)
        return (gradient_by_differences(function, x),), (found,)
    return compared
def tangents_by(call):
    def compared(function, x):
        direction = T.arange(1, x.numel() + 1, dtype=x.dtype).view(x.size())
        copied = lambda one: function(one * 1)
        expected, found = slope(copied, x, direction), call(copied, x, direction)
        return (expected,), (T.zeros_like(expected) if found is None else found,)
    return compared
def under_vmap(function, x):
    both = T.stack([x, x + 1])
    return tuple(function(one.clone()) for one in both), tuple(
        functions_of_torch().vmap(lambda one: function(one.clone()))(both))
def under_vmap_of_grad(function, x):
    both, functions = T.stack([x, x + 1]), functions_of_torch()
    gradient = functions.grad(lambda one: weighted(function(one * 1)))
    return tuple(gradient_by_differences(function, one) for one in both), tuple(
        functions.vmap(gradient)(both))
def second_by(call):
    def compared(function, x):
        direction = T.arange(1, x.numel() + 1, dtype=x.dtype).view(x.size())
        total = lambda one: weighted(function(one * 1))
        up, down = (gradient_by_differences(function, x + sign * LARGE_STEP * direction)
                    for sign in (1, -1))
        return ((up - down) / (2 * LARGE_STEP),), (call(total, x, direction),)
    return compared
def backward_twice(total, x, direction):
    leaf = x.clone().requires_grad_()
    first, = T.autograd.grad(total(leaf), leaf, create_graph=True)
    if not first.requires_grad:
        return T.zeros_like(x)
    return T.autograd.grad((first * direction).sum(), leaf)[0]
def hessian_by(outer, inner, total, x, direction):
    functions = functions_of_torch()
    both = [getattr(functions, name) for name in (outer, inner)]
    second = both[0](both[1](total))(x).view(x.numel(), x.numel())
    return second @ direction.view(-1)
def backward_of_dual(total, x, direction):
    leaf, forward = x.clone().requires_grad_(), T.autograd.forward_ad
    with forward.dual_level():
        tangent = forward.unpack_dual(total(forward.make_dual(leaf, direction))).tangent
        if tangent is None or not tangent.requires_grad:
            return T.zeros_like(x)
        try:
            return T.autograd.grad(tangent, leaf)[0]
        except RuntimeError:
            backward_twice(total, x, direction)  # raises if the function has no second derivative
            return T.full_like(x, float("nan"))
def functionalized(function, one):
    return functions_of_torch().functionalize(function)(one)
def by_keyword(function, one):
    return by_checkpoint(lambda one: function(one), one=one, use_reentrant=False)
transforms = {
    "functionalize": values_by(functionalized), "vmap": under_vmap,
    "dispatch": values_by(lambda function, one: within(through, function, one)),
    "jvp": tangents_by(lambda function, *one: functions_of_torch().jvp(
        function, one[:1], one[1:])[1]),
    "backward": gradients_by(lambda function, one: function(one)),
    "backward after a write": gradients_by(lambda function, one: function(one), True),
    "grad": gradients_of_functions_by(lambda function, one: function(one)),
    "grad of functionalize": gradients_of_functions_by(functionalized),
    "vmap of grad": under_vmap_of_grad,
    "backward in dispatch": lambda *both: within(through, transforms["backward"], *both),
    "checkpoint": gradients_by(lambda function, one: by_checkpoint(
        function, one, use_reentrant=False)),
    "checkpoint of a write": gradients_by(lambda function, one: by_checkpoint(
        function, one, use_reentrant=False), True),
    "checkpoint by keyword of a write": gradients_by(by_keyword, True),
    "checkpoint that is reentrant": gradients_by(lambda function, one: by_checkpoint(
        function, one, use_reentrant=True)),
    "save_on_cpu": lambda *both: within(
        T.autograd.graph.save_on_cpu, transforms["backward"], *both),
    "allow_mutation": lambda *both: within(
        T.autograd.graph.allow_mutation_on_saved_tensors, transforms["backward"], *both),
    "backward twice": second_by(backward_twice),
    "backward of dual": second_by(backward_of_dual),
    "jacrev of jacrev": second_by(lambda *one: hessian_by("jacrev", "jacrev", *one)),
    "jacrev of jacfwd": second_by(lambda *one: hessian_by("jacrev", "jacfwd", *one)),
    "jacfwd of jacfwd": second_by(lambda *one: hessian_by("jacfwd", "jacfwd", *one)),
    "jacfwd of jacrev": second_by(lambda *one: hessian_by("jacfwd", "jacrev", *one)),
}

#: simpler_transforms, plainest [torch]: what shows the same bug in a plainer manner
simpler_transforms = {
    "grad": ("backward",), "grad of functionalize": ("grad", "functionalize"),
    "vmap of grad": ("grad", "vmap"), "backward in dispatch": ("backward", "grad"),
    "backward after a write": ("backward",), "checkpoint": ("backward",),
    "checkpoint of a write": ("checkpoint",),
    "checkpoint by keyword of a write": ("checkpoint of a write",),
    "checkpoint that is reentrant": ("backward",), "save_on_cpu": ("backward",),
    "allow_mutation": ("backward",), "backward twice": ("backward",),
    "backward of dual": ("backward twice", "jvp", "jacrev of jacfwd"),
    "jacrev of jacrev": ("backward twice", "grad"),
    "jacrev of jacfwd": ("backward twice", "jvp", "jacrev of jacrev"),
    "jacfwd of jacfwd": ("jacrev of jacfwd", "backward twice", "jvp"),
    "jacfwd of jacrev": ("jacrev of jacrev", "backward twice", "jvp"),
}
plainest = {
    "checkpoint": lambda a: a.relu().exp_(), "checkpoint of a write": lambda a: a * a,
    "checkpoint by keyword of a write": lambda a: a * a,
    "save_on_cpu": lambda a: (a * a, a.mul_(5))[0],
}

#: difference_by, check_transformed [torch]: a function gives the same under a transform (A10)
#> check_transformed: checks
def difference_by(transform, function):
    expected, found = transforms[transform](function, example())
    for pair in zip(expected, found):
        one, other = (part.detach().reshape(-1).tolist() for part in pair)
        if len(one) != len(other) or not all(
                abs(x - y) <= 1e-4 * (1 + abs(x)) for x, y in zip(one, other)):
            return one, other
    return None
def differs_by(transform, function):
    try:
        return difference_by(transform, function)
    except RuntimeError as error:
        return "INTERNAL" in str(error)
def check_transformed(transform, function):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        difference = difference_by(transform, function)
        simpler = simpler_transforms.get(transform, ())
        if not difference or any(differs_by(one, function) for one in simpler):
            return
        usual, code = plainest.get(transform, function), function.__code__.co_code
        if usual.__code__.co_code != code and differs_by(transform, usual):
            return
    names = " and ".join(function.__code__.co_names) or "a product"
    raise AssertionError(  # what it gives may be memory that nobody has written
        f"A10: under {transform}, {names} does not give {difference[0]}, as it does by itself")

#: check_cast_cache [torch]: under autocast, the cache of casts changes no result (A10)
#> check_cast_cache: checks
def write_weight(x, weight):
    with T.no_grad():
        weight.mul_(3)
def set_weight(x, weight):
    weight.data = weight.data * 5
def product_without(mode):
    def product(x, weight):
        with mode():
            return x @ weight
    return product
cast_steps = {
    "product": lambda x, weight: x @ weight, "write": write_weight, "set": set_weight,
    "product in no_grad": product_without(T.no_grad),
    "product in inference_mode": product_without(T.inference_mode),
    "product without autocast": product_without(lambda: T.autocast("cpu", enabled=False)),
    "freeze": lambda x, weight: setattr(weight, "requires_grad", False),
}
def products_under_autocast(steps, cached):
    x, weight = T.ones(2, 2), T.ones(2, 2).requires_grad_()
    shown = []
    with T.autocast("cpu", dtype=T.bfloat16, cache_enabled=cached):
        for step in (*steps, "product"):
            product = cast_steps[step](x, weight)
            if product is not None:
                shown.append((product.tolist(), product.requires_grad))
    return shown
def check_cast_cache(*steps):
    with T.inference_mode(False), T.enable_grad():
        found, expected = (products_under_autocast(steps, cached) for cached in (True, False))
    for one, other in zip(found, expected):
        assert one == other, (
            f"A10: under autocast, after {steps}, a product and whether it requires a gradient are"
            f" {one}, and {other} without a cache")
