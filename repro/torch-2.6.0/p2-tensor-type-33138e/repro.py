# the wrapper came back as another type (P2), torch 2.6.0
# contract: P2
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
from contextlib import suppress
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    # Freed memory must not look alive.
    os.environ.update(
        PYTHONMALLOC="debug", MALLOC_PERTURB_="165", GLIBC_TUNABLES="glibc.malloc.tcache_count=0")
    ends = [subprocess.run([sys.executable, __file__], stderr=subprocess.PIPE, text=True,
                           errors="replace") for _ in range(runs)]
    failed = [end for end in ends if end.returncode]
    codes = sorted({end.returncode for end in ends})
    print(f"failed {len(failed)} of {runs}, exit codes {codes}")
    for end in failed[:1]:
        lines = end.stderr.splitlines()
        print(*[line for line in lines if "SUMMARY" in line] or lines[-2:], sep="\n")
    sys.exit(bool(failed))

class TensorSub(T.Tensor):
    if hasattr(T, "_C"):
        __torch_function__ = T._C._disabled_torch_function_impl
class WeakTensor:
    def __init__(self, tensor):
        if not isinstance(tensor, T.Tensor):
            raise TypeError("no tensor")  # what torch makes of it is another line's matter
        self.weak, self.dead = T._C._WeakTensorRef(tensor), False
    def expired(self):
        dead = self.weak.expired()
        assert dead or not self.dead, "P4: expired() went from true to false"
        self.dead = dead
        return dead

t0 = TensorSub(1)
c0 = WeakTensor(t0)
t1 = T.ones(1)
with suppress(RuntimeError): T.utils.swap_tensors(t0, t1)
t0 = t0
assert type(t0).__name__ == 'TensorSub'
