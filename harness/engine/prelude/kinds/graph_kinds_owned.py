"""What lines about kinds of graphs may call: each part of a graph, and each way to write a number.

Cycles go through all parts that a node, a ctx, a scope or a tensor owns. Gradients are read through
bits. The check that asks one of these kinds is in graph_kinds_more.py.
"""

#: owned_graph_kinds [slotcore]: what is asked of each part of a graph, and of bits (A4, A7)
#> owned_graph_kinds: collects
def part_of_base(write):
    def make(leaf):
        base = leaf * 1
        write(base[0:1])
        return base, base.grad_fn
    return make
def result_of(make):
    def with_node(leaf):
        result = make(leaf)
        return result, result.grad_fn
    return with_node
def accumulator_of(leaf):
    result = leaf * 1
    return result, result.grad_fn.next_functions[0][0]
makers_of_nodes = {
    "a product": result_of(lambda leaf: leaf * 2), "an addition": result_of(lambda leaf: leaf + 1),
    "relu()": result_of(lambda leaf: leaf.relu()), "sum()": result_of(lambda leaf: leaf.sum()),
    "clone()": result_of(lambda leaf: leaf.clone()), "a view": result_of(lambda leaf: leaf[...]),
    "a write to a part": part_of_base(lambda part: part.mul_(2)),
    "a fill of a part": part_of_base(lambda part: part.fill_(2)),
    "a Function": result_of(lambda leaf: fn().apply(leaf)), "a leaf": accumulator_of,
}
places_in_graphs = {
    "a hook": lambda leaf, result, node, held: node.register_hook(lambda *_: held),
    "a pre-hook": lambda leaf, result, node, held: node.register_prehook(lambda *_: held),
    "a hook of the result": lambda leaf, result, node, held: result.register_hook(lambda _: held),
    "metadata": lambda leaf, result, node, held: node.metadata.update(held=held),
    "an attribute of the leaf": lambda leaf, result, node, held: setattr(leaf, "held", held),
}
def cycle_by_node(make, put):
    sentinel, leaf = new_sentinel(), T.ones(2).requires_grad_()
    result, node = make(leaf)
    put(leaf, result, node, (result, sentinel))
    return weakref.ref(sentinel)
parts_of_contexts = {
    "mark_dirty()": lambda ctx, one: ctx.mark_dirty(one),
    "mark_non_differentiable()": lambda ctx, one: ctx.mark_non_differentiable(one),
    "save_for_backward()": lambda ctx, one: ctx.save_for_backward(one),
    "save_for_forward()": lambda ctx, one: ctx.save_for_forward(one),
    "needs_input_grad": lambda ctx, one: setattr(ctx, "needs_input_grad", one),
}
def cycle_by_context(put):
    sentinel, ctx, tensor = new_sentinel(), fn()._backward_cls(), T.ones(1)
    tensor.held = ctx, sentinel
    put(ctx, tensor)
    return weakref.ref(sentinel)
pairs_of_hooks = {
    "the pack hook": lambda hook: (hook, len), "the unpack hook": lambda hook: (len, hook),
    "both hooks": lambda hook: (hook, hook),
}
def cycle_by_pair(choose):
    def hook(_, held=new_sentinel()):
        return held
    hook.scope = T.autograd.graph.saved_tensors_hooks(*choose(hook))
    return weakref.ref(hook.__defaults__[0])
def cycles_of_each_part():
    alive = {f"{place} of the node of {maker}": cycle_by_node(make, put)
             for maker, make in makers_of_nodes.items() for place, put in places_in_graphs.items()}
    alive |= {f"{part} of a ctx": cycle_by_context(put) for part, put in parts_of_contexts.items()}
    alive |= {f"{part} of a scope": cycle_by_pair(take) for part, take in pairs_of_hooks.items()}
    collect_all()
    collect_all()
    for place, sentinel in alive.items():
        assert sentinel() is None, f"A4a: the collector leaves a cycle through {place}"
