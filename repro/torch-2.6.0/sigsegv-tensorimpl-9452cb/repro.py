# SIGSEGV in ~TensorImpl, torch 2.6.0
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys, weakref
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^killed by SIGABRT$"
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

def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
def differentiable(tensor):
    return T.ones(tuple(tensor.size())).requires_grad_()
acts = {
    "nothing": lambda ctx, x, y, v: None,
}
returned = {
    "y": lambda x, y, v: y,
    "detached": lambda x, y, v: y.detach(),
}
backwards = {
    "doubles": lambda ctx, g: g * 2,
}
functions = {}
def fn(first="nothing", result="y", last="doubles", second="nothing"):
    key = first, result, last, second
    if key in functions:
        return functions[key]
    class Fn(T.autograd.Function):
        parts = key
        @staticmethod
        def forward(ctx, x, *others):
            y = x * 2
            v = y.view(-1)
            acts[first](ctx, x, y, v)
            acts[second](ctx, x, y, v)
            return returned[result](x, y, v)
        @staticmethod
        def backward(ctx, g, *others):
            found = backwards[last](ctx, g)
            missing = len(ctx.needs_input_grad) - 1
            return found if type(found) is tuple else (found,) + (None,) * missing
    functions[key] = Fn
    return Fn
class Asking:
    def __init__(self, tensor, log):
        self.tensor, self.log = weakref.ref(tensor), log
    def __del__(self):
        tensor = self.tensor()
        self.log.append((tensor.grad_fn, tensor.grad, tensor.retains_grad))
def check_graph_asks(tensor):
    log = []
    with T.enable_grad():
        leaf = differentiable(tensor)
        result = fn().apply(leaf)
        result.grad_fn.asking = Asking(result, log)
        result.detach_()
        assert len(log) == 1, "A5a: a node outlives what detached its tensor"
        leaf.register_hook(lambda gradient, asking=Asking(leaf, log): None)
        leaf._backward_hooks = None
        assert len(log) == 2, "A5a: a hook outlives the leaf's hooks"
        leaf.grad = T.ones(tuple(leaf.size()))
        leaf.grad.asking = Asking(leaf, log)
        leaf.grad = None
        assert len(log) == 3 or in_hermetic(), "A5a: a gradient outlives the leaf's"

t0 = T.ones(1)
check_graph_asks(t0)
