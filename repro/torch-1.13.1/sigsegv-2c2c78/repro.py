# SIGSEGV, torch 1.13.0a0
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^killed by SIGSEGV$"
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

born, finalized = [], []
class Serial(int):
    def __deepcopy__(self, memo):
        return -1
    def __reduce__(self):
        return int, (-1,)
def note_finalized(one):
    if "serial" in one.__dict__:
        finalized.append(one.serial)
leaked_self = []
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
class TensorLeaksSelf(TensorFinalized):
    def __del__(self):
        super().__del__()
        owner = T.ones(self.size())
        try:
            owner.grad = self
        except (RuntimeError, TypeError):  # lines have made it another type of numbers
            return
        leaked_self.append(owner)

t0 = TensorLeaksSelf(1)
del t0
t0 = leaked_self.pop()
t0 = t0.grad
