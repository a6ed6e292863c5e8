# A4a check_checkpoint_freed: AssertionError: A4a: a checkpoint of a Function leaves N of N tensors, torch 2.6.0
# contract: A4a
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys, weakref
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A4a: a checkpoint of a Function leaves (?:N|\d+) of (?:N|\d+) tensors"
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

collect_all = gc.collect
def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
def by_checkpoint(function, *arguments, **keywords):
    module = __import__("torch.utils.checkpoint", fromlist=["checkpoint"])
    return module.checkpoint(function, *arguments, **keywords)
def call_in_checkpoint(saved, returned):
    made = []
    class SavesParts(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            parts = {"x": x, "y": x * 2, "z": T.zeros(2)}
            made.extend(weakref.ref(part) for part in parts.values())
            ctx.save_for_backward(*(parts[name] for name in saved))
            return tuple(parts[name] for name in returned)
        @staticmethod
        def backward(ctx, *gradients):
            ctx.saved_tensors
    leaf = T.ones(2).requires_grad_()
    first = lambda leaf: SavesParts.apply(leaf * 1)[0]
    by_checkpoint(first, leaf, use_reentrant=False).sum().backward()
    return made
def check_checkpoint_freed(saved, returned):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        made = call_in_checkpoint(saved, returned)
    collect_all()
    left = sum(one() is not None for one in made)
    assert left == 0, f"A4a: a checkpoint of a Function leaves {left} of {len(made)} tensors"

check_checkpoint_freed('zy', 'zy')
