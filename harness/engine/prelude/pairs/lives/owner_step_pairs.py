"""Owners of C++ and of Python in every order, and releases that other threads defer."""

#: EndNoted, EndNotedParameter, EndNotedSlotted, EndNotedStorage, note_own_end [slotcore]: note ends
def note_own_end(one):
    one.ends.append(7)
class EndNoted(TensorSub):
    __del__ = note_own_end
class EndNotedSlotted(T.Tensor):
    __slots__ = "ends", "tag"
    __del__ = note_own_end
class EndNotedParameter(T.nn.Parameter):
    __del__ = note_own_end
class EndNotedStorage(Sub):
    __del__ = note_own_end

#: own_by_handle [slotcore]: an owner in C++ alone
#> own_by_handle: finalizes
import slotcore_c10
def own_by_handle(one):
    return slotcore_c10.Owner(CppWeak(one).handle)

#: pairs_of_owner_steps [slotcore]: counts, identity and life after each of four steps of owners
#> pairs_of_owner_steps: finalizes in_hermetic
import gc, itertools, slotcore_c10, weakref
class OwnedSteps:
    """An impl with owners, and a model of them: who owns it, and whether it had a wrapper."""
    def __init__(self, kind, is_fresh):
        self.ends, self.fallen, self.owners, self.within, self.box = [], [], [], [], []
        self.kind, self.reference, self.is_fresh = kind, None, is_fresh
        if is_fresh:  # no wrapper is in its slot
            self.within.append(call_in_hermetic(kind, 2))
        else:
            self.box.append(kind(T.ones(2)) if issubclass(kind, T.nn.Parameter) else kind(2))
            self.box[0].tag, self.box[0].ends = 7, self.ends
            self.refer()
        self.weak = CppWeak((self.box or self.within)[0])
    def refer(self):
        self.reference = weakref.ref(self.box[0], self.fallen.append)
    def lock(self):
        return self.kind._new_with_weak_ptr(self.weak.handle)
    def fetch(self):
        self.box[:] = [self.lock()]
        if self.reference is None:
            self.refer()
    def fetch_by_weakref(self):
        self.box[:] = [fixed(self.reference)]
    def own(self):
        self.owners.append(slotcore_c10.Owner(self.weak.handle))
    def wrap_within(self):
        self.within.append(call_in_hermetic(self.lock))
    def drop_first(self):
        self.owners.pop(0).drop()
        T._live_impls()  # ends what waits for a thread with the GIL
    def drop_on_thread(self):
        self.owners.pop().drop_on_thread()
        T._live_impls()
    def is_alive(self):
        return bool(self.box or self.owners or self.within)
    def uses(self):
        """The wrapper owns the impl for its whole life, or by the other protocol while used."""
        lasts = self.reference is not None and T._preservation == "refcount-bit"
        return len(self.owners) + len(self.within) + bool(lasts or self.box)
def steps_of_owners():
    """What may come next, and the list of which it needs one."""
    return expression_rows("s", """
        s.own() -> [7]
        s.owners.pop() -> s.owners
        s.drop_first() -> s.owners
        s.drop_on_thread() -> s.owners
        s.box.clear() -> s.box
        call_in_hermetic(s.box.clear) -> s.box
        s.fetch() -> [7]
        s.fetch_by_weakref() -> s.reference and [7]
        s.wrap_within() -> [7]
        s.within.pop() -> s.within
        call_in_hermetic(s.within.pop) -> s.within
        gc.collect(0) -> s.owners""")
def check_owned_steps(s, where):
    alive = s.is_alive()
    assert s.weak.expired() is not alive, f"P4: expired() is {alive}, {where}"
    ended = [] if alive or s.is_fresh else [7]
    assert s.ends == ended, f"P3: __del__ has run {len(s.ends)} times, {where}"
    if s.reference is not None:
        one = s.reference()
        assert (one is not None) is alive, f"P4: a weak reference gives {type(one)}, {where}"
        assert len(s.fallen) == (not alive), f"P4: {len(s.fallen)} callbacks have run, {where}"
        assert not s.box or one is s.box[0], f"P1: another wrapper is fetched, {where}"
        tag = 7 if s.is_fresh or not alive else getattr(one, "tag", 0)
        assert tag == 7, f"P2: an attribute is {tag}, {where}"
    found = {owner.use_count() for owner in s.owners} | {
        one._use_count() for one in s.box + s.within}
    assert found == ({s.uses()} if alive else set()), (
        f"P7: the use count is {found}, not {s.uses()}, {where}")
def replayed_steps(kind, is_fresh, past):
    s = OwnedSteps(kind, is_fresh)
    for step in past:
        step(s)
    return s
