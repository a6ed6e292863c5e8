"""What lines about kinds of graphs may call: the check, and more kinds that it asks.

They are kinds of backwards, of modes, of wrappers and of numbers. The others are in graph_kinds.py.
"""

#: check_graph_kind [slotcore]: kinds of what a sentence says of several (A2, A3, A5, A7, A8, T6)
#> check_graph_kind: collects starts_thread in_hermetic checks
import slotcore_c10, warnings
def two_backwards_of_slices():
    for write, act in {"mul_": lambda one: one.mul_(T.ones(1)), "add_": lambda one: one.add_(1),
                       "fill_": lambda one: one.fill_(3)}.items():
        leaf = T.ones(2).requires_grad_()
        base = leaf + 0  # its node saves nothing, and so fails for neither
        act(base[0:1])
        base.grad_fn.register_hook(meeting())  # both have run the node when it is freed
        total = base.sum()
        errors = errors_of_two(total)
        assert len(errors) == 1, (
            f"A5b: of two backwards that free the node of a base whose part {write} wrote,"
            f" {len(errors)} raise")
        expected = [0, 1] if write == "fill_" else [1, 1]
        assert leaf.grad.tolist() == expected, (
            f"A5b: two backwards, one of which fails after {write}, give {leaf.grad.tolist()}")
        error = raised_by(total.backward)
        assert error is not None, f"A2a: a graph that {write} made ran again, though freed"
def wrappers_of_nodes():
    leaf = T.ones(1).requires_grad_()
    result = leaf * 2
    total = result + 1
    for place, fetch in {"grad_fn": lambda: result.grad_fn,
                         "next_functions": lambda: total.grad_fn.next_functions[0][0],
                         "the accumulator": lambda: result.grad_fn.next_functions[0][0]}.items():
        known = fetch()
        with hermetic():
            fresh, another = fetch(), fetch()
            assert fresh is not another and known not in (fresh, another), (
                f"H1: in hermetic mode, {place} has no fresh wrapper")
            assert (fresh._cdata, fresh.name()) == (known._cdata, known.name()), (
                f"H1: in hermetic mode, {place} is another node")
            assert getattr(fresh, "variable", None) is not leaf, (
                "H1: in hermetic mode, the leaf of an accumulator has the wrapper from outside")
        assert fetch() is known, f"A1c: after hermetic mode, {place} has another wrapper"
        del fresh, another
        assert fetch() is known, f"H3: a hermetic wrapper of {place} dies, and changes the slot"
        del known
        with hermetic():
            fresh = fetch()
        known = fetch()
        assert known is fetch() and known is not fresh, (
            f"H1: the hermetic wrapper of {place} is in the slot")
        with hermetic():
            del known
        assert fetch().name() == fresh.name(), f"H2: the slot of {place} is another node's"
        del fresh
changes_of_saved = {
    "the tensor": lambda one: one, "detach()": lambda one: one.detach(),
    "a view": lambda one: one.view(-1),
}
def writes_between_derivatives():
    for name, make in {"relu()": lambda x: x.relu(), "a product": lambda x: x * x}.items():
        for alias, take in changes_of_saved.items():
            leaf, given = T.ones(2).requires_grad_(), T.ones(2).requires_grad_()
            source = leaf * 1
            result = make(source)
            first, = T.autograd.grad(result, leaf, given, create_graph=True)
            with T.no_grad():
                take(result if name == "relu()" else source).zero_()
            error = raised_by(lambda: T.autograd.grad(first.sum(), given))
            assert error is not None, (
                f"A2b: the derivative of {name} uses what was written through {alias}")
class ActsAsItIsAsked:
    def __init__(self, act):
        self.act = act
    def __bool__(self):
        self.act()
        return True
def options_that_act():
    for call, run in {"Tensor.backward()": lambda y, x, how: y.backward(**how),
                      "backward()": lambda y, x, how: T.autograd.backward(y, **how),
                      "grad()": lambda y, x, how: T.autograd.grad(y, x, **how)}.items():
        for option in ("retain_graph", "create_graph"):
            leaf = T.ones(2).requires_grad_()
            total = (leaf * 2).sum()
            how = {option: ActsAsItIsAsked(total.detach_)}
            error = raised_by(lambda: run(total, leaf, how))
            assert error is not None and leaf.grad is None, (
                f"P8: {call} looks at its root before it asks {option} for a truth value")
