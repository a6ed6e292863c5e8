# A3f check_leaf_hooks: AssertionError: A3f: after swap and a removal, two backward passes of a leaf call ['second', 'second'], torch 2.6.0
# contract: A3f
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A3f: after swap and a removal, two backward passes of a leaf call \['second', 'second'\]"
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
def exchanged(leaf):
    other = T.ones(2).requires_grad_()
    T.utils.swap_tensors(leaf, other)
    return other
leaf_changes = {
    "swap": exchanged, }
def check_leaf_hooks(change):
    if in_hermetic():
        return
    called = []
    with T.enable_grad():
        leaf = T.ones(2).requires_grad_()
        handle = leaf.register_hook(lambda gradient: called.append("first"))
        leaf = leaf_changes[change](leaf)
        leaf.register_hook(lambda gradient: called.append("second"))
        (leaf * 2).sum().backward()
        handle.remove()
        (leaf * 2).sum().backward()
    assert called == ["first", "second", "second"], (
        f"A3f: after {change} and a removal, two backward passes of a leaf call {called}")

check_leaf_hooks('swap')
