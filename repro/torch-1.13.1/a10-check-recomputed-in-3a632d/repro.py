# A10 check_recomputed_in: AssertionError: A10: a checkpoint ran in ('N modes', 'torch.float32', 'cpu') first, and in ('N modes', 'torch.float32', 'cpu') again, torch 1.13.1
# contract: A10
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A10: a checkpoint ran in \('(?:N|\d+) modes', 'torch\.float32', 'cpu'\) first, and in \('(?:N|\d+) modes', 'torch\.float32', 'cpu'\) again"
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

def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
def through():
    module = __import__("torch.utils._python_dispatch", fromlist=["TorchDispatchMode"])
    class Through(module.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
            return function(*arguments, **(keywords or {}))
    return Through()
def by_checkpoint(function, *arguments, **keywords):
    module = __import__("torch.utils.checkpoint", fromlist=["checkpoint"])
    return module.checkpoint(function, *arguments, **keywords)
def modes_here(tensor):
    product, made = tensor[None] @ T.ones(2, 1, device="cpu"), T.ones(1)
    dispatch = __import__("torch.utils._python_dispatch", fromlist=["_"])
    modes = len(dispatch._get_current_dispatch_mode_stack())
    return f"{modes} modes", str(product.dtype), str(made.device)
def check_recomputed_in(mode):
    if in_hermetic():
        return
    seen = []
    def function(leaf):
        seen.append(modes_here(leaf))
        return leaf.exp().exp()
    with T.inference_mode(False), T.enable_grad():
        leaf = T.ones(2).requires_grad_()
        by_checkpoint(T.exp, leaf, use_reentrant=False)  # the first call imports modules
        with mode():
            total = by_checkpoint(function, leaf, use_reentrant=False).sum()
        total.backward()
    assert seen[0] == seen[-1], f"A10: a checkpoint ran in {seen[0]} first, and in {seen[-1]} again"

check_recomputed_in(through)
