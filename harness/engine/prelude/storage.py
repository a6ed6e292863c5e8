"""What program lines may call. A script prints only the snippets that its lines use.

A snippet begins with a marker, `#: names: sentence`, and ends before the next one. `[torch]` or
`[slotcore]` after the names limits it to that module. `#> name: effects` says what calling a name
does, in the words of the op table. `T`, `gc` and `weakref` are there already.
"""

#: enter_hermetic, exit_hermetic, hermetic [slotcore]: wrap as a second interpreter would
#> enter_hermetic: enters_hermetic
#> exit_hermetic: leaves_hermetic
#> hermetic: in_hermetic
enter_hermetic, exit_hermetic, hermetic = T.enter_hermetic, T.exit_hermetic, T.hermetic

#: enter_hermetic, exit_hermetic, hermetic [torch]: libc10 exports the setter of its flag
#> enter_hermetic: enters_hermetic
#> exit_hermetic: leaves_hermetic
#> hermetic: in_hermetic
import contextlib, ctypes, threading
set_state = ctypes.PyDLL("libc10.so")._ZN3c104impl19HermeticPyObjectTLS9set_stateEb
class Mode(threading.local):
    hermetic = False
mode = Mode()
def set_hermetic(now):
    mode.hermetic = now
    set_state(ctypes.c_bool(now))
def enter_hermetic():
    set_hermetic(True)
def exit_hermetic():
    if not mode.hermetic:
        raise RuntimeError("this thread is not in hermetic mode")
    set_hermetic(False)
@contextlib.contextmanager
def hermetic():
    former = mode.hermetic
    set_hermetic(True)
    try:
        yield
    finally:
        set_hermetic(former)

#: Lane: a long-lived thread that does one piece of work at a time, while the caller waits
#> Lane: starts_thread
import _thread
LANE_SECONDS_MAX = 100
class Lane:
    def __init__(self):
        self.begin, self.end = _thread.allocate_lock(), _thread.allocate_lock()
        self.begin.acquire(), self.end.acquire()
        self.work = self.error = None
        _thread.start_new_thread(self.serve, ())
    def call(self, function, *arguments):
        self.work = function, arguments
        self.begin.release()
        assert self.end.acquire(timeout=LANE_SECONDS_MAX), "R2: a lane does not come back"
        error, self.error = self.error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # or it and this frame would be a cycle
    def serve(self):
        while self.begin.acquire() and self.work is not None:
            (function, arguments), self.work = self.work, None
            try:
                function(*arguments)
            except BaseException as error:
                self.error = error.with_traceback(None)
            function = arguments = None  # this frame lives on and must hold nothing
            self.end.release()

#: lanes, lane: runs a line on lane 1 or 2; lane 0 is the main thread
#> lane: starts_thread
lanes = {}
lane_lines = {"": compile("", "", "exec")}  # makes types that no reset shall visit: gc.freeze()
def lane(number, line):
    if number not in lanes:
        lanes[number] = Lane()
    if line not in lane_lines:
        lane_lines[line] = compile(line, line, "exec")
    lanes[number].call(exec, lane_lines[line], globals())

#: Sub: a subclass of storages
class Sub(T.UntypedStorage):
    pass

#: Slotted: a subclass with slots
class Slotted(T.UntypedStorage):
    __slots__ = ("tag", "box", "me")

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
        leaked_self.append(T.empty(0, dtype=T.uint8).set_(self))

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
        pass
    same_after = tensor.untyped_storage() is storage
    assert same_after == same_before, "H4: the mode changed"

#: unraisable: exceptions that nobody could catch, as from __del__ and callbacks
import sys
unraisable = []
def note_unraisable(hook):
    unraisable.append(repr(hook.exc_value))
sys.unraisablehook = note_unraisable

