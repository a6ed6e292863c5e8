# SIGSEGV in _local_scalar_dense_cpu, torch 1.13.0a0
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
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

t0 = T.ones(1)
t1 = TensorDispatching(t0)
t0.set_()
t1.item()
