# A7 check_leaf_replaced: AssertionError: A7: a leaf whose data was replaced has the gradient (torch.float32, (N,), [N.N]), not (torch.float32, (N,), [N.N, N.N, N.N]), torch 2.6.0
# contract: A7
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A7: a leaf whose data was replaced has the gradient \(torch\.float32, \((?:N|\d+),\), \[(?:N|\d+)\.(?:N|\d+)\]\), not \(torch\.float32, \((?:N|\d+),\), \[(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+)\]\)"
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
def check_leaf_replaced(replace):
    if in_hermetic():
        return
    with T.enable_grad():
        leaf = T.ones(1).requires_grad_()
        held = leaf * 2  # its graph keeps the node that adds up the gradients of the leaf
        with T.no_grad():
            replace(leaf)
        (leaf * leaf).sum().backward()
    found = leaf.grad.dtype, tuple(leaf.grad.size()), leaf.grad.tolist()
    expected = leaf.dtype, tuple(leaf.size()), leaf.detach().mul(2).tolist()
    assert found == expected, (
        f"A7: a leaf whose data was replaced has the gradient {found}, not {expected}")
    del held

check_leaf_replaced(lambda t: setattr(t, 'data', T.ones(3)))
