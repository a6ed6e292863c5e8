# RuntimeError: RuntimeError: !check_has_torch_dispatch(obj) INTERNAL ASSERT FAILED at "./torch/csrc/autograd/python_variable.cpp":N, please report a bug to PyTorch. While HermeticPyObject was enabled, we attempted to create a tensor subclass with __torch_dispatch__.  This violates the invariant that operations in HermeticPyObject have equivalent C++ implementations. If your operator registered from Python operator registration isn't doing anything strange, there may be an internal PyTorch bug involving not appropriately disabling TorchDispatchMode before executing Python op registration., torch 2.6.0
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = '^(?:[\\w.]+\\.)?RuntimeError: !check_has_torch_dispatch\\(obj\\) INTERNAL ASSERT FAILED at "[^"]*":(?:N|\\d+), please report a bug to PyTorch\\. While HermeticPyObject was enabled, we attempted to create a tensor subclass with __torch_dispatch__\\.  This violates the invariant that operations in HermeticPyObject have equivalent C\\+\\+ implementations\\. If your operator registered from Python operator registration isn\'t doing anything strange, there may be an internal PyTorch bug involving not appropriately disabling TorchDispatchMode before executing Python op registration\\.'
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
class TensorDispatching(T.Tensor):
    @staticmethod
    def __new__(cls, inner):
        one = T.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype)
        one.inner = inner
        return one
    def __init__(self, inner):
        pass
    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), keywords=None):
        inner = [one.inner if type(one) is cls else one for one in arguments]
        return function(*inner, **(keywords or {}))

enter_hermetic()
t0 = T.Tensor._make_wrapper_subclass(TensorDispatching, (1,))
