"""T6: C++ threads without the GIL release Python objects; objects that outlive Python leak."""

import gc
import subprocess
import sys
import threading
import weakref

import pytest
import slotcore as T
import slotcore_c10 as c10

SCRIPT_SECONDS_MAX = 120


def owner_of(kind, wrapper):
    """A C++ owner that does not belong to a Python tensor."""
    handle = wrapper._weak_ref()
    owner = c10.Owner(handle)
    kind.base._free_weak_ref(handle)
    return owner


def noting_class(kind, log):
    class Noting(kind.base):
        def __del__(self):
            log.append((threading.get_ident(), self._use_count(), self.attribute))

    return Noting


@pytest.mark.parametrize("drop", ["drop_on_thread", "drop_under_lock"])
def test_the_last_drop_on_a_cpp_thread_takes_effect_under_the_gil(kind, drop):  # T6, P3
    log = []
    x = kind.make(noting_class(kind, log))
    x.attribute = "kept"
    owner = owner_of(kind, x)
    del x
    assert log == []
    getattr(owner, drop)()
    kind.make(kind.base)
    ((thread, use_count, attribute),) = log
    assert thread == threading.get_ident() and (use_count, attribute) == (1, "kept")


def test_the_last_drop_by_a_thread_that_gave_up_its_gil_takes_it_again(kind):  # T6
    log = []
    x = kind.make(noting_class(kind, log))
    x.attribute = "kept"
    owner = owner_of(kind, x)
    del x
    owner.drop()
    assert log == [(threading.get_ident(), 1, "kept")]


def test_a_drop_on_a_cpp_thread_leaves_a_wrapper_that_python_holds(kind):  # T6, P1
    x = kind.make(kind.base)
    handle = x._weak_ref()
    c10.Owner(handle).drop_on_thread()
    assert x._use_count() == 1 and kind.base._new_with_weak_ptr(handle) is x
    kind.base._free_weak_ref(handle)


def test_many_cpp_threads_drop_while_python_runs(kind):  # T6, P3, P5
    log = []
    noting = noting_class(kind, log)
    owners = [[] for _ in range(4)]
    for number in range(200):
        x = kind.make(noting)
        x.attribute = number
        owners[number % 4].append(owner_of(kind, x))
        del x

    def drop_all(mine):
        while mine:
            mine.pop().drop_on_thread()

    threads = [threading.Thread(target=drop_all, args=(mine,)) for mine in owners]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        kind.make(kind.base)
    for thread in threads:
        thread.join()
    kind.make(kind.base)  # the next wrap runs the work for which no pending call was left
    assert sorted(attribute for _, _, attribute in log) == list(range(200))


AT_EXIT = """
import sys
sys.path[:] = {path!r}
import slotcore as T, slotcore_c10 as c10
{make}
handle = x._weak_ref()
c10.Owner(handle).drop_at_exit()
x._free_weak_ref(handle)
print(hex(x._cdata), hex(id(x)))
{last}
c10.set_trace(True)
"""
MAKE = {"storage": "x = T.UntypedStorage(4)", "tensor": "x = T.ones(2)"}


@pytest.mark.parametrize("last, impl_dies", [
    ("del x", True),
    # Its own reference keeps the wrapper. Under resurrection the wrapper then owns the impl again.
    ("x.attribute = x; del x", T._preservation == "refcount-bit"),
    ("import builtins; builtins.keep = x", True),
], ids=["owned by C++", "in a cycle", "held by Python"])
def test_a_drop_after_the_interpreter_ended_leaks_the_wrapper(kind, last, impl_dies):  # T5, T6
    script = AT_EXIT.format(path=sys.path, make=MAKE[kind.name], last=last)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    impl, wrapper = done.stdout.split()
    events = [line[4:].split(maxsplit=1)[1] for line in done.stderr.splitlines()]
    (ended,) = [at for at, event in enumerate(events) if "interpreter disarmed" in event]
    freed = [at for at, event in enumerate(events)
             if event.startswith("impl freed") and event.endswith(impl)]
    assert bool(freed) == impl_dies
    assert all(at > ended for at in freed)
    assert not any(event.startswith("wrapper freed") and wrapper in event for event in events)


def test_a_thread_that_gave_up_its_gil_reads_no_state_of_another(kind):  # T6, R1
    # Two threads take the GIL, each time with a new thread state, while this one releases a chain
    # that is long enough for that, and asks at its end whether it holds the GIL. The chain is made
    # without wrappers, because the release would stop at one. ThreadSanitizer saw the read each
    # time.
    held = [kind.make(kind.base) for _ in range(2)]
    lockers = [owner_of(kind, x) for x in held]
    for locker in lockers:
        locker.start_locking()
    for turn in range(10):
        last = T.zeros(2)
        seen = weakref.ref(last)
        last.attribute = turn
        with T.hermetic():
            for _ in range(3000):
                x = T.zeros(2)
                x.grad = last
                last = x
            handle = x._weak_ref()
            chain = c10.Owner(handle)
            T.TensorBase._free_weak_ref(handle)
        del x, last
        assert seen().attribute == turn
        chain.drop()
        kind.make(kind.base)
        assert seen() is None
    for locker in lockers:
        locker.join()


