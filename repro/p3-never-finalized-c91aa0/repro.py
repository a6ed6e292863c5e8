# __del__ did not run though nothing owns the object (P3)
# contract: P3
# subject: core
# sanitizer: thread
# run: ./slotfuzz python repro.py    (or: --check 20)
import gc, os, subprocess, sys
try:
    import slotcore as T
except ImportError:
    print('slotcore is not importable here; run: ./slotfuzz python', __file__, file=sys.stderr)
    sys.exit(2)

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^ +(?:assert 0 in finalized)\n(?: +[~^]+\n)?AssertionError|^killed by SIG(?:SEGV|ABRT|BUS|ILL|FPE|TRAP)$"
    failed, others = [], []
    for run in range(runs):
        end = subprocess.run([sys.executable, __file__], stderr=subprocess.PIPE, text=True,
                             errors="replace")
        code, said = end.returncode, end.stderr.strip().splitlines()
        said = [line for line in said if "SUMMARY" in line] or said[-2:]
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        if code and re.search(stated, f"{end.stderr}\n{how}", re.MULTILINE):
            failed.append((code, said))
        elif code:
            others.append(": ".join([how, *said[-1:]]))
        print(f"\r{run + 1} of {runs} runs, {len(failed)} failed", end="", file=sys.stderr)
        sys.stderr.flush()
    print(file=sys.stderr)
    codes = sorted({code for code, _ in failed})
    print(f"failed {len(failed)} of {runs}, exit codes {codes}")
    for line in failed[0][1] if failed else []:
        print(line)
    for how in sorted(set(others)):
        print(f"{others.count(how)} ended otherwise: {how}")
    sys.exit(1 if failed else 2 if others else 0)

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
born, finalized = [], []
class Finalized(T.UntypedStorage):
    def __init__(self, *args, **keywords):
        self.serial = len(born)
        born.append(self.serial)
    def __del__(self):
        finalized.append(self.serial)
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
    def offer(self, one, claim=None):
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
    def keep(self):
        self.there("keep()")
    def collect(self):
        self.there("gc.collect()")
    def end(self):
        if self.number is None:
            return
        number, self.number = self.number, None
        self.lane.call(interpreters.destroy, number)
        self.lane.begin.release()  # without work: the thread ends
    __del__ = end

s0 = Finalized(1)
o0 = Other()
o0.share(s0)
if True:  # the end: every name is dropped, and the collector runs
    del s0, o0
    gc.collect()
    assert 0 in finalized
