"""What lines about ends may call: a process that ends while something is left alive.

The line forks a child, which leaves two things and ends as a script does. The child prints nothing,
has no handlers of signals, and runs at its exit no functions of C++.
"""

#: status_of_end, HARNESS_THREADS: how a child ends that a function has prepared
import ctypes, os, signal, sys, threading
END_SECONDS_MAX = 20
HARNESS_THREADS = 2  # the main one and a watchdog
def end_process():
    libc = ctypes.CDLL(None)
    libc.on_exit(ctypes.cast(libc._exit, ctypes.c_void_p), None)
    ctypes.pythonapi.Py_Exit(0)
def status_of_end(prepare):
    child = os.fork()
    if child == 0:
        for number in (signal.SIGABRT, signal.SIGALRM, signal.SIGBUS, signal.SIGFPE, signal.SIGILL,
                       signal.SIGSEGV):
            signal.signal(number, signal.SIG_DFL)
        signal.alarm(END_SECONDS_MAX)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        try:
            prepare()
        finally:
            end_process()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return os.WEXITSTATUS(status)

#: leavings, leave_entered: what a process may leave
#> leavings: starts_thread
class Computing:
    def __init__(self, module):
        self.module = module  # the end of the interpreter clears the names of this one
    def __del__(self):
        leaf = self.module.ones(2).requires_grad_()
        (leaf * leaf).sum().backward()
class Twofold(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.computing = Computing(T)
        return x * 2
    @staticmethod
    def backward(ctx, gradient):
        ctx.saved_tensors
        return gradient * 2
class Attributed(T.Tensor):
    pass
def run_for_ever(act):
    def run():
        while True:
            act()
    threading.Thread(target=run, daemon=True).start()
def run_backward_of(function):
    leaf = T.ones(2).requires_grad_()
    result = function(leaf)
    result.register_hook(lambda gradient: gradient * 2)
    result.sum().backward()
def drop_some():
    tensor = T.ones(2).as_subclass(Attributed)
    tensor.note = tensor.untyped_storage().note = Computing(T)
def leave_graph():
    with T.enable_grad():
        leaf = T.ones(2).requires_grad_()
        result = leaf * leaf
        result.register_hook(lambda gradient: None)
        result.grad_fn.register_hook(lambda *gradients: None)
        result.retain_grad()
        result.sum().backward(retain_graph=True)
        return result.grad_fn, Twofold.apply(leaf)
def leave_preserved():
    one, other = T.ones(2).requires_grad_(), T.ones(2).as_subclass(Attributed)
    other.note, other.untyped_storage().note = Computing(T), [other]
    one.grad = other
    return one
def leave_cycle():
    one = T.ones(2).as_subclass(Attributed)
    one.note = [one, Computing(T)]
def leave_callback():
    one = T.ones(2)
    return one, weakref.ref(one, lambda _, module=T: module.ones(2) * 2)
def leave_waiting():
    one = T.ones(2)
    threading.Thread(target=lambda held: threading.Event().wait(), args=[one], daemon=True).start()
def leave_local():
    local = threading.local()
    local.note = T.ones(2), Computing(T)
    return local
def leave_entered(scope):
    scope.__enter__()
    return scope
leavings = {
    "nothing": lambda: None, "graph": leave_graph, "preserved": leave_preserved,
    "cycle": leave_cycle, "finalizer": lambda: Computing(T), "callback": leave_callback,
    "storage": lambda: T.ones(2).untyped_storage(), "waiting": leave_waiting,
    "local": leave_local, "computing": lambda: run_for_ever(lambda: T.ones(2) * 2),
    "backward": lambda: run_for_ever(lambda: run_backward_of(lambda x: x * x)),
    "function": lambda: run_for_ever(lambda: run_backward_of(Twofold.apply)),
    "dropping": lambda: run_for_ever(drop_some),
    "no_grad": lambda: leave_entered(T.no_grad()),
    "packs": lambda: leave_entered(T.autograd.graph.saved_tensors_hooks(Computing, T.ones)),
    "fake_mode": lambda: leave_entered(FakeTensorMode()),
    "converter": lambda: (MetaConverter(), MetaConverter()(T.ones(2))),
}

#: leavings_of_core [slotcore]: what a process of the core may leave
leavings_of_core = {"hermetic_mode": T.enter_hermetic}

#: leavings_of_core [torch]: PyTorch 1.13 has no setter of the mode
leavings_of_core = {}

#: check_ends: a process that has left two things does not crash or hang (T8)
#> check_ends: collects starts_thread checks
def check_ends(*names):
    if in_hermetic() or threading.current_thread() is not threading.main_thread():
        return
    collect_all()  # and no backward of former lines is left
    threads = len(os.listdir("/proc/self/task"))
    left = vars(sys.modules["__main__"]).setdefault("left_at_end", [])
    def prepare():
        for name in names:
            leave = {**leavings, **leavings_of_core}.get(name, leavings["nothing"])
            left.append(leave())
    status = status_of_end(prepare)
    if status == "SIGALRM" and threads > HARNESS_THREADS:
        return  # the child may wait for a thread that a fork does not copy
    assert status == 0, f"T8: a process ends with {status}, for what it has left"
