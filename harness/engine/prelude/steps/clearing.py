"""What lines about clearing may call: what comes up while the collector clears a dead cycle.

The collector has run all finalizers by then, and clears the objects of the cycle one by one. An
older object, which this collection leaves out, may die meanwhile, and use what is not yet cleared.
"""

#: late_acts, Late: acts, and an object whose end runs them
late_acts = []
class Late:
    def __del__(self):
        while late_acts:
            late_acts.pop()()

#: cleared_kinds, owner_of_late: objects of a dead cycle, and a C++ owner of one, which gives it
class MarkedSlots(T.Tensor):
    __slots__ = ("mark", "items")
class MarkedStorage(T.UntypedStorage):
    __slots__ = ("mark", "items")
class MarkedLater(MarkedSlots):
    __slots__ = ("more",)
class MarkedParameter(T.nn.Parameter):
    __slots__ = ("mark", "items")
cleared_kinds = {  # a __dict__ would be an object that the collector clears by itself
    "tensor": MarkedSlots, "subclass": MarkedLater, "parameter": MarkedParameter,
    "storage": MarkedStorage,
}
def owner_of_late(one):
    if isinstance(one, T.Tensor):
        owner = T.ones(one.numel())
        owner.grad = one
        return lambda: owner.grad
    owner = T.empty(0, dtype=T.uint8).set_(one)
    return owner.untyped_storage

#: cleared_acts: what the __del__ does with the object; it gives how the object is asked for later
def grown_late(one):
    fetch = owner_of_late(one)
    one.more_items = [one]
    return fetch
cleared_acts = {
    "nothing": lambda one: None, "owner": owner_of_late,
    "two_owners": lambda one: (owner_of_late(one), owner_of_late(one))[1],
    "collected": lambda one: (owner_of_late(one), gc.collect())[0],
    "grown": grown_late,
}

#: check_cleared [slotcore]: what has a C++ owner before it is cleared is whole (P2, P5)
#> check_cleared: collects finalizes checks
def check_cleared(kind, act):
    if in_hermetic():
        return
    made, found, errors = cleared_kinds[kind], [], []
    late = Late()
    gc.collect()  # what comes now is cleared in this order, by a collection of the youngest
    items = []
    one = made(T.ones(2)) if kind == "parameter" else made(2)
    one.mark, one.items = "kept", items
    items += [one, late]
    dead, handle = weakref.ref(one), one._weak_ref()
    def run():
        try:
            found.append(cleared_acts[act](made._new_with_weak_ptr(handle)))
        except Exception as error:
            errors.append(error)
    late_acts.append(run)
    try:
        del one, items, late
        gc.collect(0)
        if errors:
            raise errors.pop()
        assert found, "P5: a dead cycle is not collected"
        if found[0] is None:
            assert dead() is None, "P5: a dead cycle is not collected"
            return
        one = found[0]()
        assert type(one) is made, f"P2: an object is a {type(one).__name__}, and was a {kind}"
        assert getattr(one, "mark", None) == "kept", "P2: the collector clears what has an owner"
    finally:
        late_acts.clear()
        made._free_weak_ref(handle)
