"""Hooks of each kind of node, what they may return, and hooks and modes of what a graph saves."""

#: pairs_of_each_node, DoublesAndSavesInput, written_product [slotcore]: hooks and notes of nodes
def written_product(leaf, write):
    base = leaf * 1
    write(base)
    return base
def results_of_each_node():
    """Results of a leaf x = [1.0, 1.0], by an operation or by a write; k is [3.0, 3.0]."""
    return expressions_of("x, k", """
        x * k
        x + k
        x.relu()
        x.sum()
        x.clone()
        x[1:]
        x._neg_view()
        x.expand(3, 2)
        T.zeros(2).copy_(x)
        written_product(x, lambda b: b[:1].mul_(2))
        written_product(x, lambda b: b.fill_(x[0]))
        written_product(x, lambda b: b.relu_())
        written_product(x, lambda b: b.mul_(x))
        written_product(x, lambda b: b[1:].copy_(x[:1]))
        written_product(x, lambda b: b[:1].relu_())
        fn().apply(x)""")
def leaf_and_threes():
    return T.ones(2).requires_grad_(), T.ones(2) * 3
def gradient_at(leaf, result, create_graph=False):
    return T.autograd.grad(result.sum(), leaf, None, True, create_graph, True)[0]
def scaled_gradients(factor, gradients):
    return tuple(one if one is None else one * factor for one in gradients)
def check_no_gradients(make):
    """A hook that replaces all gradients of a node with None ends the backward there; but a custom
    Function gets zeros for None."""
    leaf, threes = leaf_and_threes()
    if not make.__name__.startswith("fn"):
        result = make(leaf, threes)
        result.grad_fn.register_prehook(lambda gradients: (None,))
        found = gradient_at(leaf, result)
        assert found is None, (
            f"A3: {make.__name__} with a pre-hook that returns None leads to a gradient")
    result = make(leaf, threes)
    result.grad_fn.register_hook(lambda inputs, outputs: (None,) * len(inputs))
    found = gradient_at(leaf, result)
    assert found is None, (
        f"A3: {make.__name__} with a post-hook that returns None for each gradient leads to one")
def check_scaled_gradients(make):
    """Two pre-hooks and two post-hooks scale the gradients, and each sees what the former gave."""
    leaf, threes = leaf_and_threes()
    result, expected = make(leaf, threes), gradient_at(leaf, make(leaf, threes)).sum().item() * 210
    node, seen = result.grad_fn, []
    node.register_prehook(lambda gradients: scaled_gradients(2, gradients))
    node.register_prehook(lambda gradients: scaled_gradients(3, gradients))
    node.register_hook(lambda inputs, outputs: scaled_gradients(5, inputs))
    def see_and_scale(inputs, outputs):
        seen.append(outputs[0].sum().item() / outputs[0].numel())
        return scaled_gradients(7, inputs)
    node.register_hook(see_and_scale)
    found, where = gradient_at(leaf, result).sum().item(), (
        f"for {make.__name__} with pre-hooks that scale by 2 and 3 and post-hooks by 5 and 7")
    assert found == expected, f"A3: the sum of the gradient is {found}, not {expected}, {where}"
    assert seen == [6.0], f"A3: post-hooks see the gradients {seen}, not [6.0], {where}"
def replies_of_hooks():
    """What a hook returns, and the gradient or the error that it leads to."""
    return expression_rows("x, k", """
        x.relu() -> "register_prehook" -> k -> [3.0, 3.0]
        x.relu() -> "register_hook" -> k -> [3.0, 3.0]
        fn().apply(x) -> "register_prehook" -> k -> [6.0, 6.0]
        fn().apply(x) -> "register_hook" -> k -> [3.0, 3.0]
        fn().apply(x) -> "register_prehook" -> (None,) -> [0.0, 0.0]
        fn("no_zeros").apply(x) -> "register_prehook" -> (None,) -> TypeError
        x.relu() -> "register_prehook" -> [k] -> TypeError
        x.relu() -> "register_hook" -> [k] -> TypeError
        x.relu() -> "register_hook" -> () -> RuntimeError
        x.relu() -> "register_hook" -> (k, k) -> RuntimeError
        x.relu() -> "register_hook" -> T.ones(3) -> RuntimeError
        x.relu() -> "register_hook" -> T.ones(2, device="meta") -> RuntimeError
        x.relu() -> "register_hook" -> T.ones(2, 1) -> RuntimeError
        x.relu() -> "register_hook" -> T.ones(0) -> RuntimeError
        x * k -> "register_hook" -> () -> RuntimeError
        x * k -> "register_hook" -> (k,) -> RuntimeError
        x * k -> "register_hook" -> k -> RuntimeError
        x.relu() -> "register_hook" -> T.ones(3, 2, dtype=T.float64) -> [3.0, 3.0]""")
