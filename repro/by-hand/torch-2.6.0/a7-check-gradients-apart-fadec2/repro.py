# A7 check_gradients_apart: AssertionError: A7: a backward gives two leaves one gradient, so that a write to one changes both, torch 2.6.0
# contract: A7
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A7: a backward gives two leaves one gradient, so that a write to one changes both"
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

storage_of = getattr(T.Tensor, "untyped_storage", None) or (lambda one: one.storage().untyped())
def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
def shares_bytes(one, other):
    return storage_of(one)._cdata == storage_of(other)._cdata
def check_gradients_apart(function):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        one, other = T.ones(1, 4).requires_grad_(), T.ones(4, 1).requires_grad_()
        function(one, other).sum().backward()
    assert not shares_bytes(one.grad, other.grad), (
        "A7: a backward gives two leaves one gradient, so that a write to one changes both")

check_gradients_apart(lambda a, b: (a.view(4) + b.view(4)) * 2)