#: other_begins, Other [slotcore]: another interpreter, on a thread of its own; it ends when dropped
#> Other: starts_thread enters_interpreter
import atexit, sys, weakref
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
other_begins = """
import sys
sys.path[:] = {path!r}
import gc, {module} as T
gc.disable()
held = []
def last():
    return next(one for one in reversed(held) if isinstance(one, T.UntypedStorage))
def make():
    storage = T.UntypedStorage(4)
    storage.me, storage.tag = storage, 7
    tensor = T.empty(0, dtype=T.uint8).set_(storage)
    tensor.grad = T.empty(4, dtype=T.uint8)
    held.extend([tensor, storage])
def storage(handle, address, data, is_theirs):
    one = T.UntypedStorage._new_with_weak_ptr(handle)
    assert not is_theirs or one._cdata != address, "T2: two interpreters have one storage"
    assert one.data_ptr() == data, "T2: the storage does not share its bytes"
    held.append(one)
def tensor(handle, is_theirs):
    try:
        one = T.Tensor._new_with_weak_ptr(handle)
    except RuntimeError:
        return
    assert not is_theirs, "T2: two interpreters have one tensor"
    held.append(one)
def keep():
    one = last()
    owner = T.empty(0, dtype=T.uint8).set_(one)
    one.tag = 5
    held.remove(one)
    del one
    gc.collect()
    held.append(owner.untyped_storage())
    assert getattr(held[-1], "tag", None) == 5, "P2: an attribute is lost there"
mail = T.UntypedStorage._new_with_weak_ptr({mail})
def post(handle):
    for at in range(8):
        mail[at] = handle >> 8 * at & 255
"""
class Other:
    number, tried, all = None, "", weakref.WeakSet()
    def __init__(self):
        self.lane, self.mail = Lane(), T.UntypedStorage(8)
        self.lane.call(self.begin)
        Other.all.add(self)
    def begin(self):
        self.number = interpreters.create()
        mail = self.mail._weak_ref()
        try:
            self.run(other_begins.format(path=sys.path, module=T.__name__, mail=mail))
        finally:
            T.UntypedStorage._free_weak_ref(mail)
    def run(self, code):
        try:
            failed = interpreters.run_string(self.number, code)
            failed = failed and failed.formatted
        except RuntimeError as error:
            failed = str(error)
        if failed:
            kind = next((kind for kind in (AssertionError, SystemError)
                         if kind.__name__ in failed), RuntimeError)
            raise kind(failed.partition("AssertionError")[2].lstrip("'>: ") or failed)
    def there(self, code):
        if self.number is None:
            raise RuntimeError("that interpreter has ended")
        self.lane.call(self.run, code)
    def make(self):
        self.there("make()")
    def share(self, storage):
        self.offer(storage, T.UntypedStorage)
    def refuse(self, tensor):
        self.offer(tensor, T.Tensor)
    def offer(self, one, claim=None):
        if claim and not isinstance(one, claim):
            raise TypeError("a name may hold what it is not for; its handle is none of CLAIM's")
        handle, address = one._weak_ref(), one._cdata
        try:
            here = claim and not T._is_hermetic() and claim._new_with_weak_ptr(handle)
            is_ours = bool(claim) and here is not False and here._cdata == address
            if isinstance(one, T.Tensor):
                self.there(f"tensor({handle}, {is_ours})")
            else:
                self.there(f"storage({handle}, {address}, {one.data_ptr()}, {is_ours})")
        finally:
            one._free_weak_ref(handle)
    def take(self):
        self.there("post(last()._weak_ref())")
        handle = int.from_bytes(self.mail.tolist(), "little")
        try:
            return T.UntypedStorage._new_with_weak_ptr(handle)
        finally:
            T.UntypedStorage._free_weak_ref(handle)
    def keep(self):
        self.there("keep()")
    def drop(self):
        self.there("held.pop()")
    def collect(self):
        self.there("gc.collect()")
    def end(self):
        if self.number is None:
            return
        number, self.number = self.number, None
        self.lane.call(interpreters.destroy, number)
        self.lane.begin.release()  # without work: the thread ends
    __del__ = end
    @classmethod
    def works(cls):  # without a thread, which must not be there when the process forks
        if not cls.tried:
            number = interpreters.create()
            try:
                failed = interpreters.run_string(number, "import " + T.__name__)
            finally:
                interpreters.destroy(number)
            cls.tried = "fails" if failed else "works"
        return {"works": True}[cls.tried]
@atexit.register
def end_others():
    for other in list(Other.all):
        other.end()