calls_that_free = {
    "Tensor.backward()": lambda y, x: y.backward(),
    "backward()": lambda y, x: T.autograd.backward([y]),
    "grad()": lambda y, x: T.autograd.grad(y, x),
    "Tensor.backward(inputs)": lambda y, x: y.backward(inputs=[x]),
    "backward(inputs)": lambda y, x: T.autograd.backward([y], inputs=[x]),
    "grad(create_graph, retain_graph=False)": lambda y, x: T.autograd.grad(
        y, x, create_graph=True, retain_graph=False),
}
def each_call_frees():
    for name, make in {"a product": lambda x: x * x, "relu()": lambda x: x.relu(),
                       "a Function": fn("save_input", "y", "saved").apply}.items():
        for call, run in calls_that_free.items():
            leaf = T.ones(2).requires_grad_()
            total = make(leaf).sum()
            run(total, leaf)
            assert raised_by(total.backward) is not None, f"A2a: {call} does not free {name}"
            total = make(leaf).sum()
            total.backward()
            assert raised_by(lambda: run(total, leaf)) is not None, (
                f"A2a: {call} runs {name}, which is freed")
        leaf = T.ones(2).requires_grad_()
        middle = make(leaf)
        total = make(middle).sum()
        T.autograd.grad(total, middle)
        assert raised_by(total.backward) is not None, f"A2a: grad() does not free {name} that ran"
        error = raised_by(middle.sum().backward)
        assert error is None, f"A2a: grad() frees {name} that did not run: {error}"
def modes_set_again():
    for wanted in (False, True):
        for former in (False, True):
            T.set_grad_enabled(former)
            again, states = T.set_grad_enabled(wanted), [T.is_grad_enabled()]
            again.__exit__(None, None, None)
            states.append(T.is_grad_enabled())
            def enters():
                with again:
                    states.append(T.is_grad_enabled())
                    with again:
                        states.append(T.is_grad_enabled())
                    states.append(T.is_grad_enabled())
            for entry in ("then entered", "then entered again"):
                error = raised_by(enters)
                states.append(T.is_grad_enabled())
                assert error is None, (
                    f"A5e: set_grad_enabled({wanted}) that was left and {entry} raises: {error}")
            expected = [wanted, former] + [wanted, wanted, wanted, former] * 2
            assert states == expected, (
                f"A5e: set_grad_enabled({wanted}) in the mode {former} that is left and entered"
                f" again makes the modes {states}")
            error = raised_by(lambda: again.__exit__(None, None, None))
            assert error is not None and T.is_grad_enabled() == former, (
                f"A5e: set_grad_enabled({wanted}) is left, and was not entered")
            T.set_grad_enabled(True)
graphs_of_one_gradient = {
    "the leaf": lambda x: x, "sum()": lambda x: x.sum(), "an alias": lambda x: x[...],
    "view()": lambda x: x.view(tuple(x.size())), "expand()": lambda x: x.expand(tuple(x.size())),
    "t()": lambda x: x.t() if x.dim() else x, "clone()": lambda x: x.clone(),
    "a negative view": lambda x: x._neg_view()._neg_view(), "a sum": lambda x: x + T.zeros(()),
    "sum() of a view": lambda x: x.view(-1).sum(),
}
def gradients_of_one_number():
    for name, make in graphs_of_one_gradient.items():
        for size in ((), (1,), (2,)):
            for recorded in (False, True):
                leaf = T.ones(size).requires_grad_()
                result = make(leaf)
                given = T.ones(tuple(result.size()))
                result.backward(given, create_graph=recorded)
                with T.no_grad():
                    leaf.grad.fill_(5)
                assert given.sum().item() == given.numel(), (
                    f"A7: {name} of {size}: a write to .grad changes what the backward was given")
                leaf.grad = None
    x, y = T.ones(()).requires_grad_(), T.ones(()).requires_grad_()
    (x.sum() + y.sum()).backward()
    x.grad.fill_(7)
    assert y.grad.item() == 1, "A7: a write to the .grad of a leaf changes that of another"
def nested_backwards_free():
    clears = fn("save_input", "y", "clears").apply
    def is_whole(node):
        return raised_by(lambda: node.saved_tensors) is None
    for outer_retains in (False, True):
        for inner_retains in (False, True):
            leaf, found = T.ones(1).requires_grad_(), []
            inner, outer = clears(leaf), clears(leaf)
            def runs_inner(gradient):
                with T.enable_grad():
                    inner.sum().backward(retain_graph=inner_retains)
                found.append(is_whole(inner.grad_fn))
            outer.register_hook(runs_inner)
            outer.sum().backward(retain_graph=outer_retains)
            found.append(is_whole(outer.grad_fn))
            assert found == [inner_retains, outer_retains], (
                f"A2a: a backward with retain_graph={inner_retains} keeps its graph: {found[0]};"
                f" the one around it, with retain_graph={outer_retains}: {found[1]}")
            later = clears(leaf)
            later.grad_fn.maybe_clear_saved_tensors()
            assert is_whole(later.grad_fn), "A5c: after a backward, its thread still frees graphs"
