# P9 check_two_tensor: AssertionError: P9: a tensor of two gives [(N+4j), (N-2j)], and each by itself [(N-4j), (N+2j)], torch 2.6.0
# contract: P9
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: P9: a tensor of two gives \[\((?:N|\d+)\+4j\), \((?:N|\d+)\-2j\)\], and each by itself \[\((?:N|\d+)\-4j\), \((?:N|\d+)\+2j\)\]"
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

from torch.testing._internal.two_tensor import TwoTensor
def check_two_tensor():
    one = T.tensor([1 + 2j, 3 - 1j])
    expected, both = (one.conj() * 2).tolist(), TwoTensor(one, one.clone()).conj() * 2
    assert both.a.tolist() == both.b.tolist() == expected, (
        f"P9: a tensor of two gives {both.a.tolist()}, and each by itself {expected}")

check_two_tensor()
