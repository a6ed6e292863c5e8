"""What lines about clearing may call: what comes up while the collector clears a dead cycle.

The collector has run all finalizers by then, and clears the objects of the cycle one by one. An
older object, which this collection leaves out, may die meanwhile, and use what is not yet cleared.
The collector must leave what C++ shares (A4b), also if it had seen the cycle before that was so.
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

#: used_parts: a tensor, and an object that it owns in C++ or by an attribute
class UsedBytes(bytearray):
    pass
def with_gradient_of_its_own():
    tensor, part = T.ones(2), T.ones(2)
    tensor.grad = part
    return tensor, part
def over_bytes():
    part = UsedBytes(8)
    return T.frombuffer(part, dtype=T.float32), part
def with_attribute():
    tensor, part = T.ones(2), T.ones(2)
    tensor.part = part
    return tensor, part
used_parts = {"gradient": with_gradient_of_its_own, "bytes": over_bytes,
              "attribute": with_attribute}

#: users: what uses the tensor, or its bytes, and stays; in a cycle nothing of Python has it
def used_in_a_cycle(tensor):
    tensor.owner = T.ones(2)
    tensor.owner.grad = tensor
def used_as_gradient(tensor):
    owner = T.ones(2)
    owner.grad = tensor
    return owner
users = {"view": lambda tensor: tensor.view(-1), "storage": lambda tensor: storage_of(tensor),
         "slice": lambda tensor: storage_of(tensor)[1:], "gradient": used_as_gradient,
         "gradient_in_a_cycle": used_in_a_cycle}

#: is_used, check_in_use [slotcore]: the collector takes nothing that C++ shares (A4b)
#> check_in_use: collects checks
def is_used(part, user):
    if user in ("storage", "slice"):
        return part == "bytes"
    # A wrapper alone owns what is in this cycle, and so an attribute is not in use.
    return (part, user) != ("attribute", "gradient_in_a_cycle")
def check_in_use(part, user, when):
    if in_hermetic() or not is_used(part, user):
        return
    tensor, used = used_parts[part]()
    used.mark, used.tensor, tensor.me = "kept", tensor, tensor
    if when == "seen_before":
        gc.collect()
    kept = users[user](tensor)
    if when == "seen_since":
        gc.collect()
    found = weakref.ref(used)
    del tensor, used
    gc.collect()
    gc.collect()
    used = found()
    assert getattr(used, "mark", None) == "kept", (
        f"A4b: the collector takes the {part} of a dead cycle that a {user} uses")
    tensor = used.tensor
    assert getattr(tensor, "me", None) is tensor, (
        f"A4b: the collector clears a tensor whose {part} a {user} uses")
    getattr(tensor, "owner", tensor).grad = None
    del used.tensor, tensor.me, kept
