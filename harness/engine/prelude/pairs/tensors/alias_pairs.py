"""Bytes that several storages have, however they end, and calls with aliases of their tensor."""

#: pairs_of_share_orders [slotcore]: each holder of a part of lent bytes keeps them, and no longer
#> pairs_of_share_orders: finalizes
import itertools, slotcore_c10
def owned_weakly(storage):
    """An owner in C++, and what fetches the storage from it."""
    weak = CppWeak(storage)
    return weak, slotcore_c10.Owner(weak.handle)
def holders_of_storages():
    """Each holds storage s, and gives it again."""
    return expression_rows("s, h", """
        s -> h
        memoryview(s) -> h.obj
        set_on(s) -> h.untyped_storage()
        owned_weakly(s) -> h[0].lock()
        call_in_hermetic(set_on(s).untyped_storage) -> h""")
def lenders_of_bytes():
    """What lends the bytes 0 to 7, a storage of them, and what says whether they are lent."""
    return expression_rows("b", """
        None -> T.UntypedStorage(range(8)) -> None
        MarkedBytes(range(8)) -> borrow(b).untyped_storage() -> moved_bytes(b)
        MarkedBytes([9, *range(8)]) -> borrow(b, offset=1).untyped_storage() -> moved_bytes(b)
        MarkedBytes([9, *range(8)]) -> borrow(memoryview(b)[1:]).untyped_storage() -> moved_bytes(b)
        T.UntypedStorage([*range(8), 9]) -> borrow(b, count=8).untyped_storage() -> b.resize_(9)""")
def moved_bytes(lender):
    lender.append(0)
    del lender[-1:]
def check_shares(held, fetch, parts, step, where):
    """Writes to the first part that is left, and compares all with their models."""
    left = [place for place in range(3) if held[place] is not None]
    if left:
        fetch(None, held[left[0]])[1], parts[left[0]][1] = 90 + step, 90 + step
    for place in left:
        found, expected = fetch(None, held[place]).tolist(), parts[place].tolist()
        assert found == expected, f"P9: part {place} has {found}, not {expected}, {where}"
    return bool(left)
def check_share_order(lend, hold, fetch, order, name):
    make_lender, borrow_from, move = lend
    lender = make_lender(None)
    storages = [borrow_from(lender)]
    storages += [storages[0][2:7], storages[0][2:7][1:4]]
    held, model = [hold(one, None) for one in storages], memoryview(bytearray(range(8)))
    storages.clear()
    parts = [model, model[2:7], model[3:6]]
    for step, event in enumerate(order):
        where = f"after {order[:step + 1]} (parts that end, 3: the first one grows), {name}"
        if event != 3:
            held[event] = None
        elif held[0] is not None:
            found = class_raised(fetch(None, held[0]).resize_, 20)
            expected = RuntimeError if lender is not None else (
                BufferError if isinstance(held[0], memoryview) else None)
            assert found is expected, f"P8: resize_() raises {found}, not {expected}, {where}"
            if found is None:
                parts[0] = memoryview(bytearray(parts[0]) + bytearray(12))
        is_lent = check_shares(held, fetch, parts, step, where)
        if lender is not None:
            found = class_raised(move, lender) is BufferError
            assert found == is_lent, f"P5: bytes are {'' if found else 'not '}lent {where}"
def pairs_of_share_orders():
    orders = list(itertools.permutations(range(4)))
    for lend, (hold, fetch) in itertools.product(lenders_of_bytes(), holders_of_storages()):
        name = f"for {lend[1].__name__} of b = {lend[0].__name__}, held as {hold.__name__}"
        for _ in range(9):  # what other threads take or drop is not taken each time
            before = T._live_blocks()
            for order in orders:
                check_share_order(lend, hold, fetch, order, name)
            left = T._live_blocks() - before
            if left == 0:
                break
        assert left == 0, f"P5: {left} blocks are left {name}"

#: pairs_of_own_aliases [slotcore]: a call with an alias of its tensor does what one of a twin does
import itertools
def complex_square():
    return T.tensor([[1 + 2j, 3 - 1j, 5j], [7, 2 - 6j, 4j], [1 - 1j, 8, 9 + 3j]])
def tensors_to_alias():
    return expressions_of("c", """
        c[1:].narrow(1, 0, 2).detach()
        c.t()[:2].narrow(1, 1, 2)
        c[1:].narrow(1, 1, 2).conj()
        c[:2].narrow(1, 0, 2)._neg_view().detach()
        c[1:].narrow(1, 0, 2).conj()._neg_view()
        c[::2].narrow(1, 1, 2).clone()
        c[1:].narrow(1, 0, 2).clone().as_subclass(TensorSub)""")
def aliases_to_give():
    return expressions_of("t", """
        t
        t[...]
        t.detach()
        t.conj()
        t._neg_view()
        t.conj()._neg_view().detach()
        t.t()
        t.t().conj()
        t[:1]
        t[1]
        t.select(1, 0)
        t.select(1, 1)._neg_view()
        t[1][0]
        t[0][1].conj().detach()
        t[:1].expand(2, 2)
        t[1].data.expand(2, 2)
        t.narrow(1, 0, 1)""")
def calls_with_alias():
    return expressions_of("t, x", """
        t.copy_(x)
        t.add_(x)
        t.mul_(x)
        t.fill_(x)
        t.__setitem__(..., x)
        t.__setitem__(slice(1, 2), x)
        t[0].mul_(x)
        t.t().add_(x)
        t.conj().copy_(x)
        t._neg_view().add_(x)
        t.set_(x)
        set_data(t, x)
        t * x
        t == x
        t.view_as(x)
        x.resolve_conj()""")
def said_after_alias(call, tensor, alias):
    """The error of CALL, what it returns, and what its tensor is then."""
    version, results = tensor._version, []
    error = class_raised(lambda: results.append(call(tensor, alias)))
    result = results[0] if results else None
    if isinstance(result, T.Tensor):
        result = result.tolist(), result.stride(), result.dtype
    return error, result, (tensor.tolist(), tensor.shape, tensor.stride(), tensor.storage_offset(),
                           bits_of(tensor), tensor._version - version)
def pairs_of_own_aliases():
    refused_writes = done = 0
    for make, give, call in itertools.product(tensors_to_alias(), aliases_to_give(),
                                              calls_with_alias()):
        tensor, twin = make(complex_square()), make(complex_square())
        expected = said_after_alias(call, tensor, give(twin))
        tensor = make(complex_square())
        before = tensor.tolist(), tensor._version
        alias = give(tensor)
        found = said_after_alias(call, tensor, alias)
        where = f"{call.__name__} for x = {give.__name__}, t = {make.__name__}"
        if found[0] is RuntimeError and expected[0] is None:
            refused_writes += 1
            after = tensor.tolist(), tensor._version
            assert after == before, f"P8: {where} is refused and makes {after} of {before}"
            continue
        done += expected[0] is None
        assert found == expected, f"P9: {where} gives {found}, not {expected} as with a twin"
        del alias
    assert done >= 1200 > refused_writes, f"P9: {refused_writes} are refused, and {done} are done"
