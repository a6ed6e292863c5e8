"""What lines about depth may call: a chain of tensors, each of which owns the former one.

It is made and freed on a thread with a small stack, where a recursion over its links overflows.
"""

#: deep_links: makes a tensor that owns another one
#> deep_links: in_hermetic
class Keeping(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.former = x
        return x * 1
    @staticmethod
    def backward(ctx, gradient):
        return gradient
def link_by_grad(former):
    one = T.ones(1)
    one.grad = former.detach()
    one.grad.note = former
    return one
def link_in_hermetic(former):
    with hermetic():
        one = T.ones(1)
        one.grad = former
    return one
def link_by_slot(former):
    one = TensorSlotted(1)
    one.tag = former
    return one
def link_by_attribute(former):
    one = T.ones(1)
    one.note = former
    return one
def link_by_storage(former):
    one = T.ones(1)
    one.untyped_storage().note = former
    return one
def link_by_storage_slot(former):
    storage = Slotted(4)
    storage.tag = former
    return T.empty(0).set_(storage, 0, (1,), (1,))
def link_by_hook(former):
    one = T.ones(1).requires_grad_()
    one.register_hook(lambda gradient, former=former: gradient)
    return one
def link_by_metadata(former):
    one = T.ones(1).requires_grad_() * 1
    one.grad_fn.metadata["former"] = former
    return one
class Lender(bytearray):
    pass
def link_by_buffer(former):
    lender = Lender(4)
    lender.former = former
    return T.frombuffer(lender, dtype=T.float32)
def link_by_lent_storage(former):
    lender = T.UntypedStorage(4)
    lender.note = former
    return T.frombuffer(memoryview(lender), dtype=T.float32)
def link_by_death(former):
    one = Dying(1)
    one.former, one.runs = former, [int]
    return one
deep_links = {
    "grad": link_by_grad, "grad_alone": link_in_hermetic, "slot": link_by_slot,
    "attribute": link_by_attribute,
    "storage": link_by_storage, "storage_slot": link_by_storage_slot, "hook": link_by_hook,
    "metadata": link_by_metadata, "buffer": link_by_buffer,
    "lent_storage": link_by_lent_storage,
    "death": link_by_death, "graph": lambda former: former * T.ones(1).requires_grad_(),
    "function": lambda former: Keeping.apply(former * T.ones(1).requires_grad_()),
}

#: deep_ends: frees a chain, which is the only thing in a list
#> deep_ends: in_hermetic
def end_in_cycle(chain):
    chain[0].me = chain[0]
    chain.clear()
    gc.collect()
def end_in_hermetic(chain):
    with hermetic():
        chain.clear()
def end_described(chain):
    description = described(chain[0])
    chain.clear()
    return description
deep_ends = {
    "drop": list.clear, "cycle": end_in_cycle, "within_hermetic": end_in_hermetic,
    "thread": lambda chain: on_thread(chain.clear), "describe": end_described,
    "collected_before": lambda chain: (gc.collect(), chain.clear()),
}

#: check_deep, DEEP_LINKS, deep_chain [slotcore]: frees a chain of two links in turns (P6, M17)
#> check_deep: starts_thread collects in_hermetic checks
DEEP_LINKS = 1000
def deep_chain(links, end):
    with T.enable_grad():
        chain = [T.ones(1)]
        known = weakref.ref(chain[0])
        for link in links:
            chain[0] = deep_links[link](chain[0])
    deep_ends[end](chain)
    collect_all()
    return known()
def check_deep(first, second, end):
    if in_hermetic():
        return
    links = (DEEP_LINKS // 2) * (first, second)
    assert on_small_stack(lambda: deep_chain(links, end)) is None, (
        f"P5: {end} leaves a chain of {first} and {second}")

#: check_deep_blocks [slotcore]: a thousand links of each kind, one kind after the other (P6, M17)
#> check_deep_blocks: starts_thread collects in_hermetic checks
def check_deep_blocks(end):
    if in_hermetic():
        return
    # A collection goes deepest from a tensor that leads to nodes of C++ alone.
    links = [link for link in (*deep_links, "graph") for _ in range(DEEP_LINKS)]
    assert on_small_stack(lambda: deep_chain(links, end)) is None, (
        f"P5: {end} leaves a chain of blocks of each kind of link")
