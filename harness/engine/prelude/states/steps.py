"""What lines about states may call: steps that make, write and detach tensors beside a model.

All tensors have two rows and two columns. After each step all of them are asked for their flags,
versions, bases and gradients.
"""

#: state_views, state_results: what a step may make of x, or of x and y
state_views = {
    "whole": lambda x: x[:], "turned": lambda x: x.t(), "expanded": lambda x: x.expand(2, 2),
    "narrow": lambda x: x.narrow(0, 0, 2), "strided": lambda x: x.as_strided((2, 2), (2, 1)),
    "like": lambda x: x.view_as(x) if x.is_contiguous() else x[:],
}
state_results = {"clone": lambda x: x.clone(), "plus_one": lambda x: x + 1}

#: state_writes: writes of x
state_writes = {
    "add": lambda x: x.add_(1), "fill": lambda x: x.fill_(3), "zero": lambda x: x.zero_(),
}

#: state_acts: other steps
def is_apart(x, y):
    return x is not y and x.memory is not y.memory
def fits_write(x, y):
    """Whether y may be written to x: operands that overlap in part are refused."""
    return is_apart(x, y) or x.tensor.stride() == y.tensor.stride()
def keep_double(s):
    s.compute(s.all[-1].tensor * 2, s.all[-1], saves_other=True)
def multiply_by_two(s):
    s.write("mul_()", lambda: s.all[-1].tensor.mul_(2), saves_other=True)
def keep_product(s):
    x, y = s.pair()
    s.compute(x.tensor * y.tensor, x, y, saved=[
        one.writes for one, other in ((x, y), (y, x)) if other.edge() is not None])
def keep_square(s):
    x = s.all[-1]
    s.compute(x.tensor * x.tensor, x, saved=[x.writes])
def keep_relu(s):
    made = s.compute(s.all[-1].tensor.relu(), s.all[-1])
    if made.node:
        made.node.saved.append((made.writes, made.writes.count))
def keep_sum(s):
    x, y = s.pair()
    s.compute(x.tensor + y.tensor, x, y)
def keep_data(s):
    s.keep(s.all[-1].tensor.data).memory = s.all[-1].memory
def add_other(s):
    x, y = s.pair()
    if fits_write(x, y):
        s.write("add_()", lambda: x.tensor.add_(y.tensor), y)
def multiply_by_other(s):
    x, y = s.pair()
    if fits_write(x, y):
        s.write("mul_()", lambda: x.tensor.mul_(y.tensor), y,
                saved=[y.writes] if x.edge() is not None else [],
                saves_other=y.edge() is not None)  # a copy of what x was
def copy_other(s):
    x, y = s.pair()
    if fits_write(x, y):
        s.write("copy_()", lambda: x.tensor.copy_(y.tensor), y)
def put_other(s):
    x, y = s.pair()
    if is_apart(x, y):
        s.write("x[0] = y[1]", lambda: x.tensor.__setitem__(0, y.tensor[1]), y, part=True)
def put_number(s):
    s.write("x[0] = 2", lambda: s.all[-1].tensor.__setitem__(0, 2.0), part=True)
def write_relu(s):
    s.write("relu_()", s.all[-1].tensor.relu_, saves_result=True)
def want_gradient(s):
    x = s.all[-1]
    x.tensor.requires_grad_()
    x.is_wanted = x.is_wanted or x.place() is None
def refuse_gradient(s):
    x, is_refused = s.all[-1], s.all[-1].place() is not None
    error = raised_by(lambda: x.tensor.requires_grad_(False))
    assert (error is not None) == is_refused, (
        f"A7a: requires_grad_(False) raises {type(error).__name__}")
    x.is_wanted = x.is_wanted and is_refused
def detach_now(s):
    x, is_refused = s.all[-1], s.all[-1].base is not None
    error = raised_by(x.tensor.detach_)
    assert (error is not None) == is_refused, f"A7a: detach_() raises {type(error).__name__}"
    if not is_refused:
        x.node, x.is_wanted, x.retains = None, False, False
def retain_gradient(s):
    x = s.all[-1]
    error = raised_by(x.tensor.retain_grad)
    assert (error is None) == x.requires(), f"A7a: retain_grad() raises {type(error).__name__}"
    x.retains = x.retains or x.place() is not None
def reached_from(edge):
    """The nodes and leaves that a gradient at EDGE gets to."""
    found, left = [], [edge]
    while left:
        one = left.pop()
        if one is not None and not any(one is other for other in found):
            found.append(one)
            left += one.edges
    return found
def total_of(x):
    with T.enable_grad():
        return x.tensor.sum()
