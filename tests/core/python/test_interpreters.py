"""The end of an interpreter, and two of them in one process (T2, T5)."""

import os
import subprocess
import sys
import threading

import pytest
import slotcore as T
import slotcore_c10


SUBPROCESS = """
import sys
import threading
sys.path[:] = {path!r}
import slotcore as T
class S(T.UntypedStorage):
    def __del__(self): pass
s = S(4); s.me = s; t = T.ones(2); t.grad = T.ones(2); t.grad.foo = t
u = T.empty(0, dtype=T.uint8).set_(S(3)); v = T.frombuffer(bytearray(4), dtype=T.uint8)
{more}
"""


@pytest.mark.parametrize("more", [
    "", "T.enter_hermetic(); w = u.untyped_storage()", "del T, sys.modules['slotcore']",
    "sys.modules['slotcore'].__dict__.clear()", "import builtins; builtins.keep = [u, s]",
])
def test_exit_with_living_wrappers(more):  # T5
    script = SUBPROCESS.format(path=sys.path, more=more)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_classes_of_a_module_die_with_it():  # otherwise each interpreter that ends leaks them
    script = """
import gc, sys, weakref
sys.path[:] = {path!r}
import slotcore as T
class Sub(T.Tensor): pass
t = T.ones(1).as_subclass(Sub)
references = {{name: weakref.ref(one) for name, one in vars(T).items()
              if isinstance(one, type) and one.__module__.startswith("slotcore")}}
references["Sub"], references["module"] = weakref.ref(Sub), weakref.ref(T)
for name in [name for name in sys.modules if name.startswith("slotcore")]:
    del sys.modules[name]
del T, Sub, t
gc.collect()
print(*[name for name in references if references[name]() is not None], len(references))
"""
    done = subprocess.run([sys.executable, "-c", script.format(path=sys.path)],
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    (count,) = done.stdout.split()
    assert int(count) > 5


def test_a_sub_interpreter_shares_data_but_not_the_impl():  # T2
    interpreters = pytest.importorskip("_xxsubinterpreters")
    storage, tensor = T.UntypedStorage([1, 2]), T.ones(1)
    handles = storage._weak_ref(), tensor._weak_ref()
    other = interpreters.create()
    interpreters.run_string(other, f"""
import sys
import threading
sys.path[:] = {sys.path!r}
import slotcore as T
s = T.UntypedStorage._new_with_weak_ptr({handles[0]})
assert s.tolist() == [1, 2] and s._cdata != {storage._cdata}
s[0] = 9
try:
    T.Tensor._new_with_weak_ptr({handles[1]})
except RuntimeError as error:
    assert str(error).count('slotcore interpreter') == 2
else:
    raise AssertionError
keep = T.ones(1); keep.grad = T.ones(1); keep.grad.foo = 1
""")
    assert storage.tolist() == [9, 2]
    interpreters.destroy(other)
    T.UntypedStorage._free_weak_ref(handles[0])
    T.Tensor._free_weak_ref(handles[1])


class Noting(T.UntypedStorage):
    died = []

    def __del__(self):
        Noting.died.append(self.tag)


@pytest.mark.parametrize("thread", ["this", "another"])
def test_an_impl_that_a_sub_interpreter_releases_is_freed(thread):  # P3, T6
    interpreters = pytest.importorskip("_xxsubinterpreters")
    storage = Noting(1)
    storage.tag = thread
    handle = storage._weak_ref()
    script = f"""
import sys
import threading
sys.path[:] = {sys.path!r}
import slotcore as T
T.UntypedStorage._new_with_weak_ptr({handle})
"""

    def go():
        other = interpreters.create()
        interpreters.run_string(other, script)
        interpreters.destroy(other)

    if thread == "another":
        lane = threading.Thread(target=go)
        lane.start()
        lane.join()
    else:
        go()
    T.UntypedStorage._free_weak_ref(handle)
    Noting.died.clear()
    del storage
    assert Noting.died == [thread]


# CPython 3.11 gives a pending call to the interpreter of the thread that has the GIL, and never
# runs it there. The storage must not wait for the next wrap, and that interpreter may be ending.
def test_an_impl_released_while_a_sub_interpreter_runs_is_freed():  # P3, T6
    interpreters = pytest.importorskip("_xxsubinterpreters")
    begun, over = os.pipe(), os.pipe()
    os.set_blocking(over[0], False)
    other = interpreters.create()
    lane = threading.Thread(target=interpreters.run_string, args=(other, f"""
import os, time
os.write({begun[1]}, b"x")
while True:
    try:
        os.read({over[0]}, 1)
        break
    except BlockingIOError:
        for _ in range(100_000): pass
        time.sleep(0.001)  # gives up the GIL: until 3.12 waiting threads cannot request it
"""))
    Noting.died.clear()
    lane.start()
    os.read(begun[0], 1)
    missing = []
    for number in range(20):
        storage = Noting(1)
        storage.tag = number
        handle = storage._weak_ref()
        owner = slotcore_c10.Owner(handle)
        T.UntypedStorage._free_weak_ref(handle)
        del storage
        owner.drop_on_thread()
        if number not in Noting.died:
            missing.append(number)
    os.write(over[1], b"x")
    lane.join()
    interpreters.destroy(other)
    for end in (*begun, *over):
        os.close(end)
    assert missing == []
