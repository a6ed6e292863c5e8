# A7 check_leaf_found: AssertionError: A7: backward() has filled the .grad of a leaf: True; grad() finds the leaf: False, torch 2.14.1
# contract: A7
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A7: backward\(\) has filled the \.grad of a leaf: True; grad\(\) finds the leaf: False"
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

def differentiable(tensor):
    return T.ones(tuple(tensor.size())).requires_grad_()
def raised_by(function):
    try:
        function()
    except RuntimeError as error:
        return error
    return None
def check_leaf_found(replace):
    with T.enable_grad():
        leaf = differentiable(T.ones(1))
        result = (leaf * 2).sum()
        with T.no_grad():
            replace(leaf)
        is_found = raised_by(lambda: T.autograd.grad(result, leaf, retain_graph=True)) is None
        if raised_by(result.backward) is None:
            assert is_found == (leaf.grad is not None), (
                f"A7: backward() has filled the .grad of a leaf: {not is_found};"
                f" grad() finds the leaf: {is_found}")

check_leaf_found(lambda t: t.set_(T.ones(3)))
