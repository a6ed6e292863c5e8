# P9 check_set_storage: AssertionError: P9: set_ made N bytes of a storage's N, torch 1.13.1
# contract: P9
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: P9: set_ made (?:N|\d+) bytes of a storage's (?:N|\d+)"
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
def check_set_storage(device):
    source, target = T.empty(10, device=device), T.empty(40, device=device)
    storage = storage_of(source)
    bytes_before = storage.nbytes()
    target.set_(storage, 0, (2,), (1,))
    assert storage.nbytes() == bytes_before, (
        f"P9: set_ made {storage.nbytes()} bytes of a storage's {bytes_before}")

check_set_storage('meta')
