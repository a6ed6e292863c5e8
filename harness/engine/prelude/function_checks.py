"""Checks of custom Functions and of their ctx, with their own expectation."""

#: check_context_identity: a node's ctx is its only Python object, and keeps what it has (A1a, A1c)
#> check_context_identity: collects checks
def check_context_identity(tensor):
    function = fn("save_input", "y", "saved", "stash")
    with T.enable_grad():
        result = function.apply(differentiable(tensor))
        ctx, total = ctxs.pop(), result * 1
    assert result.grad_fn is ctx, "A1c: the ctx of forward is not grad_fn"
    assert total.grad_fn.next_functions[0][0] is ctx, "A1c: the ctx of forward is no next function"
    mark, alive = object(), weakref.ref(ctx)
    ctx.mark = mark
    del ctx, result
    gc.collect()
    found = total.grad_fn.next_functions[0][0]
    assert alive() is found, "A1a: a weak reference of a ctx died while its node lives"
    assert found.mark is mark, "A1a: an attribute of a ctx is lost"
    assert type(found) is function._backward_cls, "A1a: the class of a ctx is lost"

#: check_dead_context: each name of a ctx works, or says why it does not (A1b)
#> check_dead_context: checks
def check_dead_context(tensor):
    function = fn("save_both", "y", "saved")
    with T.enable_grad():
        freed = function.apply(differentiable(tensor))
        freed.sum().backward()
        for ctx in (function._backward_cls(), ctx_of(function, differentiable(tensor)),
                    freed.grad_fn):
            for name in dir(ctx):
                try:
                    value = getattr(ctx, name)
                    if name in ("name", "_sequence_nr"):
                        value()
                except (AttributeError, RuntimeError) as error:
                    assert str(error), f"A1b: {name} fails without a reason"

#: check_context_freed: a backward, or the death of the node, frees what a ctx has saved (A2a, A2d)
#> check_context_freed: checks
def check_context_freed(tensor):
    with T.enable_grad():
        leaf = differentiable(tensor)
        result = fn("save_both", "y", "saved").apply(leaf)
        ctx = result.grad_fn
        assert ctx.saved_tensors[0] is leaf or in_hermetic(), "A2: a saved leaf is another tensor"
        fetched = ctx.saved_tensors[1]
        result.sum().backward(retain_graph=True)
        assert raised_by(lambda: ctx.saved_tensors) is None, "A2a: a kept graph is freed"
        result.sum().backward()
        assert raised_by(lambda: ctx.saved_tensors) is not None, "A2a: a freed graph has tensors"
        assert raised_by(result.sum().backward) is not None, "A2a: a freed graph ran again"
        assert numbers_of(fetched) == 2 * leaf.numel(), "A2d: a fetched tensor changed"
        result = fn("save_input", "y", "saved").apply(leaf * 1)
        with T.no_grad():
            result.grad_fn.saved_tensors[0].mul_(2)
        assert raised_by(result.sum().backward) is not None, "A2b: a write was not noticed"
        saved = leaf.detach().requires_grad_()
        saved.note = lambda: None
        note = weakref.ref(saved.note)
        ctx = fn("save_input", "y", "saved").apply(saved).grad_fn
        del saved
        if raised_by(lambda: ctx.saved_tensors) is not None:
            assert note() is None, "A2a: a ctx keeps what it has saved and says was freed"

#: context_cycles: cycles through a ctx whose parts Python or one wrapper owns
def cycle_of_context(leaf, sentinel):
    result = fn("save_input", "y", "saved", "hold_itself").apply(leaf * 1)
    result.grad_fn.result, result.grad_fn.sentinel = result, sentinel
def cycle_of_saved_view(leaf, sentinel):
    fn("save_view").apply(leaf).grad_fn.sentinel = sentinel
def cycle_of_grad_fn(leaf, sentinel):
    result = fn("save_result").apply(leaf)
    result.node, result.sentinel = result.grad_fn, sentinel
def cycle_of_context_hook(leaf, sentinel):
    result = fn().apply(leaf)
    result.grad_fn.register_hook(lambda *_: (result, sentinel))
context_cycles = (cycle_of_context, cycle_of_grad_fn)
if is_slotcore:  # torch does not collect these
    context_cycles += (cycle_of_saved_view, cycle_of_context_hook)

#: check_context_collected: cycles through a ctx (A4a)
#> check_context_collected: collects checks
def check_context_collected(tensor):
    assert_collected(context_cycles, tensor)

