"""A5: nodes that run on the threads of devices, and backwards on several threads at once."""

import gc
import subprocess
import sys
import threading
import traceback

import pytest
import slotcore as T

THREADS = 4
SCRIPT_SECONDS_MAX = 120


def function_that(act):
    """A custom Function whose backward calls ACT."""
    class Acting(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            act()
            return gradient * ctx.saved_tensors[0]

    return Acting


def applied(device, x, act=lambda: None):
    with T.on_device(device):
        return function_that(act).apply(x)


def nothing_runs():
    return T._live_backwards() == T._queued_tasks() == 0


def test_a_device_is_a_thread_of_its_own():
    threads = {}
    x = T.ones(2).requires_grad_()

    def note(name):
        threads[name] = threading.get_ident()
        assert not T.is_grad_enabled()

    with T.on_device(0):
        doubled = x * 2
    doubled.register_hook(lambda gradient: note("hook"))
    total = applied(0, doubled, lambda: note("first")) + applied(1, x, lambda: note("second"))
    total.sum().backward()
    assert threads["first"] == threads["hook"] != threads["second"]
    assert threading.get_ident() not in threads.values()
    assert x.grad.tolist() == [5, 5] and nothing_runs()


def test_scopes_nest_and_end_when_an_exception_passes():
    with pytest.raises(KeyError), T.on_device(0):
        raise KeyError
    scope = T.on_device(1)
    with scope, pytest.raises(RuntimeError):
        scope.__enter__()
    with pytest.raises(RuntimeError):
        scope.__exit__(None, None, None)
    for wrong in (-1, 2):
        with pytest.raises(ValueError):
            T.on_device(wrong)
    ran = []
    x = T.ones(1).requires_grad_()
    y = function_that(lambda: ran.append(threading.get_ident())).apply(x)
    y.sum().backward()
    assert ran == [threading.get_ident()]


def test_an_error_comes_out_as_it_is_and_leaves_nothing():  # A3d, A5c
    x = T.ones(1).requires_grad_()

    def fail():
        raise LookupError("mine")

    _ = x * 1  # x keeps the memory of its accumulator, which counts
    for _ in range(20):
        gc.collect()
        impls, wrappers = T._live_impls(), T._live_wrappers()
        total = x * 1
        for i in range(6):
            total = total + applied(i % 2, x, fail if i in (2, 3) else (lambda: None))
        with pytest.raises(LookupError, match="mine") as caught:
            total.sum().backward()
        assert nothing_runs() and T.is_grad_enabled()
        assert "fail" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        del total, caught
        gc.collect()
        assert (T._live_impls(), T._live_wrappers()) == (impls, wrappers)
    applied(0, applied(1, x)).sum().backward()
    assert x.grad.tolist() == [1]


def nested(depth, device_at):
    x = T.ones(1).requires_grad_()

    def act():
        if depth > 0:
            with T.enable_grad():
                nested(depth - 1, device_at)

    device = device_at(depth)
    y = function_that(act).apply(x) if device < 0 else applied(device, x, act)
    y.sum().backward()
    assert x.grad.tolist() == [1]


@pytest.mark.parametrize("device_at", [lambda _: -1, lambda _: 0, lambda level: level % 2,
                                       lambda level: level % 3 - 1],
                         ids=["caller", "one device", "two devices", "all"])
def test_nested_backwards_return(device_at):  # A5d
    for depth in (1, 59, 62, 130):
        nested(depth, device_at)
    assert nothing_runs()


def test_endless_nesting_is_an_error():
    x = T.ones(1).requires_grad_()

    def again(gradient):
        with T.enable_grad():
            y = x * 1
            y.register_hook(again)
            y.sum().backward()

    with pytest.raises(RuntimeError, match="nested too deeply"):
        again(None)
    assert nothing_runs()


def at_once(function):
    """The exceptions of FUNCTION on several threads that begin together."""
    begin, errors = threading.Barrier(THREADS), []

    def run():
        begin.wait()
        try:
            function()
        except RuntimeError as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_backwards_at_once_of_a_kept_graph_add_up():  # A5b
    x = T.ones(2).requires_grad_()
    y = applied(0, x) + applied(1, x) + x * x
    assert at_once(lambda: [y.sum().backward(retain_graph=True) for _ in range(20)]) == []
    assert x.grad.tolist() == [4 * 20 * THREADS] * 2 and nothing_runs()


def test_of_backwards_at_once_that_free_a_graph_one_succeeds():  # A5b
    for device in (0, 1) * 20:
        x = T.ones(2).requires_grad_()
        with T.on_device(device):
            y = x * x
        errors = at_once(lambda: y.sum().backward())
        assert len(errors) == THREADS - 1
        assert all("second time" in str(error) for error in errors)
        assert x.grad.tolist() == [2, 2]


def run_script(script):
    """The stdout of a script in a fresh process of this interpreter, which must exit with 0."""
    script = f"import sys\nsys.path[:] = {sys.path!r}\n" + script
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          timeout=SCRIPT_SECONDS_MAX, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


BEGIN = """
import atexit, os, threading
import slotcore as T
class Acting(T.autograd.Function):
    @staticmethod
    def forward(ctx, x, act):
        ctx.act = act
        return x * 1
    @staticmethod
    def backward(ctx, gradient):
        ctx.act()
        return gradient, None
x = T.ones(1).requires_grad_()
def applied(device, act):
    with T.on_device(device):
        return Acting.apply(x, act)
def run(act=lambda: None):
    x.grad = None
    (applied(0, act) + applied(1, act) + x).sum().backward()
    os.write(1, b"%r\\n" % x.grad.tolist())
"""


def test_threads_end_with_the_interpreter():
    assert run_script(BEGIN + "run()") == "[3.0]\n"
    # After their end, the thread that calls does their work.
    begin = "import atexit\natexit.register(lambda: run())\n" + BEGIN
    assert run_script(begin + "run()") == "[3.0]\n[3.0]\n"


FORK = """
run()
child = os.fork()
run()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="a fork beside threads warns")
def test_a_forked_process_starts_threads_of_its_own():
    assert run_script(BEGIN + FORK) == "[3.0]\n" * 3


def test_the_gil_is_free_while_the_caller_waits():
    x = T.ones(1).requires_grad_()
    go_on, seen = threading.Event(), []

    def act():
        seen.append(go_on.wait(SCRIPT_SECONDS_MAX))

    y = applied(0, x, act)
    setter = threading.Thread(target=go_on.set)
    setter.start()
    y.sum().backward()
    setter.join()
    assert seen == [True]
