# A3g check_hook_rebased: AssertionError: A3g: hooks of N numbers saw {'old': N.N, 'new': N.N}, torch 2.6.0
# contract: A3g
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A3g: hooks of (?:N|\d+) numbers saw \{'old': (?:N|\d+)\.(?:N|\d+), 'new': (?:N|\d+)\.(?:N|\d+)\}"
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
def differentiable(tensor):
    return T.ones(tuple(tensor.size())).requires_grad_()
def numbers_of(gradient):
    return None if gradient is None else gradient.sum().item()
def check_hook_rebased(tensor):
    log = {}
    with T.enable_grad():
        leaf = differentiable(tensor)
        product = leaf * 1
        product.register_hook(lambda gradient: log.update(old=numbers_of(gradient)))
        product.mul_(3)
        product.register_hook(lambda gradient: log.update(new=numbers_of(gradient)))
        product.sum().backward()
    size = leaf.numel()
    assert log == {"new": size, "old": 3 * size}, f"A3g: hooks of {size} numbers saw {log}"

t0 = T.ones(1)
enter_hermetic()
check_hook_rebased(t0)