@pytest.mark.parametrize("start", ["start_copying", "start_locking"])
def test_a_cpp_thread_takes_and_drops_while_python_wraps_and_collects(kind, start):  # T6, P1, P2
    x = kind.make(kind.base)
    keeper = kind.own(x)
    x.attribute = "kept"
    owner = owner_of(kind, x)
    getattr(owner, start)()
    for _ in range(30):
        del x
        gc.collect()
        x = kind.rewrap(keeper)
        assert x.attribute == "kept" and kind.rewrap(keeper) is x
    owner.join()
    owner.drop()
    kind.make(kind.base)
    keeper = None
    assert x._use_count() == 1


def test_an_impl_dies_once_under_a_thread_that_locks_it_again(kind):  # P3, P4, T6
    for _ in range(20):
        log = []
        x = kind.make(noting_class(kind, log))
        x.attribute = 1
        owner = owner_of(kind, x)
        owner.start_locking()
        del x
        owner.join()
        owner.drop()
        kind.make(kind.base)
        assert [attribute for _, _, attribute in log] == [1]


def run_script(script, kind, **words):
    """The stdout of a script in a fresh process of this interpreter, which must exit with 0."""
    words.setdefault("path", sys.path)
    done = subprocess.run([sys.executable, "-c", script.format(make=MAKE[kind.name], **words)],
                          capture_output=True, text=True, timeout=SCRIPT_SECONDS_MAX, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


ENDS_WHILE_LOCKED = """
import sys
sys.path[:] = {path!r}
import gc, slotcore as T, slotcore_c10 as c10
{make}
x.attribute = x if {cycle} else 1
handle = x._weak_ref()
owners = [c10.Owner(handle) for _ in range(2)]
for owner in owners:
    owner.lock_until_exit()
x._free_weak_ref(handle)
{last}
print("ends")
"""


@pytest.mark.parametrize("cycle", [False, True], ids=["", "in a cycle"])
@pytest.mark.parametrize("last", ["del x", "import builtins; builtins.keep = x", "gc.disable()"])
def test_threads_go_on_while_the_interpreter_ends_and_after(kind, last, cycle):  # T5, T6
    assert run_script(ENDS_WHILE_LOCKED, kind, last=last, cycle=cycle) == "ends\n"


AFTER_THE_END = """
import os, sys
sys.path[:] = {path!r}
import slotcore as T
{make}
class Late:
    def __call__(self): pass
    def __del__(self, write=os.write, kind=RuntimeError, text=str):  # there are no builtins
        try:
            self.x._use_count()
        except kind as error:
            write(1, text(error).encode())
late = Late()
late.x = x
os.register_at_fork(before=late)  # CPython drops these callbacks after the interpreter's dict
"""


def test_python_code_after_the_end_gets_an_error(kind):  # T5, T6
    assert run_script(AFTER_THE_END, kind).endswith("outlives its interpreter")


OTHER_ENDS_WHILE_LOCKED = """
import sys
sys.path[:] = {path!r}
import gc, os, slotcore as T, slotcore_c10 as c10
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
begin = '''
import sys
sys.path[:] = {{path!r}}
import os, slotcore as T
{make}
x.attribute = 1
handle = x._weak_ref()
os.write({{pipe}}, b"%d" % handle)
'''
for turn in range(6):
    ours, theirs = os.pipe()
    number = interpreters.create()
    interpreters.run_string(number, begin.format(path=sys.path, pipe=theirs))
    handle = int(os.read(ours, 100))
    owners = [c10.Owner(handle) for _ in range(1 + turn % 2)]
    T.{type}._free_weak_ref(handle)
    for owner in owners:
        owner.start_locking()
    # CPython refuses while a thread has a state there, and ends the interpreter with that state.
    interpreters.destroy(number)
    for owner in owners:
        owner.join()
    del owner, owners
    os.close(ours), os.close(theirs)
assert T._live_impls() <= 2 * T._left_behind()  # a tensor keeps its storage
print("ended", T._live_wrappers())
"""


def test_threads_go_on_while_another_interpreter_ends(kind):  # T5, T6
    said = run_script(OTHER_ENDS_WHILE_LOCKED, kind, type=kind.base.__name__)
    assert said == "ended 0\n"


def test_the_collector_spares_what_a_thread_locks_between_its_passes(kind):  # P2, P4
    interval = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    try:
        for _ in range(20):
            x = kind.make(kind.base)
            owner = kind.own(x)
            x.me = x
            seen = weakref.ref(x)
            locking = owner_of(kind, x)
            locking.start_locking()
            del x
            for _ in range(20):
                gc.collect()
                assert seen() is not None
            locking.join()
            assert kind.rewrap(owner).me is seen()
            seen().me = None
            del owner, locking
    finally:
        sys.setswitchinterval(interval)