def check_reply_of_hook(make, register, reply, expected):
    leaf, threes = leaf_and_threes()
    result, one, method = make(leaf, threes), reply(leaf, threes), register(None, None)
    getattr(result.grad_fn, method)(lambda *gradients: one)
    found, right = [], expected(None, None)
    raised = class_raised(lambda: found.append(gradient_at(leaf, result).tolist()))
    assert (raised or found[0]) == right, (
        f"A3: {make.__name__} leads to {raised or found[0]}, not {right}, with a hook by"
        f" {method}() that returns {reply.__name__}")
def check_swapped_gradients():
    """A pre-hook sees and replaces the gradients of all results of the node."""
    leaf, _ = leaf_and_threes()
    first, second = fn("nothing", "pair").apply(leaf)
    second.grad_fn.register_prehook(lambda gradients: (gradients[1], gradients[0]))
    found = gradient_at(leaf, second).tolist()
    assert found == [2.0, 2.0], (
        f"A3: a pre-hook that swaps gradients leads to {found}, not [2.0, 2.0]")
def check_grad_modes_in_hooks():
    """Hooks of each kind run with the recording that create_graph asks for."""
    (leaf, _), modes = leaf_and_threes(), []
    def see_mode(*gradients):
        modes.append(T.is_grad_enabled())
    result = fn("save_input").apply(leaf * 1)
    result.register_hook(see_mode)
    result.grad_fn.register_prehook(see_mode)
    result.grad_fn.register_hook(see_mode)
    result.sum().backward(retain_graph=True)
    assert modes == [False] * 3, f"A3: hooks run with recording {modes} in a backward"
    assert leaf.grad.requires_grad is False, "A3: a backward makes a gradient that requires one"
    modes.clear()
    result.sum().backward(create_graph=True)
    assert modes == [True] * 3, f"A3: hooks run with recording {modes} with create_graph"
    total = result.sum()
    with T.no_grad():
        modes.clear()
        total.backward(create_graph=True)
        assert T.is_grad_enabled() is False, "A3: a backward in no_grad mode leaves recording on"
    assert modes == [True] * 3, (
        f"A3: hooks run with recording {modes} with create_graph in no_grad mode")
    leaf.grad = None  # may own a graph that owns the leaf
def check_handles_after_graph():
    """Handles of hooks whose graph has ended can still be removed, also twice."""
    leaf, _ = leaf_and_threes()
    result = leaf * 1
    handles = {"a hook of a tensor": result.register_hook(len),
               "a post-hook": result.grad_fn.register_hook(len),
               "a pre-hook": result.grad_fn.register_prehook(len)}
    del result
    for name, handle in [*handles.items(), *handles.items()]:
        found = handle.remove()
        assert found is None, f"A3: remove() of {name} returns {found} after the graph has ended"
def raise_in_pack(tensor):
    raise KeyError("a pack hook raises")
def check_refused_packs():
    """A write whose pack hook raises changes neither the tensor nor its operand."""
    leaf, threes = leaf_and_threes()
    written = (leaf * 1).mul_(threes)
    node = written.grad_fn
    for write in expressions_of("b, x, k", """
            b.mul_(k)
            b[:1].mul_(k[:1])
            b.mul_(x)
            k.mul_(b)"""):
        with T.autograd.graph.saved_tensors_hooks(raise_in_pack, len):
            raised = class_raised(write, written, leaf, threes)
        where = f"after {write.__name__} with a pack hook that raises"
        assert raised is KeyError, f"A3: {raised} comes out, not KeyError, {where}"
        assert written.grad_fn is node, f"A3: b has another node {where}"
        assert threes.requires_grad is False, f"A3: k requires a gradient {where}"
        for name, tensor, version in (("b", written, 1), ("k", threes, 0)):
            found = tensor._version, tensor.tolist()
            assert found == (version, [3.0, 3.0]), (
                f"A3: the version and the numbers of {name} are {found} {where}")
class DoublesAndSavesInput(T.autograd.Function):
    """Writes its argument, and takes what it has saved for the derivative."""
    @staticmethod
    def forward(ctx, tensor):
        tensor.mul_(2)
        ctx.mark_dirty(tensor)
        ctx.save_for_backward(tensor)
        return tensor
    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0]
