# RuntimeError: RuntimeError: src.layout() == kSparseCsr || src.layout() == kSparseCsc INTERNAL ASSERT FAILED at "./aten/src/ATen/native/sparse/SparseCsrTensorMath.cpp":N, please report a bug to PyTorch., torch 2.14.1
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

t0 = T.ones(1, 1).to_sparse_bsr((1,1))
with T.no_grad(): t0.add_(1)
