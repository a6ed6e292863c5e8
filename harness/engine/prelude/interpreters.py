"""What lines about other interpreters may call: an interpreter is an object of a program."""

#: other_begins, Other, Visit [slotcore]: another interpreter, which ends when it is dropped
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
class Visit:  # in the place of a Lane: the calling thread enters the other interpreter
    def call(self, function, *arguments):
        function(*arguments)
    def stop(self):
        pass
class Other:
    number, tried, all = None, "", weakref.WeakSet()
    def __init__(self, place=Lane):
        self.lane, self.mail = place(), T.UntypedStorage(8)
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
            raise TypeError("the object is no CLAIM, and its handle is for another class")
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
    def import_again(self):  # twice: `held` keeps the first module, and nothing the second one
        name = T.__name__
        classes = "[t.__qualname__ for t in gc.get_objects() if isinstance(t, type)]"
        self.there(f"before = {classes}\n"
                   f"for _ in range(2): del sys.modules[{name!r}], T; import {name} as T; "
                   "gc.collect()\n"
                   "try:\n"
                   "    tensor = T.ones(2).clone()\n"
                   "    found = tensor.tolist(), tensor.untyped_storage().nbytes()\n"
                   "except RuntimeError as error:\n"
                   "    found = repr(error)\n"
                   "tensor = None\n"
                   "assert found == ([1.0, 1.0], 8), f'P8: a module imported again: {found}'\n"
                   f"after = {classes}\n"
                   "left = sorted({n for n in after if after.count(n) > before.count(n) + 1})\n"
                   "assert not left, f'P5: of a module that is gone, these classes stay: {left}'")
    def end(self):
        if self.number is None:
            return
        number, self.number = self.number, None
        self.lane.call(interpreters.destroy, number)
        self.lane.stop()
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