def check_packed_as_others():
    """A backward takes what the unpack hook gives, and second derivatives go through it."""
    (leaf, threes), unpacked = leaf_and_threes(), []
    def unpack(packed):
        unpacked.append(packed)
        return threes
    with T.autograd.graph.saved_tensors_hooks(lambda tensor: None, unpack):
        result = leaf * threes
    found = gradient_at(leaf, result).tolist()
    assert found == [3.0, 3.0], f"A3: x * k, packed as None, leads to the gradient {found}"
    assert unpacked == [None], f"A3: the hook unpacks {unpacked}, not [None], for x * k"
    base = leaf * 3
    with T.autograd.graph.saved_tensors_hooks(lambda tensor: [tensor], lambda packed: packed[0]):
        written = DoublesAndSavesInput.apply(base[:1])
    first = gradient_at(leaf, written, create_graph=True)
    assert first.tolist() == [18.0, 0.0], (
        f"A3: a written view, packed in a list, leads to the gradient {first.tolist()}")
    second = gradient_at(leaf, first).tolist()
    assert second == [54.0, 0.0], (
        f"A3: a written view, packed in a list, leads to the second derivative {second}")
def check_refused_set():
    """A tensor with a history cannot be set to a leaf."""
    leaf, _ = leaf_and_threes()
    raised = class_raised(lambda: gradient_at(leaf, written_product(leaf, lambda b: b.set_(leaf))))
    assert raised is RuntimeError, f"A3: set_() of x * 1 to x and a backward raise {raised}"
def check_nested_grad_modes():
    """Three grad modes: each gives back what it found at the entry that it leaves, also if they
    are entered again and left in another order. Behind each step is what is_grad_enabled() says."""
    modes = {"first": T.no_grad(), "second": T.enable_grad(), "third": T.no_grad()}
    steps = (("enters", "first", False), ("enters", "second", True), ("enters", "first", False),
             ("enters", "second", True), ("leaves", "second", False), ("leaves", "first", True),
             ("leaves", "second", False), ("leaves", "first", True), ("enters", "first", False),
             ("enters", "third", False), ("leaves", "first", True), ("leaves", "third", False))
    with T.enable_grad():
        for number, (step, name, expected) in enumerate(steps, 1):
            if step == "enters":
                modes[name].__enter__()
            else:
                modes[name].__exit__(None, None, None)
            found = T.is_grad_enabled()
            assert found is expected, (
                f"A3: is_grad_enabled() is {found} after step {number}, which {step} the {name}"
                f" mode")
        T.set_grad_enabled(True)
        assert T.is_grad_enabled() is True, "A3: set_grad_enabled(True) enables no recording"
def events_of_nodes():
    """What happens to the graph of the result r of the leaf x."""
    return expressions_of("x, r", """
        r.sum().backward(retain_graph=True)
        r.sum().backward()
        (r.sum().backward(), class_raised(r.sum().backward))
        r.sum().backward(create_graph=True)
        T.autograd.grad(r.sum(), x, allow_unused=True)
        class_raised(fn("nothing", "y", "raises").apply(r).sum().backward)
        (r[...], r.detach(), r.relu())
        class_raised(r[...].mul_, 2)""")
def check_noted_on_node(make, event):
    """What a program notes on a node, and the hooks that it registers, stay."""
    leaf, threes = leaf_and_threes()
    result, note, called = make(leaf, threes), object(), []
    node = result.grad_fn
    metadata, name, edges = node.metadata, node.name(), node.next_functions
    metadata["note"] = note
    node.register_prehook(called.append)
    where = f"of the node of {make.__name__} after {event.__name__}"
    event(leaf, result)
    assert node.metadata is metadata, f"A3: the metadata {where} is another dictionary"
    assert metadata == {"note": note}, f"A3: the metadata {where} is {metadata}"
    assert node.name() == name, f"A3: the name {where} is {node.name()}"
    runs_it = "r.sum()" in event.__name__
    assert bool(called) is runs_it, f"A3: {len(called)} calls of the pre-hook {where}"
    assert node.next_functions == edges, f"A3: the edges {where} are not {edges}"
    leaf.grad = None  # may own a graph that owns the leaf
def pairs_of_each_node():
    for make in results_of_each_node():
        check_no_gradients(make)
        check_scaled_gradients(make)
        for event in events_of_nodes():
            check_noted_on_node(make, event)
    for row in replies_of_hooks():
        check_reply_of_hook(*row)
    check_swapped_gradients()
    check_grad_modes_in_hooks()
    check_handles_after_graph()
    check_refused_packs()
    check_packed_as_others()
    check_refused_set()
    check_nested_grad_modes()
