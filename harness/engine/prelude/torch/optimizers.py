"""What lines may call about optimizers, which write parameters by loops, lists or one operation.

Three implementations of one formula: they must agree, whatever layouts parameters and gradients
have, and they write parameters and their own state alone.
"""

#: laid_out [torch]: by name, a tensor of 16 numbers with a layout, in memory of 64 numbers
def laid_out(layout, start):
    memory = T.arange(start, start + 64.0).sin()
    return memory, {
        "contiguous": lambda: memory[:16].view(4, 4),
        "transposed": lambda: memory[:16].view(4, 4).t(),
        "spread": lambda: memory[:32].view(4, 8)[:, ::2], "later": lambda: memory[16:32].view(4, 4),
        "repeated": lambda: memory[:4].expand(4, 4)}[layout]()

#: check_optimizer [torch]: loops, lists and fused operations do the same, to nothing else (P9)
#> check_optimizer: checks
def stepped_by(optimizer, keywords, layouts):
    memory, tensor = laid_out(layouts[0], 1.0)
    gradient = laid_out(layouts[1], 7.0)[1]
    parameter = T.nn.Parameter(tensor)
    parameter.grad = gradient
    before, given = memory.clone(), gradient.clone()
    used = optimizer([parameter], lr=0.5, **keywords)
    for _ in range(2):
        used.step()
    numbers = tensor.clone()
    tensor.zero_()
    before.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset()).zero_()
    return numbers, T.equal(memory, before), T.equal(gradient, given)
def check_optimizer(optimizer, how, layout, gradient):
    if in_hermetic():
        return
    own = {"momentum": 0.5, "nesterov": True} if optimizer is T.optim.SGD else {}
    with T.inference_mode(False), T.enable_grad():
        try:
            wanted, _, _ = stepped_by(optimizer, {**own, "foreach": False}, (layout, gradient))
            found, is_own, is_kept = stepped_by(optimizer, {**own, how: True}, (layout, gradient))
        except (RuntimeError, TypeError):
            return
    name = f"an optimizer with {how}=True"
    assert is_own, f"P9: {name} writes numbers that are not the parameter's"
    assert is_kept, f"P9: {name} writes the gradient"
    is_close = T.allclose(found, wanted, rtol=1e-3, atol=1e-5)  # a 0 of RAdam is 1e-7 by lists
    assert is_close, f"P9: {name} gives other numbers than a loop does"

#: check_state_apart [torch]: an optimizer has state of its own (P9)
#> check_state_apart: checks
def check_state_apart():
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        both = []
        for _ in range(2):
            parameter = T.nn.Parameter(T.ones(2))
            parameter.grad = T.ones(2)
            both.append((parameter, T.optim.SGD([parameter], lr=0.5, momentum=0.5)))
        (one, first), (other, second) = both
        first.step()
        second.load_state_dict(first.state_dict())
        states = [used.state[its]["momentum_buffer"] for its, used in both]
    assert not shares_bytes(*states), (
        "P9: load_state_dict() gives an optimizer the state of another one")