infinite = float("inf")
unfit_numbers = {
    T.int64: (infinite - infinite, infinite, -infinite, 1e30, -1e30, 2.0 ** 63, -2.0 ** 64, 1j),
    T.uint8: (infinite - infinite, infinite, -infinite, 256, -256, 256.0, -1.0, 1e30, -1e30, 1j),
    T.float32: (1e300, -1e300, 1j), T.float64: (1j, 1 + 2j),
}
fit_numbers = {
    T.int64: (0, -1, 2 ** 63 - 1, -2 ** 63, -2.0 ** 63, 1.5), T.uint8: (0, 255, 255.0),
    T.float32: (infinite - infinite, infinite, -infinite, 3e38, -3e38),
    T.float64: (infinite - infinite, infinite, -infinite, 1e300, -1e300),
    T.bool: (infinite - infinite, infinite, 2, 0.5, 1j),
}
writes_of_numbers = {
    "fill_": lambda one, number: one.fill_(number),
    "an assignment": lambda one, number: one.__setitem__(0, number),
    "an assignment to all": lambda one, number: one.__setitem__(..., number),
}
def numbers_at_both_ends():
    for write, act in writes_of_numbers.items():
        for dtype, numbers in unfit_numbers.items():
            for number in numbers:
                one = T.ones(2, dtype=dtype)
                error = raised_by(lambda: act(one, number))
                assert error is not None, (
                    f"P9: {write} of {number} to {dtype} is accepted, and gives {one.tolist()}")
                assert one.tolist() == [1, 1] and one._version == 0, (
                    f"P8: {write} of {number} to {dtype} raises and has written")
        for dtype, numbers in fit_numbers.items():
            for number in numbers:
                error = raised_by(lambda: act(T.ones(2, dtype=dtype), number))
                assert error is None, f"P9: {write} of {number} to {dtype} raises: {error}"
class KeepingNothing(T.autograd.Function):
    def forward(self, tensor, factor):
        self.factor = factor
        return tensor.mul(factor)
    def backward(self, gradient):
        return gradient.mul(self.factor), None
def categories_of(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [one.category.__name__ for one in caught]
def legacy_calls_warn():
    leaf, legacy = T.ones(2).requires_grad_(), KeepingNothing()
    kept = legacy(leaf, 2.0)
    again = categories_of(lambda: legacy(leaf, 3.0))
    assert again == ["UserWarning"], f"A6: a legacy Function is called again, and warns of {again}"
    del kept
    once = categories_of(lambda: legacy(leaf, 4.0))
    assert once == [], f"A6: a legacy Function whose graph is gone warns of {once}"
class AddingToSecond(T.autograd.Function):
    @staticmethod
    def forward(ctx, tensor, written):
        written.add_(tensor)
        ctx.mark_dirty(written)
        return written
    @staticmethod
    def backward(ctx, gradient):
        return gradient, gradient
def second_argument_written():
    leaf, other = T.ones(4).requires_grad_(), T.ones(2).requires_grad_()
    base = leaf.mul(1)
    if raised_by(lambda: AddingToSecond.apply(other, base[0:2])) is None:
        base.sum().backward()
        found = leaf.grad.tolist(), None if other.grad is None else other.grad.tolist()
        assert found == ([1, 1, 1, 1], [1, 1]), f"A7: a write by a Function gives {found}"
runs_of_waiting_releases = {
    "a tensor is made": lambda owner: T.ones(1), "a storage is made": lambda owner: Sub(1),
    "a tensor is wrapped": lambda owner: owner.grad, "_live_impls()": lambda owner: T._live_impls(),
    "a storage is wrapped": lambda owner: owner.untyped_storage(),
    "_live_wrappers()": lambda owner: T._live_wrappers(),
    "_live_blocks()": lambda owner: T._live_blocks(),
}
def waiting_releases_run():
    owner = T.ones(1)
    owner.grad = T.ones(1)
    for name, run in runs_of_waiting_releases.items():
        one, found = T.ones(2), []
        handle = one._weak_ref()
        released = slotcore_c10.Owner(handle)
        del one
        def releases():
            released.drop()  # the main thread, which would run what waits, waits for this one
            run(owner)
            found.append(T.Tensor._expired(handle))
        error = Worker(releases).join()
        T.Tensor._free_weak_ref(handle)
        assert error is None and found == [True], (
            f"T6: a release that waits for a thread with the GIL still waits after {name}")
more_graph_kinds = {
    "legacy_warning": legacy_calls_warn, "second_argument": second_argument_written,
    "two_backwards_of_slices": two_backwards_of_slices, "hermetic_node": wrappers_of_nodes,
    "derivative_notices": writes_between_derivatives, "truth_value_acts": options_that_act,
    "each_call_frees": each_call_frees, "mode_set_again": modes_set_again,
    "gradient_of_one_number": gradients_of_one_number, "nested_frees": nested_backwards_free,
    "unfit_number": numbers_at_both_ends, "waiting_release": waiting_releases_run,
}
def check_graph_kind(name):
    if in_hermetic() or T._meta.mode_count():
        return
    with T.enable_grad():
        {**graph_kinds, **more_graph_kinds, **owned_graph_kinds}[name]()
