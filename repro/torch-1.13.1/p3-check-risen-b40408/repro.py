# P3 check_risen: AssertionError: P3: what rose is not whole, torch 1.13.0a0
# contract: P3
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

born, finalized = [], []
class Serial(int):
    def __deepcopy__(self, memo):
        return -1
    def __reduce__(self):
        return int, (-1,)
def note_finalized(one):
    if "serial" in one.__dict__:
        finalized.append(one.serial)
class Finalized(T.UntypedStorage):
    def __init__(self, *args, **keywords):
        self.serial = Serial(len(born))
        born.append(self.serial)
    def __del__(self):
        note_finalized(self)
risen = []
class Phoenix(Finalized):
    def __del__(self):
        note_finalized(self)
        risen.append(self)
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
class TensorPhoenix(TensorFinalized):
    def __del__(self):
        super().__del__()
        risen.append(self)
def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
def check_risen():
    if in_hermetic():
        return
    owner, one, before = T.ones(1), TensorPhoenix(1), len(risen)
    one.tag, owner.grad = 7, one
    del one
    owner.grad = None
    assert len(risen) > before, "P3: __del__ did not run"
    one, whole = risen.pop(), False
    try:
        whole = one.tolist() == [1.0] and one.tag == 7
    except (NotImplementedError, RuntimeError):
        pass  # a tensor without its impl has no numbers
    assert whole, "P3: what rose is not whole"
    owner.grad = one
    assert owner.grad is one, "P1: one impl has two wrappers"

check_risen()
