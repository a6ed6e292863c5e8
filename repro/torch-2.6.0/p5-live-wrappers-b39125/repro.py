# 1 wrappers live on (P5), torch 2.6.0
# contract: P5
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys
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

revived = []
class Keeper:
    held = None  # of a copy that was not finished
    def __init__(self, held):
        self.held = held
    def __del__(self):
        revived.append(self.held)
class Riser(Keeper):
    def __del__(self):
        revived.append(self)
def count_wrappers():
    return sum(issubclass(type(one), (T.Tensor, T.UntypedStorage)) for one in gc.get_objects())
wrappers_before = count_wrappers()
def live_wrappers():
    return count_wrappers() - wrappers_before

t0 = T.ones(1)
t0.requires_grad_()
t1 = t0.dequantize()
p0 = Riser(t1)
p0.me = p0
if True:  # the end: every name is dropped, and the collector runs
    del t0, t1, p0
    gc.collect()
    revived.clear()
    gc.collect()
    gc.collect()
    for _ in range(5): gc.collect()
    assert live_wrappers() == 0
