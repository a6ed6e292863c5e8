# SIGSEGV in view, torch 2.14.1
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

def check_version(tensor):
    tensor = tensor.detach()
    view, before = tensor.view(-1), tensor._version
    view.zero_()
    assert tensor._version > before, "A2: a write through a view is not counted"

t0 = T.quantize_per_tensor(T.ones(1), 1.0, 0, T.quint8)
t1 = T._lazy_clone(t0)
check_version(t1)
