"""Storages whose bytes are lent: no call moves them, and what moves nothing works as before."""

#: pairs_of_exports [slotcore]: a call that would move lent bytes raises, and others work as before
import itertools
def borrow(lender, **part):
    return T.frombuffer(lender, dtype=T.uint8, **part)
def set_on(storage):
    return T.zeros(0, dtype=T.uint8).set_(storage)
def ask_too_much(lender):
    """Asks for bytes that LENDER lacks: each error must leave nothing lent."""
    return [class_raised(lambda: borrow(lender, **part))
            for part in ({"count": 99}, {"offset": 99})]
def over_released_view(lender):
    """A tensor over a view that was released, so that only the tensor borrows."""
    view = memoryview(lender)
    borrower = borrow(view[2:])
    view.release()
    return borrower
def view_after_errors(lender):
    view = memoryview(lender)
    ask_too_much(view), ask_too_much(lender), borrow(lender)
    return view
def state_of_bytes(storage, tensor):
    return (bytes(storage), storage._use_count(), tensor.tolist(), tensor.stride(),
            tensor._version, tensor._use_count())
def storages_to_lend():
    return expressions_of("", """
        T.UntypedStorage(range(8))
        Sub(range(8))
        T.zeros(2).untyped_storage().copy_(T.UntypedStorage(range(8)))
        T.UntypedStorage(2).resize_(8).copy_(T.UntypedStorage(range(8)))""")
def calls_that_move():
    return expressions_of("s, t", """
        s.resize_(8)
        s.resize_(0)
        s.resize_(99)
        t.resize_(9)
        t.set_(s, 1, (8,))""")
def calls_that_move_nothing():
    return expressions_of("s, t", """
        t.resize_(3)
        t.set_(s, 2, (2, 2))
        s.fill_(7)
        t.add_(1)
        s[1:].fill_(5)
        t.set_(s)
        t.set_(s, 6)
        t.zero_()
        s.copy_(T.UntypedStorage(range(8)))
        t.set_()
        t.resize_(9)""")
def check_lent(make, lend, moves, others):
    """A storage with a borrower, beside another from which nobody borrows."""
    storage, other = make(), make()
    tensor, other_tensor = set_on(storage), set_on(other)
    borrower = lend(storage)
    where = f"while {lend.__name__} borrows from s = {make.__name__}"
    for move in moves:
        before = storage.data_ptr(), state_of_bytes(storage, tensor)
        assert class_raised(move, storage, tensor) is BufferError, (
            f"P8: {move.__name__} moves bytes {where}")
        assert (storage.data_ptr(), state_of_bytes(storage, tensor)) == before, (
            f"P8: {move.__name__} raises and changes something {where}")
    for call in others:
        assert class_raised(call, storage, tensor) is class_raised(call, other, other_tensor), (
            f"P8: {call.__name__} raises something else {where}")
        assert state_of_bytes(storage, tensor) == state_of_bytes(other, other_tensor), (
            f"P8: {call.__name__} does something else {where}")
    del borrower
    assert class_raised(storage.resize_, 99) is None, (
        f"P8: s = {make.__name__} stays lent after {lend.__name__} has ended")
def pairs_of_exports():
    lends = expressions_of("s", """
        memoryview(s)
        memoryview(s)[3:5]
        memoryview(s).cast("I")
        memoryview(memoryview(s))
        borrow(s)
        borrow(s, offset=2, count=3)
        borrow(memoryview(s)[4:])
        borrow(s)[2:].detach()
        borrow(borrow(s).untyped_storage())
        [memoryview(s), borrow(s)]
        view_after_errors(s)
        borrow(s).view(2, 4).t()
        set_on(borrow(s))
        memoryview(borrow(s).untyped_storage())
        borrow(s, offset=2).untyped_storage()[1:]
        over_released_view(s)""")
    lends_nothing = expressions_of("s", """
        memoryview(s).release()
        ask_too_much(s)
        ask_too_much(memoryview(s))
        [*memoryview(s)]
        memoryview(s[1:])
        borrow(s[1:])
        s.clone()
        set_on(s)
        borrow(s).clone()
        [borrow(s), memoryview(s), over_released_view(s)][:0]
        memoryview(borrow(s[2:]).untyped_storage())
        s[:]""")
    makes, moves, others = storages_to_lend(), calls_that_move(), calls_that_move_nothing()
    for make, lend in itertools.product(makes, lends):
        check_lent(make, lend, moves, others)
    for make, lend, move in itertools.product(makes, lends_nothing, moves):
        storage = make()
        kept = lend(storage)
        assert class_raised(move, storage, set_on(storage)) is None, (
            f"P8: {move.__name__} raises, though {lend.__name__} borrows nothing")
