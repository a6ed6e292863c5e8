"""Checks that a line calls on a tensor: each function has its own expectation.

Most of them tag an object, make C++ own it, drop it, collect, fetch it again, and compare. Each
assert begins with the number of the contract's sentence.
"""

#: in_hermetic [slotcore]: whether this thread is in hermetic mode
in_hermetic = T._is_hermetic

#: in_hermetic [torch]: as long as no line has used the mode, it is off
def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic

#: clears_weakrefs [slotcore]: in a dead cycle, as the contract allows to resurrection
clears_weakrefs = T._preservation == "resurrection"

#: clears_weakrefs [torch]: nothing allows it
clears_weakrefs = False

#: check_kept: tag it, leave it to C++, drop it, collect, fetch it again, compare (P1, P2, P4)
#> check_kept: collects checks
def check_kept(box, fetch, cyclic):
    gc.collect()  # finalizers of the program's garbage run now, and not in between
    if fetch() is not box[0]:
        return  # hermetic mode, a finalizer, or a class that converts what it gives
    kind, mark, reference = type(box[0]), object(), weakref.ref(box[0])
    box[0].mark = mark
    if cyclic:
        dead_cycle(box[0])
    box.clear()
    gc.collect()
    one = fetch()
    assert type(one) is kind, "P2: the type is lost"
    assert getattr(one, "mark", None) is mark, "P2: an attribute is lost"
    assert fetch() is one, "P1: one impl has two wrappers"
    assert cyclic and clears_weakrefs or reference() is one, (
        "P4: a weak reference died while the impl lives")
    one.__dict__.clear()

#: twin_of: a tensor of its own storage that another can have as .grad
def twin_of(tensor, kind):
    return tensor.detach().clone().as_subclass(kind)

#: check_grad_kept: what a tensor owns as .grad (P1, P2)
#> check_grad_kept: collects checks
def check_grad_kept(owner, cyclic=False):
    former, box = owner.grad, [twin_of(owner, TensorSub)]
    owner.grad = box[0]
    try:
        check_kept(box, lambda: owner.grad, cyclic)
    finally:
        owner.grad = former

#: check_slots_kept: what a tensor owns as .grad, and that has __slots__ (P2)
#> check_slots_kept: collects checks
def check_slots_kept(owner, cyclic=False):
    former, kept = owner.grad, twin_of(owner, TensorSlotted)
    kept.tag, owner.grad = 7, kept
    try:
        gc.collect()  # finalizers of the program's garbage run now, and not in between
        if owner.grad is not kept:
            return  # hermetic mode, a finalizer, or a class that converts what it gives
        if cyclic:
            dead_cycle(kept)
        del kept
        gc.collect()
        assert getattr(owner.grad, "tag", None) == 7, "P2: a slot is lost"
    finally:
        owner.grad = former

#: check_hooks_kept: what a tensor owns as .grad, and that has a hook (P2)
#> check_hooks_kept: collects checks
def check_hooks_kept(owner):
    former, kept = owner.grad, twin_of(owner, T.Tensor).requires_grad_()
    kept.register_hook(hook_of(None))
    owner.grad = kept
    try:
        gc.collect()  # finalizers of the program's garbage run now, and not in between
        if owner.grad is not kept:
            return  # hermetic mode, a finalizer, or a class that converts what it gives
        del kept
        gc.collect()
        assert owner.grad._backward_hooks, "P2: a hook is lost"
    finally:
        owner.grad = former

#: check_base_kept: what a view owns as its base, which is never a view (P1, P2)
#> check_base_kept: collects checks
def check_base_kept(tensor, cyclic=False):
    box = [T.Tensor._make_subclass(TensorSub, tensor.detach().clone())]  # no view, unlike a twin
    view = box[0].view(-1)
    second = view.view(-1)
    assert view._base._base is None, "P1: a base is a view"
    assert second._base is view._base or in_hermetic(), "P1: a view of a view has another base"
    del second
    check_kept(box, lambda: view._base, cyclic)

#: check_storage_kept: what a tensor owns as its storage (P1, P2)
#> check_storage_kept: collects checks
def check_storage_kept(cyclic=False):
    box = [Sub(1)]
    owner = T.empty(0, dtype=T.uint8).set_(box[0])
    check_kept(box, owner.untyped_storage, cyclic)

#: is_hermetic: it was made in hermetic mode, so C++ gives another wrapper of it (P1)
def is_hermetic(tensor):
    owner = tensor.detach().clone()
    owner.grad = tensor
    return owner.grad is not tensor

#: check_wrapped_once: who wraps what is being wrapped gets the same wrapper (P1)
# Up to CPython 3.11 the allocation of the wrapper may collect, and so run a finalizer.
#> check_wrapped_once: checks collects
def check_wrapped_once():
    if in_hermetic():
        return
    found, before, was_enabled = [], gc.get_threshold(), gc.isenabled()
    with T.enable_grad():
        owner = T.ones(1).requires_grad_()
        owner.sum().backward()
    class Reader:
        def __del__(self):
            found.append(owner.grad)
    for _ in range(3):
        one = Reader()
        one.itself = one
    del one
    gc.set_threshold(1)
    gc.enable()
    try:
        wrapper = owner.grad
    finally:
        if not was_enabled:
            gc.disable()
        gc.set_threshold(*before)
        gc.collect()
    assert len(found) == 3 and all(other is wrapper for other in found), (
        "P1: one impl has two wrappers, or a finalizer did not run")