def with_gradient(tensor, grad):
    tensor.grad = grad
    return tensor
links_of_tensors = {
    ".grad": lambda part: with_gradient(T.ones(2), part), "._base": lambda part: part.view(-1),
    "._base of a part": lambda part: part.view(-1)[:1],
    "._base and its .grad": lambda part: with_gradient(T.ones(2), part).view(-1),
    ".grad and its .grad": lambda part: with_gradient(T.ones(2), with_gradient(T.ones(2), part)),
    ".grad and its ._base": lambda part: with_gradient(T.ones(2), part.view(2)),
    "a saved factor": lambda part: T.ones(2).requires_grad_() * part,
    "a node and its leaf": lambda part: part.requires_grad_() * 2,
    "the graph of a part": lambda part: T.ones(2).requires_grad_().mul(part)[:1],
    "the graph of .grad": lambda part: with_gradient(T.ones(2), part.requires_grad_() * 2),
}
def cycle_by_link(link, holder_of):
    sentinel, part = new_sentinel(), T.ones(2)
    holder_of(part).held = link(part), sentinel
    return weakref.ref(sentinel)
def cycles_of_each_link():
    alive = {f"{name}, held by {held}": cycle_by_link(link, of)
             for name, link in links_of_tensors.items()
             for held, of in (("a tensor", lambda part: part), ("a storage", storage_of))}
    collect_all()
    collect_all()
    for name, sentinel in alive.items():
        assert sentinel() is None, f"A4a: the collector leaves a cycle through {name}"
graphs_of_complex_numbers = {
    "a product": lambda x: x * (2 + 1j), "a square": lambda x: x * x, "a sum": lambda x: x + 1j,
    "conj()": lambda x: x.conj(), "a negative view": lambda x: x._neg_view(),
    "clone()": lambda x: x.clone(), "view()": lambda x: x.view(-1, 1), "a slice": lambda x: x[:1],
    "expand()": lambda x: x.expand(3, 2), "sum()": lambda x: x.sum(),
    "as_strided()": lambda x: x.as_strided((2, 2), (1, 0)), "pairs": lambda x: T.view_as_real(x),
    "a pair": lambda x: T.view_as_real(x[1:]), "a copy": lambda x: x.conj().resolve_conj(),
    "pairs of a negative view": lambda x: T.view_as_real(x._neg_view()),
    "a write to a part": lambda x: (y := x * 1, y[:1].mul_(x[1:]))[0],
    "a write through conj()": lambda x: (y := x * 1, y.conj()[:1].copy_(x[1:]))[0],
    "a write to pairs": lambda x: (y := x * 1, T.view_as_real(y).mul_(T.view_as_real(x)))[0],
}
bits_of_numbers = {
    "conjugated": lambda one: one.conj(), "negative": lambda one: one._neg_view(),
    "negative and conjugated": lambda one: one.conj()._neg_view(),
}
def gradients_with_bits():
    for graph, make in graphs_of_complex_numbers.items():
        for bits, give in bits_of_numbers.items():
            x = T.tensor([1 + 2j, 3 - 5j]).requires_grad_()
            result = make(x)
            given = give(result.detach())
            plain = given.clone().requires_grad_()
            first, = T.autograd.grad(result, x, plain, create_graph=True)
            along = give(T.tensor([2 + 7j, 4 - 9j]))
            for name, of, to, one in (("gradient", result, x, given),
                                      ("gradient of the gradient", first, plain, along)):
                found, = T.autograd.grad(of, to, one, retain_graph=True)
                copied, = T.autograd.grad(of, to, one.clone(), retain_graph=True)
                assert found.tolist() == copied.tolist(), (
                    f"A7: the {name} of {graph} is {found.tolist()} for {bits} numbers, and"
                    f" {copied.tolist()} for a copy of them")
owned_graph_kinds = {
    "cycle_of_each_part": cycles_of_each_part, "cycle_of_each_link": cycles_of_each_link,
    "bits_of_gradient": gradients_with_bits,
}