def run_backward(s, keeps=True):
    x, total = s.all[-1], total_of(s.all[-1])
    error = raised_by(lambda: total.backward(retain_graph=keeps))
    if not x.requires():
        assert error is not None, "A7a: a backward of what requires no gradient"
        return
    ran = reached_from(x.edge())
    is_wrong = any(one.is_unusable() for one in ran)
    assert (error is not None) == is_wrong, f"A2b: a backward raises {type(error).__name__}"
    if is_wrong:  # some of the gradients are there, and some of the nodes are freed
        s.all.clear()
        return
    for one in s.all:
        is_met = any(it is one and one.is_wanted or one.retains and it is one.node for it in ran)
        one.has_grad = one.has_grad or is_met
    for one in ran:
        if not keeps:
            one.free()
def run_to_other(s):
    """Asks for the gradient of y: only what leads to its place runs."""
    (x, y), found = s.pair(), []
    total, to = total_of(x), y.edge()
    error = raised_by(lambda: found.extend(T.autograd.grad(
        total, [y.tensor], retain_graph=True, allow_unused=True)))
    reached = reached_from(x.edge())
    ran = [] if to is None else [one for one in reached if one is not to and any(
        it is to for it in reached_from(one))]
    is_wrong = not x.requires() or not y.requires() or any(one.is_unusable() for one in ran)
    assert (error is not None) == is_wrong, f"A2a: a gradient raises {type(error).__name__}"
    is_met = not is_wrong and any(one is to for one in reached)
    assert is_met == any(one is not None for one in found), "A7a: a gradient is missing, or new"
    if is_wrong and ran:
        s.all.clear()
    for one in s.all:
        is_seen = any(it is one.node for it in ([*ran, to] if is_met else ran))
        one.has_grad = one.has_grad or one.retains and is_seen
def take_other(s):
    s.all.insert(-1, s.all.pop())
def take_first(s):
    s.all.append(s.all.pop(0))
def take_base(s):
    base = s.all[-1].base
    if base is not None:
        s.all.remove(base)
        s.all.append(base)
state_acts = {
    "nothing": lambda s: None, "ones": lambda s: s.keep(T.ones(2, 2)), "double": keep_double,
    "multiply": multiply_by_two, "run_and_free": lambda s: run_backward(s, keeps=False),
    "run_to_other": run_to_other,
    "record": lambda s: setattr(s, "records", True),
    "record_nothing": lambda s: setattr(s, "records", False),
    "detached": lambda s: s.keep(s.all[-1].tensor.detach(), source=s.all[-1]),
    "data": keep_data, "product": keep_product, "square": keep_square, "relu": keep_relu,
    "sum": keep_sum, "add_other": add_other, "multiply_by_other": multiply_by_other,
    "copy_other": copy_other, "put_other": put_other, "put_number": put_number,
    "relu_in_place": write_relu, "want": want_gradient, "refuse": refuse_gradient,
    "detach": detach_now, "retain": retain_gradient, "run": run_backward, "other": take_other,
    "first": take_first, "base": take_base,
    "write_data": lambda s: s.all[-1].tensor.data.add_(1),
}

#: state_step: does a step to the tensors and to the model
def state_step(s, name):
    x = s.all[-1]
    if name in state_views:
        s.view(state_views[name](x.tensor))
    elif name in state_results:
        s.compute(state_results[name](x.tensor), x)
    elif name in state_writes:
        s.write(name, lambda: state_writes[name](x.tensor))
    else:
        {**state_acts, **state_functions}[name](s)

#: compare_state: what a tensor says of itself
def compare_state(one, name):
    tensor = one.tensor
    found = tensor.requires_grad
    assert found == one.requires(), f"A7a: after {name} requires_grad is {found}"
    found = tensor._base
    expected = None if one.base is None else one.base.tensor
    assert found is expected, f"P1: after {name} a tensor has another base"
    is_changed = tensor._version != one.version
    assert is_changed == (one.writes.count != one.noted), (
        f"A2b: after {name} the version was {one.version}, and is {tensor._version}")
    one.note_version()
    is_leaf = tensor.is_leaf
    assert is_leaf == (one.place() is None), f"A7a: after {name} is_leaf is {is_leaf}"
    if is_leaf or one.retains:  # torch warns of others
        found = tensor.grad is not None
        assert found == one.has_grad, f"A7: after {name} a tensor has a gradient: {found}"

#: check_state: flags, versions, bases and errors after each step (A7a, A2b)
#> check_state: checks
def check_state(*names):
    if in_hermetic():
        return
    s = States()
    for name in names:
        with T.set_grad_enabled(s.records):
            state_step(s, name)
        # A7a, A8: asked for its node, a stale result of a Function raises; in PyTorch also a stale
        # view that was not recorded.
        s.all = [one for one in s.all if not one.is_stale() or one.is_recorded or (
            is_slotcore and not one.is_given)]
        for one in s.all:
            compare_state(one, name)
        if not s.all:
            return
