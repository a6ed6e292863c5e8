# AssertionError: AssertionError:, torch 2.6.0
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

class Sub(T.UntypedStorage):
    pass
import copy, pickle
def copied(one, copy=copy.copy):
    twin = copy(one)
    serial = getattr(one, "serial", None)
    if twin is not one and serial is not None and getattr(twin, "serial", None) is serial:
        twin.serial = -1
    return twin
def deep_copied(one):
    return copied(one, copy.deepcopy)
def pickled(one):
    return copied(one, lambda one: pickle.loads(pickle.dumps(one)))

s0 = Sub(1)
t0 = T.empty(0, dtype=T.uint8).set_(s0)
t1 = deep_copied(t0)
