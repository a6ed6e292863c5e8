# T8 check_ends: AssertionError: T8: a process ends with SIGABRT, for what it has left, torch 2.6.0
# contract: T8
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys, weakref
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: T8: a process ends with SIGABRT, for what it has left"
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

collect_all = gc.collect
def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
MetaConverter = T._subclasses.meta_utils.MetaConverter
FakeTensorMode = T._subclasses.FakeTensorMode
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
leavings_of_core = {}
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

check_ends('computing', 'nothing')
