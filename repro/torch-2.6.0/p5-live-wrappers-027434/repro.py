# 2 wrappers live on (P5), torch 2.6.0
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
@contextlib.contextmanager
def hermetic():
    former = mode.hermetic
    set_hermetic(True)
    try:
        yield
    finally:
        set_hermetic(former)
born, finalized = [], []
class Serial(int):
    def __deepcopy__(self, memo):
        return -1
    def __reduce__(self):
        return int, (-1,)
def note_finalized(one):
    if "serial" in one.__dict__:
        finalized.append(one.serial)
class TensorSub(T.Tensor):
    if hasattr(T, "_C"):
        __torch_function__ = T._C._disabled_torch_function_impl
class TensorFinalized(TensorSub):
    def __new__(cls, size):
        return T.ones(size).as_subclass(cls)
    def __init__(self, size):
        self.serial = Serial(len(born))
        born.append(self.serial)
    def __del__(self):
        note_finalized(self)
def count_wrappers():
    return sum(issubclass(type(one), (T.Tensor, T.UntypedStorage)) for one in gc.get_objects())
wrappers_before = count_wrappers()
def live_wrappers():
    return count_wrappers() - wrappers_before

t0 = TensorFinalized(1)
t1 = t0._neg_view()
t0.grad = t1
with hermetic(): t0 = t0.grad
if True:  # the end: every name is dropped, and the collector runs
    del t0, t1
    gc.collect()
    for _ in range(5): gc.collect()
    assert live_wrappers() == 0
