# SIGABRT in THPVariable_subclass_dealloc: !tensor.unsafeGetTensorImpl()->owns_pyobj() INTERNAL ASSERT FAILED at "./torch/csrc/autograd/python_variable.cpp":N, please report a bug to PyTorch., torch 1.13.0a0
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys
from contextlib import suppress
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
# Up to CPython 3.11 the allocation of the wrapper may collect, and so run a finalizer.
def check_wrapped_once():
    if in_hermetic():
        return
    found, before, was_enabled = [], gc.get_threshold(), gc.isenabled()
    with T.enable_grad():
        owner = T.ones(1).requires_grad_()
        owner.sum().backward()
    class Reader:
        def __del__(self):
            found.append(owner.grad)
    for _ in range(3):
        one = Reader()
        one.itself = one
    del one
    gc.set_threshold(1)
    gc.enable()
    try:
        wrapper = owner.grad
    finally:
        if not was_enabled:
            gc.disable()
        gc.set_threshold(*before)
        gc.collect()
    assert len(found) == 3 and all(other is wrapper for other in found), (
        "P1: one impl has two wrappers, or a finalizer did not run")

with suppress(AssertionError): check_wrapped_once()
if True:  # the end: every name is dropped, and the collector runs
    gc.collect()
