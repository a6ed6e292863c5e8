# A7 check_integer_gradients: AssertionError: A7: fill_ made integers require a gradient, torch 2.6.0
# contract: A7
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A7: fill_ made integers require a gradient"
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

def check_integer_gradients():
    writes = {
        "copy_": lambda one, source: one.copy_(source),
        "fill_": lambda one, source: one.fill_(source[0]),
        "masked_fill_": lambda one, source: one.masked_fill_(one == 0, source[0]),
        "a slice": lambda one, source: one.__setitem__(slice(0, 1), source[:1]),
        "a slice that is filled": lambda one, source: one.__setitem__(slice(0, 1), source[0])}
    with T.enable_grad():
        for name, write in writes.items():
            one = T.zeros(2, dtype=T.int64)
            if not name.endswith("_") or hasattr(one, name):
                write(one, T.ones(2).requires_grad_())
            assert not one.requires_grad, f"A7: {name} made integers require a gradient"

check_integer_gradients()