#: check_exporter_kept: who exports bytes is not cleared while somebody has it (P2)
#> check_exporter_kept: checks collects
class Exporter(bytearray):
    pass
def check_exporter_kept():
    exporter = Exporter(8)
    exporter.held = "held"
    storage = storage_of(T.frombuffer(exporter, dtype=T.uint8))
    both = [storage, storage[:4]]
    both.append(both)
    storage.both = both
    del storage, both
    gc.collect()
    assert getattr(exporter, "held", "") == "held", (
        "P2: the collector clears an object whose bytes two storages have")

#: check_in_place: an in-place operation gives the very tensor (P1)
#> check_in_place: checks
def check_in_place(tensor):
    for same in (tensor.zero_(), tensor.fill_(1), tensor.mul_(tensor.detach().clone())):
        assert same is tensor or in_hermetic() or is_hermetic(tensor), (
            "P1: an in-place operation gives another wrapper")

#: check_aliases: a view has its base's storage, and what is written to it shows there (P1)
#> check_aliases: checks
def check_aliases(tensor):
    if storage_of(tensor).device.type != "cpu":  # a fake has no numbers
        return
    tensor = tensor.detach()
    tensor.zero_()
    view = tensor.view(-1)
    assert view.data_ptr() == tensor.data_ptr(), "P1: a view has another storage"
    view.fill_(1)
    assert tensor.sum().item() == tensor.numel(), "P1: a write through a view is lost"

#: check_version: a write through a view is counted for its base (A2)
#> check_version: checks
def check_version(tensor):
    tensor = tensor.detach()
    view, before = tensor.view(-1), tensor._version
    view.zero_()
    assert tensor._version > before, "A2: a write through a view is not counted"

#: check_fetches: N fetches and N drops change the use count by 0 (P7)
#> check_fetches: checks
def check_fetches(owner):
    former, kept = owner.grad, twin_of(owner, TensorSub)
    owner.grad = kept
    before = kept._use_count()
    fetches = [owner.grad for _ in range(3)]
    del fetches
    after, owner.grad = kept._use_count(), former
    assert after == before, "P7: the use count drifts"

#: check_references: what only looks at a tensor changes no reference count (P7)
#> check_references: checks
import sys
def check_references(tensor):
    for name in ("_is_view", "data_ptr", "detach", "size", "storage_offset"):
        look = getattr(type(tensor), name)
        look(tensor)  # the first look may make what is kept
        before = sys.getrefcount(tensor)
        look(tensor), look(tensor), look(tensor)
        # Threads of C++ may meanwhile take and drop the one reference that an owner has.
        assert sys.getrefcount(tensor) < before + 3, f"P7: {name} keeps a reference"

#: check_finalized: __del__ runs once, and not while C++ owns the tensor (P3)
#> check_finalized: collects finalizes checks
def check_finalized():
    if in_hermetic():
        return
    one, owner = TensorFinalized(1), T.ones(1)
    serial, owner.grad = one.serial, one
    del one
    gc.collect()
    assert serial not in finalized, "P3: __del__ ran while the impl was owned"
    owner.grad = None
    assert finalized.count(serial) == 1, "P3: __del__ did not run once"

#: check_class_changed: __del__ is that of the class that an object has when it dies (P2, P3)
#> check_class_changed: collects finalizes checks
def own_in_cpp(one):
    owner = T.ones(1)
    if isinstance(one, T.Tensor):
        owner.grad = one
        return owner, lambda: owner.grad
    owner.set_(one)
    return owner, owner.untyped_storage
def check_class_changed(base, change):
    if in_hermetic():
        return
    ran = []
    class Plain(base):
        pass
    class Finalized(base):
        def __del__(self):
            ran.append(type(self))
    one = (Finalized if change == "loses" else Plain)(1)
    if change == "gains":
        Plain.__del__ = Finalized.__del__
    elif change == "loses":
        del Finalized.__del__
    else:
        one.__class__ = Finalized
    of_class = type(one)
    owner, fetch = own_in_cpp(one)
    del one
    collect_all()
    assert not ran, "P3: __del__ ran while C++ owned the object"
    assert type(fetch()) is of_class, "P2: an object has lost the class that it was given"
    del owner, fetch
    collect_all()
    expected = [] if change == "loses" else [of_class]
    assert ran == expected, f"P3: __del__ of a class that {change} it ran {len(ran)} times"

#: check_resurrected: what resurrects itself in __del__ is whole (P3)
#> check_resurrected: finalizes resurrects checks
def check_resurrected():
    if in_hermetic():
        return
    owner, one, before = T.ones(1), TensorResurrecting(1), len(resurrected)
    one.tag, owner.grad = 7, one
    del one
    owner.grad = None
    assert len(resurrected) > before, "P3: __del__ did not run"
    one, whole = resurrected.pop(), False
    try:
        whole = one.tolist() == [1.0] and one.tag == 7
    except (NotImplementedError, RuntimeError):
        pass  # a tensor without its impl has no numbers
    assert whole, "P3: what rose is not whole"
    owner.grad = one
    assert owner.grad is one, "P1: one impl has two wrappers"

#: check_swapped: after tensors are swapped, each operation gives the tensor it is called on (P1)
#> check_swapped: swaps checks
def check_swapped(tensor):
    one, other = twin_of(tensor, TensorSub), twin_of(tensor, T.Tensor)
    one.tag = 7
    T.utils.swap_tensors(one, other)
    assert one.zero_() is one and other.zero_() is other, "P1: the slots were not swapped"
    assert other.tag == 7 and type(other) is TensorSub, "P2: an attribute was not swapped"
