"""T5, T6: C++ threads release Python objects while an interpreter ends, and after."""

import subprocess
import sys

import pytest
import slotcore as T

SCRIPT_SECONDS_MAX = 120


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


ENDS_WITHIN_CALLS = """
import sys
sys.path[:] = {path!r}
import threading, slotcore as T
class Computing:
    def __init__(self, module): self.module = module
    def __del__(self): self.module.ones(2) * 2
class Twofold(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.computing = Computing(T)
        return x * 2
    @staticmethod
    def backward(ctx, gradient): return gradient * 2
def product(leaf):
    (leaf * leaf).sum().backward()
def function(leaf):
    result = Twofold.apply(leaf)
    result.register_hook(lambda gradient: gradient * 2)
    result.sum().backward()
def run(begun):
    leaf = T.ones(2).requires_grad_()
    while True:
        {act}(leaf)
        begun.set()
for _ in range(3):
    begun = threading.Event()
    threading.Thread(target=run, args=[begun], daemon=True).start()
    begun.wait()
print("ends")
"""


@pytest.mark.parametrize("act", ["product", "function"])
def test_threads_in_a_call_at_the_end_of_the_process_do_not_end_it(act):  # T8
    script = ENDS_WITHIN_CALLS.format(path=sys.path, act=act)
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                              timeout=SCRIPT_SECONDS_MAX, check=False)
        assert (done.returncode, done.stdout) == (0, "ends\n"), done.stderr


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
