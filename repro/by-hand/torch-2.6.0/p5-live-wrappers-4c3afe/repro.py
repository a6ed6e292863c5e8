# 1 wrappers live on (P5), torch 2.6.0
# contract: P5
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^ +(?:assert live_wrappers\(\) == 0)\n(?: +[~^]+\n)?AssertionError"
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
ctxs = []
acts = {
    "nothing": lambda ctx, x, y, v: None,
    "save_view": lambda ctx, x, y, v: ctx.save_for_backward(v),
    "collect": lambda ctx, x, y, v: gc.collect(),
}
returned = {
    "y": lambda x, y, v: y,
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
def count_wrappers():
    return sum(issubclass(type(one), (T.Tensor, T.UntypedStorage)) for one in gc.get_objects())
wrappers_before = count_wrappers()
def live_wrappers():
    if count_wrappers() > wrappers_before:
        trivial_backward()
        gc.collect()
    return count_wrappers() - wrappers_before
def trivial_backward():
    with T.inference_mode(False), T.enable_grad():
        T.ones(1).requires_grad_().sum().backward()

t0 = T.ones(1).requires_grad_()
enter_hermetic()
t1 = fn('save_view').apply(t0)
if True:  # the end: every name is dropped, and the collector runs
    exit_hermetic()
    del t0, t1
    gc.collect()
    for _ in range(5): gc.collect()
    ctxs.clear()
    gc.collect()
    assert live_wrappers() == 0
