"""What lines about custom Functions may call: Functions of named parts, and checks.

A Function is named by what its forward does, what it returns, and what its backward does. So a line
says all of it, and no code comes from a corpus.
"""

#: ctxs: those that a forward or a backward has kept
ctxs = []

#: acts: what a forward may do; x is its first argument, y what it computed, v a view of y
def hold(ctx, **held):
    vars(ctx).update(held)
acts = {
    "nothing": lambda ctx, x, y, v: None,
    "save_input": lambda ctx, x, y, v: ctx.save_for_backward(x),
    "save_result": lambda ctx, x, y, v: ctx.save_for_backward(y),
    "save_both": lambda ctx, x, y, v: ctx.save_for_backward(x, y),
    "save_view": lambda ctx, x, y, v: ctx.save_for_backward(v),
    "save_leaf": lambda ctx, x, y, v: ctx.save_for_backward(T.ones(1)),
    "save_none": lambda ctx, x, y, v: ctx.save_for_backward(None),
    "mark_input": lambda ctx, x, y, v: ctx.mark_dirty(x),
    "mark_result": lambda ctx, x, y, v: ctx.mark_dirty(y),
    "no_gradient": lambda ctx, x, y, v: ctx.mark_non_differentiable(y),
    "no_zeros": lambda ctx, x, y, v: ctx.set_materialize_grads(False),
    "hold_input": lambda ctx, x, y, v: hold(ctx, x=x),
    "hold_result": lambda ctx, x, y, v: hold(ctx, y=y),
    "hold_view": lambda ctx, x, y, v: hold(ctx, v=v),
    "hold_itself": lambda ctx, x, y, v: hold(ctx, me=ctx),
    "hold_closure": lambda ctx, x, y, v: hold(ctx, function=lambda: (x, y)),
    "stash": lambda ctx, x, y, v: ctxs.append(ctx),
    "write_input": lambda ctx, x, y, v: x.mul_(2),
    "write_view": lambda ctx, x, y, v: v.mul_(2),
    "read_saved": lambda ctx, x, y, v: ctx.saved_tensors,
    "nest": lambda ctx, x, y, v: fn("save_input", "y", "saved").apply(x),
    "collect": lambda ctx, x, y, v: gc.collect(),
    "raise": lambda ctx, x, y, v: {}["a forward raises"],
}

#: returned: what a forward may return
returned = {
    "y": lambda x, y, v: y, "x": lambda x, y, v: x, "v": lambda x, y, v: v,
    "detached": lambda x, y, v: y.detach(), "pair": lambda x, y, v: (y, y * 1),
    "same": lambda x, y, v: (y, y), "with_number": lambda x, y, v: (y, 7),
    "with_input": lambda x, y, v: (y, x),
}

#: backwards: what a backward may do and return; g is its first gradient
def keeps(ctx, g):
    ctx.kept = ctx.saved_tensors
    return g
def collects(ctx, g):
    gc.collect()
    return g
def nests(ctx, g):
    with T.enable_grad():
        T.ones(1).requires_grad_().mul(2).sum().backward()
    return g
def stashes(ctx, g):
    ctxs.append(ctx)
    return g
def writes(ctx, g):
    with T.no_grad():
        ctx.saved_tensors[0].mul_(2)
    return g
backwards = {
    "doubles": lambda ctx, g: g * 2, "saved": lambda ctx, g: g * ctx.saved_tensors[0],
    "none": lambda ctx, g: None, "stashes": stashes, "keeps": keeps, "nests": nests,
    "writes": writes, "collects": collects, "raises": lambda ctx, g: {}["a backward raises"],
    "too_many": lambda ctx, g: (g, g, g, g), "wrong_size": lambda ctx, g: T.ones(7),
    "clears": lambda ctx, g: ctx.maybe_clear_saved_tensors() or g,
}

#: fn, also, returning: a Function of these parts, made once; the same with one part more or other
functions = {}
def fn(first="nothing", result="y", last="doubles", second="nothing"):
    key = first, result, last, second
    if key in functions:
        return functions[key]
    class Fn(T.autograd.Function):
        parts = key
        @staticmethod
        def forward(ctx, x, *others):
            y = x * 2
            v = y.view(-1)
            acts[first](ctx, x, y, v)
            acts[second](ctx, x, y, v)
            return returned[result](x, y, v)
        @staticmethod
        def backward(ctx, g, *others):
            found = backwards[last](ctx, g)
            missing = len(ctx.needs_input_grad) - 1
            return found if type(found) is tuple else (found,) + (None,) * missing
    functions[key] = Fn
    return Fn
def also(function, act):
    return fn(*function.parts[:3], act)
def returning(function, result):
    return fn(function.parts[0], result, *function.parts[2:])

