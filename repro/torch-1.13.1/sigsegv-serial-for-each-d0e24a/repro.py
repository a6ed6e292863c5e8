# SIGSEGV in serial_for_each, torch 1.13.0a0
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys, weakref
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

def dead_cycle(held):
    cycle = [held]
    cycle.append(cycle)
class TensorSub(T.Tensor):
    if hasattr(T, "_C"):
        __torch_function__ = T._C._disabled_torch_function_impl
clears_weakrefs = False
def check_kept(box, fetch, cyclic):
    gc.collect()  # finalizers of the program's garbage run now, and not in between
    if fetch() is not box[0]:
        return  # hermetic mode, a finalizer, or a class that converts what it gives
    kind, mark, reference = type(box[0]), object(), weakref.ref(box[0])
    box[0].mark = mark
    if cyclic:
        dead_cycle(box[0])
    box.clear()
    gc.collect()
    one = fetch()
    assert type(one) is kind, "P2: the type is lost"
    assert getattr(one, "mark", None) is mark, "P2: an attribute is lost"
    assert fetch() is one, "P1: one impl has two wrappers"
    assert cyclic and clears_weakrefs or reference() is one, (
        "P4: a weak reference died while the impl lives")
    one.__dict__.clear()
def twin_of(tensor, kind):
    return tensor.detach().clone().as_subclass(kind)
def check_grad_kept(owner, cyclic=False):
    former, box = owner.grad, [twin_of(owner, TensorSub)]
    owner.grad = box[0]
    try:
        check_kept(box, lambda: owner.grad, cyclic)
    finally:
        owner.grad = former

t0 = T.ones(0)
t1 = t0.as_strided((1,), (1,), (1 << 63) - 1)
check_grad_kept(t1)