def check_orders_of_owners(kinds, is_fresh):
    """All steps that fit, one after the other; the number of orders. The kinds take turns."""
    rows, asked, todo = steps_of_owners(), 0, [()]
    while todo:
        past, kind = todo.pop(), kinds[asked % len(kinds)]
        s = replayed_steps(kind, is_fresh, past)
        names = " and ".join(step.__name__ for step in past)
        check_owned_steps(s, f"for a{' new' * is_fresh} {kind.__name__} after {names}")
        asked += 1
        if s.is_alive() and len(past) < 4:
            todo += [(*past, step) for step, needed in rows if needed(s)]
    return asked
def pairs_of_owner_steps():
    kinds = EndNoted, EndNotedStorage, EndNotedSlotted, EndNotedParameter, EndNotedStorage
    asked = [check_orders_of_owners(kinds, False),
             check_orders_of_owners((T.Tensor, T.UntypedStorage), True)]
    assert min(asked) > 100, f"P7: only {asked} orders of owners are asked"

#: errors_on_thread [slotcore]: what a function raises on another thread of Python
import threading
def errors_on_thread(run):
    """What RUN raises on another thread of Python, which runs no pending call of CPython."""
    errors = []
    def guarded():
        try:
            run()
        except BaseException as error:
            errors.append(error)
    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    return errors

#: pairs_of_deferred_ends [slotcore]: the next call that makes, wraps or counts ends what waits
#> pairs_of_deferred_ends: finalizes in_hermetic starts_thread
import itertools, slotcore_c10
def owners_that_end():
    """Each is owned by C++ alone, and its end calls `act`."""
    return expressions_of("act", """
        own_by_handle(with_end(T.ones(2), act))
        own_by_handle(with_end(T.ones(2)[1:], act))
        own_by_handle(with_end(TensorSlotted(2), act))
        own_by_handle(with_end(T.nn.Parameter(T.ones(2)), act))
        own_by_handle(with_end(T.UntypedStorage(2), act))
        own_by_handle(over_ending_bytes(act))
        own_by_handle(over_ending_bytes(act).untyped_storage()[4:])
        own_by_handle(call_in_hermetic(over_ending_bytes, act))
        own_by_handle(call_in_hermetic(gradient_owner, over_ending_bytes(act)))
        own_by_handle(gradient_owner(with_end(T.ones(2), act)))
        own_by_handle(with_end(T.ones(2), act)[...])
        own_by_handle(with_end(T.ones(2).requires_grad_(), act) * 2)
        own_by_handle(with_ending_hook(T.ones(2).requires_grad_(), act))
        own_by_handle(with_ending_hook(T.ones(2).requires_grad_() * 2, act))
        own_by_handle(saved_as_packs(act))""")
def calls_that_end_others():
    """T6 names them: each makes or wraps a storage or a tensor, or asks for a count."""
    return expressions_of("x", """
        T.ones(1)
        T.empty(0, device="meta")
        T.tensor([1])
        T.UntypedStorage(1)
        x.untyped_storage()
        x.grad
        x._base
        x[...]
        x.detach()
        T._live_impls()
        T._live_wrappers()
        T._live_blocks()
        call_in_hermetic(T.ones, 1)
        call_in_hermetic(x.untyped_storage)
        x.untyped_storage()[1:]
        x._new_with_weak_ptr(x._cdata)""")
def check_deferred_end(make, drop, call, count):
    tensor, seen = T.ones(3)[1:], []
    tensor.grad = T.ones(2)
    owners = [make(lambda: seen.append(T.ones(2).sum().item())) for _ in range(count)]
    where = f"{count} of {make.__name__}, dropped by {drop.__name__}()"
    assert seen == [], f"P3: what C++ owns has ended: {where}"
    for owner in owners:
        drop(owner)
    call(tensor)
    assert seen == [2.0] * count, f"T6: {len(seen)} have ended after {call.__name__}: {where}"
    assert {owner.use_count() for owner in owners} == {0}, f"P7: an owner owns still: {where}"
def check_chain_of_ends(make, drop, call):
    """The end of each defers that of the next one."""
    tensor, seen = T.ones(3)[1:], []
    tensor.grad = T.ones(2)
    last = make(lambda: seen.append("last"))
    middle = make(lambda: (seen.append("middle"), drop(last)))
    drop(make(lambda: (seen.append("first"), drop(middle))))
    for _ in range(3):
        call(tensor)
    assert seen == ["first", "middle", "last"], (
        f"T6: of a chain only {seen} have ended after three of {call.__name__}, for"
        f" {make.__name__}, dropped by {drop.__name__}()")
def ask_deferred_ends():
    drops = slotcore_c10.Owner.drop_on_thread, slotcore_c10.Owner.drop_under_lock
    states = itertools.product(owners_that_end(), calls_that_end_others())
    for number, (make, call) in list(enumerate(states))[::3]:  # each starts threads
        drop = drops[number % 5 == 0]
        check_deferred_end(make, drop, call, 3 if number % 4 == 0 else 1)
        if number % 7 == 0:
            check_chain_of_ends(make, drop, call)
def pairs_of_deferred_ends():
    for error in errors_on_thread(ask_deferred_ends):
        raise error