#: fn_setup: the same with setup_context
setup_functions = {}
def fn_setup(act):
    if act not in setup_functions:
        class Fn(T.autograd.Function):
            @staticmethod
            def forward(x):
                return x * 2
            @staticmethod
            def setup_context(ctx, inputs, y):
                acts[act](ctx, inputs[0], y, y.view(-1))
            @staticmethod
            def backward(ctx, g):
                return g * 2
        setup_functions[act] = Fn
    return setup_functions[act]

#: ctx_of: the ctx of a graph that is gone
def ctx_of(function, tensor):
    with T.enable_grad():
        return function.apply(tensor).grad_fn

#: pair: hooks that pack and unpack a saved tensor
def unchanged(packed):
    return packed
def ends_mode(packed):
    T.autograd.graph.saved_tensors_hooks(unchanged, unchanged).__exit__()
    return packed
def exchanges_mode(packed):
    ends_mode(packed)
    T.autograd.graph.saved_tensors_hooks(unchanged, unchanged).__enter__()
    return packed
def leaves_modes(packed):
    import contextlib
    with contextlib.suppress(RuntimeError):
        ends_mode(packed)
    return packed
def drops(packed):
    value = packed.pop()
    stash.clear()
    return value
def stashed_pack(tensor):
    stash.append((tensor,))
    return stash[-1]
def failing(*_):
    raise KeyError("a hook of a saved tensor raises")
def collecting(packed):
    gc.collect()
    return packed
pairs = {
    "same": (unchanged, unchanged), "clones": (lambda x: x.clone(), lambda x: x.clone()),
    "lists": (lambda x: [x], lambda packed: packed[0]), "drops": (lambda x: [x], drops),
    "stashes": (stashed_pack, lambda packed: packed[0]), "leaves": (exchanges_mode, leaves_modes),
    "writes": (lambda x: x.mul_(2), lambda x: x), "raises": (unchanged, failing),
    "collects": (collecting, collecting), "ends": (ends_mode, unchanged),
}
def pair(name):
    return pairs[name]

#: check_packs: hooks pack what is saved once, and unpack it at each use; the inner ones do (A2e)
#> check_packs: checks
def check_packs(tensor):
    log = []
    def noting(name):
        return lambda tensor: log.append(name) or tensor.clone()
    def failing_pack(tensor):
        raise KeyError("a pack hook raises")
    hooks, other = T.autograd.graph.saved_tensors_hooks, differentiable(tensor)
    class SavesOther(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(other)
            return x * 2
        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]
    with T.enable_grad():
        leaf = differentiable(tensor)
        with hooks(failing_pack, failing_pack), hooks(noting("pack"), noting("unpack")):
            result, product, held = leaf.relu(), leaf * leaf, SavesOther.apply(leaf)
        assert log == ["pack"] * 4, f"A2e: four tensors were saved, and the hooks ran as {log}"
        held.grad_fn.saved_tensors, held.grad_fn.saved_tensors
        assert log[4:] == ["unpack"] * 2, f"A2e: two accesses, and the hooks ran as {log[4:]}"
        (result + product).sum().backward()
        assert log[6:] == ["unpack"] * 3, f"A2e: three uses, and the hooks ran as {log[6:]}"
        first, = T.autograd.grad(held.sum(), leaf, create_graph=True)
        assert raised_by(first.sum().backward) is None, "A2e: a packed leaf has left the graph"
    size = tensor.numel()
    assert numbers_of(leaf.grad) == 3 * size, "A7: a gradient through hooks of saved tensors"
    assert numbers_of(other.grad) == size, "A2e: a packed leaf gets another gradient"

#: checkpointed [torch]: computes a tensor again in its backward
import torch.utils.checkpoint
def checkpointed(function, tensor):
    return torch.utils.checkpoint.checkpoint(function, tensor, use_reentrant=True)

#: Legacy [slotcore]: a Function whose instances are called
class Legacy(T.autograd.Function):
    def forward(self, x):
        self.save_for_backward(x)
        return x * x
    def backward(self, g):
        x, = self.saved_tensors
        return g * x * 2

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

#: check_context_freed: what a ctx has saved is freed by a backward that does not keep it (A2a, A2d)
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
if hasattr(T, "_preservation"):  # torch does not collect these
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
#> check_deep_functions: starts_thread checks
def check_deep_functions():
    function = fn("save_input")
    def work():
        leaf = T.ones(1).requires_grad_()
        result = leaf
        for _ in range(500):
            following = function.apply(result)
            following.grad_fn.former = result
            result = following
        result.sum().backward(T.zeros(1).sum())
        return leaf.grad.item()
    assert on_small_stack(work) == 0, "A7: the gradient of a deep graph"
