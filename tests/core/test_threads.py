"""T6: C++ threads without the GIL drop what Python made; what outlives Python leaks."""

import subprocess
import sys
import threading

import pytest
import slotcore as T
import slotcore_c10 as c10


def owner_of(kind, wrapper):
    """A C++ owner that no tensor of Python's is."""
    handle = wrapper._weak_ref()
    owner = c10.Owner(handle)
    kind.base._free_weak_ref(handle)
    return owner


def noting_class(kind, log):
    class Noting(kind.base):
        def __del__(self):
            log.append((threading.get_ident(), self._use_count(), self.attribute))

    return Noting


def test_the_last_drop_on_a_cpp_thread_takes_the_gil(kind):  # T6, P3
    log = []
    x = kind.make(noting_class(kind, log))
    x.attribute = "kept"
    owner = owner_of(kind, x)
    del x
    assert log == []
    owner.drop_on_thread()
    ((thread, use_count, attribute),) = log
    assert thread != threading.get_ident() and (use_count, attribute) == (1, "kept")


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
    ("x.attribute = x; del x", False),  # its own reference keeps the wrapper, and so the impl
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
