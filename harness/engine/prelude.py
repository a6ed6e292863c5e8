"""What program lines may call. A script prints only the snippets that its lines use.

A snippet begins with a marker, `#: names: sentence`, and ends before the next one. `[torch]` or
`[slotcore]` after the names limits it to that module. `T`, `gc` and `weakref` are there already.
"""

#: enter_hermetic, exit_hermetic, hermetic [slotcore]: wrap as a second interpreter would
enter_hermetic, exit_hermetic, hermetic = T.enter_hermetic, T.exit_hermetic, T.hermetic

#: enter_hermetic, exit_hermetic, hermetic [torch]: libc10 exports the setter of its flag
import contextlib, ctypes
set_state = ctypes.PyDLL("libc10.so")._ZN3c104impl19HermeticPyObjectTLS9set_stateEb
hermetic_now = False
def set_hermetic(now):
    global hermetic_now
    hermetic_now = now
    set_state(ctypes.c_bool(now))
def enter_hermetic():
    set_hermetic(True)
def exit_hermetic():
    if not hermetic_now:
        raise RuntimeError("this thread is not in hermetic mode")
    set_hermetic(False)
@contextlib.contextmanager
def hermetic():
    former = hermetic_now
    set_hermetic(True)
    try:
        yield
    finally:
        set_hermetic(former)

#: Sub: a subclass of storages
class Sub(T.UntypedStorage):
    pass

#: Slotted: a subclass with slots
class Slotted(T.UntypedStorage):
    __slots__ = ("tag", "box", "me")

#: born, finalized, Finalized: each object has a number; __del__ notes it
born, finalized = [], []
class Finalized(T.UntypedStorage):
    def __init__(self, *args, **keywords):
        self.serial = len(born)
        born.append(self.serial)
    def __del__(self):
        finalized.append(self.serial)

#: risen, Phoenix: __del__ resurrects the object
risen = []
class Phoenix(Finalized):
    def __del__(self):
        finalized.append(self.serial)
        risen.append(self)

#: given, Giver: __del__ makes a tensor that owns the storage
given = []
class Giver(Finalized):
    def __del__(self):
        finalized.append(self.serial)
        given.append(T.empty(0, dtype=T.uint8).set_(self))

#: check_wraps: N wraps and N drops change the use count by 0 (P7)
def check_wraps(tensor):
    storage = tensor.untyped_storage()
    before = storage._use_count()
    wraps = [tensor.untyped_storage() for _ in range(3)]
    del wraps
    assert storage._use_count() == before, "P7: the use count drifts"

#: knot: a dead cycle that refers to `held`, for the collector to find
def knot(held):
    cycle = [held]
    cycle.append(cycle)

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

#: wrapped, wrap_again: a weakref callback that wraps a storage
wrapped = []
def wrap_again(tensor):
    wrap = tensor.untyped_storage
    return lambda reference: wrapped.append(wrap())

#: locked, lock_again: a weakref callback that locks a C++ weak reference
locked = []
def lock_again(weak):
    lock = weak.lock
    return lambda reference: locked.append(lock())

#: CppWeak: a C++ weak reference; given back when dropped
class CppWeak:
    handle = None
    def __init__(self, storage):
        self.handle, self.dead = storage._weak_ref(), False
    def expired(self):
        dead = T.UntypedStorage._expired(self.handle)
        assert dead or not self.dead, "P4: expired() went from true to false"
        self.dead = dead
        return dead
    def lock(self):
        return T.UntypedStorage._new_with_weak_ptr(self.handle)
    def __del__(self):
        if self.handle is not None:
            T.UntypedStorage._free_weak_ref(self.handle)

#: raise_in_hermetic: leaving is guaranteed when an exception passes (H4)
def raise_in_hermetic(tensor):
    storage = tensor.untyped_storage()
    same_before = tensor.untyped_storage() is storage
    try:
        with hermetic():
            raise KeyError
    except KeyError:
        pass
    same_after = tensor.untyped_storage() is storage
    assert same_after == same_before, "H4: the mode changed"

#: unraisable: exceptions that nobody could catch, as from __del__ and callbacks
import sys
unraisable = []
def note_unraisable(hook):
    unraisable.append(repr(hook.exc_value))
sys.unraisablehook = note_unraisable
