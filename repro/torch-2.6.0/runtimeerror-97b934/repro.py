# RuntimeError: RuntimeError: mb_obj_a.has_value() && mb_obj_b.has_value() INTERNAL ASSERT FAILED at "./torch/csrc/Module.cpp":N, please report a bug to PyTorch. Both tensors should have PyObjects tagged by the current python interpreter, torch 2.6.0
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = '^(?:[\\w.]+\\.)?RuntimeError: mb_obj_a\\.has_value\\(\\) \\&\\& mb_obj_b\\.has_value\\(\\) INTERNAL ASSERT FAILED at "[^"]*":(?:N|\\d+), please report a bug to PyTorch\\. Both tensors should have PyObjects tagged by the current python interpreter'
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
class TensorSub(T.Tensor):
    if hasattr(T, "_C"):
        __torch_function__ = T._C._disabled_torch_function_impl
def twin_of(tensor, kind):
    return tensor.detach().clone().as_subclass(kind)
def check_swapped(tensor):
    one, other = twin_of(tensor, TensorSub), twin_of(tensor, T.Tensor)
    one.tag = 7
    T.utils.swap_tensors(one, other)
    assert one.zero_() is one and other.zero_() is other, "P1: the slots were not swapped"
    assert other.tag == 7 and type(other) is TensorSub, "P2: an attribute was not swapped"

enter_hermetic()
t0 = T.ones(1)
check_swapped(t0)