#: check_context_kept: the collector takes nothing of a ctx that C++ owns (A4b)
#> check_context_kept: collects checks
def check_context_kept(tensor):
    class Two(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2, x * 3
        @staticmethod
        def backward(ctx, first, second):
            return first * ctx.saved_tensors[0] + second * ctx.factor
    with T.enable_grad():
        leaf = differentiable(tensor)
        first, second = Two.apply(leaf * 1)
        first.grad_fn.factor = leaf.detach() * 5
        first.me = first  # a dead cycle: one of several owners of the node
        total = (first + second).sum()
        del first, second
        gc.collect()
        gc.collect()
        assert raised_by(total.backward) is None, "A4b: a ctx lost what it has saved"
    assert numbers_of(leaf.grad) == 6 * leaf.numel(), "A7: the gradient of two results"

#: Asking: asks for what autograd knows of a tensor, when it dies
#> Asking: finalizes
class Asking:
    def __init__(self, tensor, log):
        self.tensor, self.log = weakref.ref(tensor), log
    def __del__(self):
        tensor = self.tensor()
        self.log.append((tensor.grad_fn, tensor.grad, tensor.retains_grad))

#: check_graph_asks: what a tensor gives up may ask for the tensor while it dies (A5a)
#> check_graph_asks: checks finalizes
def check_graph_asks(tensor):
    log = []
    with T.enable_grad():
        leaf = differentiable(tensor)
        result = fn().apply(leaf)
        result.grad_fn.asking = Asking(result, log)
        result.detach_()
        assert len(log) == 1, "A5a: a node outlives what detached its tensor"
        leaf.register_hook(lambda gradient, asking=Asking(leaf, log): None)
        leaf._backward_hooks = None
        assert len(log) == 2, "A5a: a hook outlives the leaf's hooks"
        leaf.grad = T.ones(tuple(leaf.size()))
        leaf.grad.asking = Asking(leaf, log)
        leaf.grad = None
        assert len(log) == 3 or in_hermetic(), "A5a: a gradient outlives the leaf's"
        for node, gradient, _ in log:  # what was asked for is whole
            assert node is None or node.name(), "A5a: a node without a name"
            assert gradient is None or numbers_of(gradient) == leaf.numel(), (
                "A5a: a gradient without its numbers")

#: check_node_asks: what the node of an operation gives up may ask for the tensor (A5a)
#> check_node_asks: checks finalizes
def check_node_asks(tensor):
    log = []
    with T.enable_grad():
        result = differentiable(tensor) * 2
        result.grad_fn.metadata["asking"] = Asking(result, log)
        result.detach_()
    for node, _, _ in log:
        assert node is None or node.name(), "A5a: a node without a name"

#: check_function_gradient: gradients of a custom Function, twice differentiated (A7)
#> check_function_gradient: checks
def check_function_gradient(tensor):
    class Cube(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, power):
            ctx.save_for_backward(x)
            return x * x * x
        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return g * x * x * 3, None
    with T.enable_grad():
        leaf = differentiable(tensor)
        first, = T.autograd.grad(Cube.apply(leaf * 2, 3).sum(), leaf, create_graph=True)
        second, = T.autograd.grad(first.sum(), leaf)
        written = leaf * 2
        view = written.view(-1)
        for target in (written, view):
            fn("write_input", "x", "doubles", "mark_input").apply(target)
        third, = T.autograd.grad(written.sum(), leaf)
    found = numbers_of(first), numbers_of(second), numbers_of(third)
    expected = tuple(number * leaf.numel() for number in (24, 48, 8))
    assert found == expected, f"A7: the sums of gradients are {found} and not {expected}"

#: check_arguments: what forward and backward get, and what may come back (A8)
#> check_arguments: checks
def check_arguments(tensor):
    seen = []
    class Two(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, number, y, zeros, mark):
            seen.append(ctx.needs_input_grad)
            ctx.set_materialize_grads(zeros)
            result = x * 1, x * 2
            if mark:
                ctx.mark_non_differentiable(result[1])
            return result
        @staticmethod
        def backward(ctx, first, second):
            seen.append(second)
            return first, None, None, None, None, None
    with T.enable_grad():
        leaf = differentiable(tensor)
        first, second = Two.apply(leaf, 7, leaf.detach(), True, False)
        first.sum().backward()
        assert seen[0] == (True, False, False, False, False), f"A8: needs_input_grad is {seen[0]}"
        assert second.requires_grad, "A8: a result requires no gradient"
        assert numbers_of(seen[1]) == 0, "A8: a missing gradient is no tensor of zeros"
        first, second = Two.apply(leaf, 7, leaf.detach(), False, True)
        first.sum().backward()
        assert seen[3] is None, "A8: a missing gradient is not None"
        assert not second.requires_grad, "A8: a result that is marked requires a gradient"
        view = fn("nothing", "x").apply(leaf * 1).view(-1)
        assert raised_by(lambda: view.mul_(2)) is not None, "A8: a view of a result was written"
        for last in ("too_many", "wrong_size"):
            result = fn("nothing", "y", last).apply(T.ones(3).requires_grad_())
            assert raised_by(result.sum().backward) is not None, f"A8: {last} raised nothing"

#: check_legacy [slotcore]: what an instance of a Function does that is called (A6)
#> check_legacy: checks
import warnings
def warned(function, *arguments):
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        function(*arguments)
    return len(noted)
def check_legacy(tensor):
    with T.enable_grad():
        leaf, function = differentiable(tensor), Legacy()
        assert raised_by(function.name) is not None, "A6: a Function without a call has a node"
        for _ in range(2):
            result = function(leaf)
            result.sum().backward()
            assert warned(function, leaf) == 1, "A6: a call while a graph lives did not warn"
            del result
            assert warned(function, leaf) == 0, "A6: a call after the graph is gone warned"
    assert numbers_of(leaf.grad) == 4 * leaf.numel(), "A7: the gradient of a legacy Function"

#: check_apply_references: calls, backwards and errors change no reference count (A9)
#> check_apply_references: checks
CALLS = 100
def nones_left(function, leaf):
    before = sys.getrefcount(None)
    for _ in range(CALLS):
        function.apply(leaf)
    return sys.getrefcount(None) - before
class SetupResult:
    pass
def assert_setup_result_freed(leaf):
    made = []
    class Returning(fn_setup("nothing")):
        @staticmethod
        def setup_context(ctx, inputs, y):
            result = SetupResult()
            made.append(weakref.ref(result))
            return result
    Returning.apply(leaf)
    assert made[0]() is None, "A9: a call keeps what setup_context returned"
def check_apply_references(tensor):
    def count():
        return [sys.getrefcount(one) for one in
                (leaf, leaf.grad, kept, kept.grad_fn, function, setup, function._backward_cls)]
    function = fn("save_both", "y", "saved")
    with T.enable_grad():
        leaf, kept = differentiable(tensor), function.apply(differentiable(tensor))
        setup = fn_setup("save_input") if hasattr(T.autograd.Function, "setup_context") else fn(
            "save_input")
        leaf.sum().backward()
        before = count()
        for _ in range(10):
            function.apply(leaf).sum().backward()
            setup.apply(leaf).sum().backward()
            for failing in ("raise", "mark_result"):
                try:
                    fn("save_both", "y", "saved", failing).apply(leaf)
                except (KeyError, RuntimeError):
                    pass
            kept.grad_fn.saved_tensors, kept.grad_fn.next_functions, kept.grad_fn.name()
        after = count()
        left = sorted(nones_left(setup, leaf) for _ in range(3))[1]
        if hasattr(T.autograd.Function, "setup_context"):
            assert_setup_result_freed(leaf)
    assert after == before, f"A9: reference counts were {before} and are {after}"
    assert left < CALLS / 2, f"A9: {CALLS} calls left {left} references of None"

#: check_deep_functions: a deep graph of custom Functions is run and freed (P6)
#> check_deep_functions: starts_thread checks finalizes
DEEP_FUNCTIONS, NESTED_BYTES = 500, 1 << 12
def gradient_of_deep_functions(are_held):
    function, leaf = fn("save_input"), T.ones(1).requires_grad_()
    result = leaf
    for _ in range(DEEP_FUNCTIONS):
        following = function.apply(result)
        if are_held:
            following.grad_fn.former = result
        result = following
    result.sum().backward(T.zeros(1).sum())
    return leaf.grad.item()
def check_deep_functions():
    found = on_small_stack(lambda: gradient_of_deep_functions(False))
    assert found == 0, "A7: the gradient of a deep graph"
    # A ctx that holds the former result is an object of Python, and CPython nests deallocations:
    # releases before 3.13 fifty of them, and 3.13 ten thousand, on a stack of any size.
    nested = nested_deallocations(DEEP_FUNCTIONS)
    found = on_small_stack(lambda: gradient_of_deep_functions(True), nested * NESTED_BYTES)
    assert found == 0, "A7: the gradient of a deep graph whose ctxs hold results"
