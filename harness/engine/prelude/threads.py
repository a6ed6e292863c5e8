"""What program lines may call about threads: hermetic mode and lanes. The prelude begins here.

A script prints only the snippets that its lines use. A snippet begins with a marker,
`#: names: sentence`, and ends before the next one. `[torch]` or `[slotcore]` after the names limits
it to that module. `#> name: effects` says what calling a name does, in the words of the op table.
`T`, `gc` and `weakref` are there already. CMakeLists.txt has the order of the files.
"""

#: is_slotcore [slotcore]: which of the two modules T is
is_slotcore = True

#: is_slotcore [torch]: which of the two modules T is
is_slotcore = False

#: enter_hermetic, exit_hermetic, hermetic [slotcore]: wrap as a second interpreter would
#> enter_hermetic: enters_hermetic
#> exit_hermetic: leaves_hermetic
#> hermetic: in_hermetic
enter_hermetic, exit_hermetic, hermetic = T.enter_hermetic, T.exit_hermetic, T.hermetic

#: enter_hermetic, exit_hermetic, hermetic [torch]: a library of _C exports the flag's setter
#> enter_hermetic: enters_hermetic
#> exit_hermetic: leaves_hermetic
#> hermetic: in_hermetic
import contextlib, ctypes, threading
set_state = ctypes.PyDLL(T._C.__file__)._ZN3c104impl19HermeticPyObjectTLS9set_stateEb
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

#: WORKER_SECONDS_MAX, beside, alone [slotcore]: waits for the threads that former lines have begun
WORKER_SECONDS_MAX = 100
beside = set()  # a lock of each, which it releases at its end
def has_ended(end):
    if not end.acquire(timeout=WORKER_SECONDS_MAX):
        return False
    end.release()
    return True
def alone():
    assert all(map(has_ended, list(beside))), "A5d: a backward does not return"

#: collect_all [slotcore]: gc.collect() returns at once while another thread collects
#> collect_all: collects
def collect_all():
    alone()
    gc.collect()

#: collect_all [torch]: no line leaves a thread behind
#> collect_all: collects
collect_all = gc.collect

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
    def stop(self):
        self.begin.release()  # without work: the thread ends

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
