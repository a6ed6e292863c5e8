"""What lines about storages may call, with weak references, finalizers and what keeps an object."""

#: Sub: a subclass of storages
class Sub(T.UntypedStorage):
    pass

#: Slotted: a subclass with slots
class Slotted(T.UntypedStorage):
    __slots__ = ("tag", "box", "me")

#: storage_of: a tensor's storage, which releases before 2.0 give under another name
storage_of = getattr(T.Tensor, "untyped_storage", None) or (lambda one: one.storage().untyped())

#: Serial, born, finalized, note_finalized: each object has a number, which is noted; a copy's is -1
born, finalized = [], []
class Serial(int):
    def __deepcopy__(self, memo):
        return -1
    def __reduce__(self):
        return int, (-1,)
def note_finalized(one):
    if "serial" in one.__dict__:
        finalized.append(one.serial)

#: Finalized: __del__ notes the object's number
#> Finalized: finalizes
class Finalized(T.UntypedStorage):
    def __init__(self, *args, **keywords):
        self.serial = Serial(len(born))
        born.append(self.serial)
    def __del__(self):
        note_finalized(self)

#: resurrected, Resurrecting: __del__ resurrects the object
#> Resurrecting: finalizes resurrects
resurrected = []
class Resurrecting(Finalized):
    def __del__(self):
        note_finalized(self)
        resurrected.append(self)

#: leaked_self, LeaksSelf: __del__ makes a tensor that owns the storage
#> LeaksSelf: finalizes resurrects
leaked_self = []
class LeaksSelf(Finalized):
    def __del__(self):
        note_finalized(self)
        owner = T.empty(0, dtype=T.uint8)
        if not hasattr(owner, "fake_mode"):  # a fake cannot own it
            leaked_self.append(owner.set_(self))

#: check_wraps: N wraps and N drops change the use count by 0 (P7)
#> check_wraps: checks
def check_wraps(tensor):
    storage = tensor.untyped_storage()
    def drift():
        before = storage._use_count()
        wraps = [tensor.untyped_storage() for _ in range(3)]
        del wraps
        return storage._use_count() - before
    # What another thread makes and drops meanwhile does not add up.
    assert any(drift() == 0 for _ in range(50)), "P7: the use count drifts"

#: dead_cycle: a dead cycle that refers to `held`, for the collector to find
def dead_cycle(held):
    cycle = [held]
    cycle.append(cycle)

#: older_cycle: a dead cycle that is older than what it refers to, if `fetch` makes a wrapper
def older_cycle(fetch):
    cycle = []
    cycle.append(cycle)
    cycle.append(fetch())

#: keep_frame: an exception whose traceback keeps a frame, and so `held`, alive
def keep_frame(held):
    try:
        raise KeyError
    except KeyError as error:
        return error

#: keep_generator: a generator whose frame keeps `held` alive
def keep_generator(held):
    yield held
    yield held

#: keep_closure: a function whose cell keeps `held` alive
def keep_closure(held):
    return lambda: held

#: fallen: weak references whose callback ran
fallen = []

#: refused: what is raised where a tensor cannot do what it is asked for
refused = (IndexError, RuntimeError, TypeError, ValueError)

#: wrapped, wrap_again: a weakref callback that wraps a storage, if there is one
wrapped = []
def wrap_again(tensor):
    wrap = tensor.untyped_storage
    def callback(reference):
        try:
            wrapped.append(wrap())
        except refused:
            pass
    return callback

#: locked, lock_again: a weakref callback that locks a C++ weak reference
locked = []
def lock_again(weak):
    lock = weak.lock
    return lambda reference: locked.append(lock())

#: CppWeak: a C++ weak reference; given back when dropped
#> CppWeak: finalizes
class CppWeak:
    handle = None
    def __init__(self, one):
        self.kind = T.Tensor if isinstance(one, T.Tensor) else T.UntypedStorage
        self.handle, self.dead = one._weak_ref(), False
    def expired(self):
        dead = self.kind._expired(self.handle)
        assert dead or not self.dead, "P4: expired() went from true to false"
        self.dead = dead
        return dead
    def lock(self):
        return self.kind._new_with_weak_ptr(self.handle)
    def __del__(self):
        if self.handle is not None:
            self.kind._free_weak_ref(self.handle)

#: fixed [slotcore]: a wrapper through a weak reference, fetched as torch.utils.weak does it
def fixed(reference):
    one = reference()
    if one is not None:
        one._fix_weakref()
    return one

#: Owner [slotcore]: a C++ owner of a storage or of a tensor
#> Owner: makes_owner
import slotcore_c10, sys
sys.setswitchinterval(5e-5)  # a thread that wants the GIL shall have it while the program runs
def Owner(one):
    handle = one._weak_ref()
    try:
        return slotcore_c10.Owner(handle)
    finally:
        one._free_weak_ref(handle)

#: raise_in_hermetic: leaving is guaranteed when an exception passes (H4)
#> raise_in_hermetic: in_hermetic checks
def raise_in_hermetic(tensor):
    storage = tensor.untyped_storage()
    same_before = tensor.untyped_storage() is storage
    try:
        with hermetic():
            raise KeyError
    except KeyError:
        same_after = tensor.untyped_storage() is storage
        assert same_after == same_before, "H4: the mode changed"
        return
    assert False, "H4: the mode keeps an exception"

#: unraisable: exceptions that nobody could catch, as from __del__ and callbacks
import sys
unraisable = []
def note_unraisable(hook):
    unraisable.append(repr(hook.exc_value))
sys.unraisablehook = note_unraisable
