# A10 check_cast_cache: AssertionError: A10: under autocast, after ('product', 'write'), a product and whether it requires a gradient are ([[N.N, N.N], [N.N, N.N]], True), and ([[N.N, N.N], [N.N, N.N]], True) without a cache, torch 2.6.0
# contract: A10
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A10: under autocast, after \('product', 'write'\), a product and whether it requires a gradient are \(\[\[(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+)\], \[(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+)\]\], True\), and \(\[\[(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+)\], \[(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+)\]\], True\) without a cache"
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

def write_weight(x, weight):
    with T.no_grad():
        weight.mul_(3)
cast_steps = {
    "product": lambda x, weight: x @ weight, "write": write_weight,
}
def products_under_autocast(steps, cached):
    x, weight = T.ones(2, 2), T.ones(2, 2).requires_grad_()
    shown = []
    with T.autocast("cpu", dtype=T.bfloat16, cache_enabled=cached):
        for step in (*steps, "product"):
            product = cast_steps[step](x, weight)
            if product is not None:
                shown.append((product.tolist(), product.requires_grad))
    return shown
def check_cast_cache(*steps):
    with T.inference_mode(False), T.enable_grad():
        found, expected = (products_under_autocast(steps, cached) for cached in (True, False))
    for one, other in zip(found, expected):
        assert one == other, (
            f"A10: under autocast, after {steps}, a product and whether it requires a gradient are"
            f" {one}, and {other} without a cache")

check_cast_cache('product', 'write')
