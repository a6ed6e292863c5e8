"""What lines about use may call: a dead cycle, a part of which something in C++ still uses.

The collector must leave what C++ shares (A4b), also if it had seen the cycle before that was so.
"""

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
