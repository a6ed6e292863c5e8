# A3d check_gradient_count: AssertionError: A3d: backward(y, [g, g]) takes a wrong number of gradients, torch 2.6.0
# contract: A3d
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A3d: backward\(y, \[g, g\]\) takes a wrong number of gradients"
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

gradient_counts = {
    "backward(y, [g, g])": lambda y, x, g: T.autograd.backward([y], [g, g]),
    "backward([y, y], [g])": lambda y, x, g: T.autograd.backward([y, y], [g]),
    "y.backward((g, g))": lambda y, x, g: y.backward((g, g)),
    "grad(y, x, [g, g])": lambda y, x, g: T.autograd.grad([y], [x], [g, g]),
    "grad([y, y], x, [g])": lambda y, x, g: T.autograd.grad([y, y], [x], [g]),
}
def check_gradient_count():
    with T.enable_grad():
        for name, give in gradient_counts.items():
            leaf, error = T.ones(2).requires_grad_(), None
            try:
                give(leaf * 2, leaf, T.ones(2))
            except (RuntimeError, TypeError) as raised:
                error = raised
            assert error is not None, f"A3d: {name} takes a wrong number of gradients"

check_gradient_count()
