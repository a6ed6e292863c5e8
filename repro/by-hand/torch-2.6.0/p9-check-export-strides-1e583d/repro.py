# P9 check_export_strides: AssertionError: P9: from_dlpack gives a tensor of size (N, N) the strides (N, N), and it has (N, N), torch 2.6.0
# contract: P9
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: P9: from_dlpack gives a tensor of size \((?:N|\d+), (?:N|\d+)\) the strides \((?:N|\d+), (?:N|\d+)\), and it has \((?:N|\d+), (?:N|\d+)\)"
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

def called_by(function):
    if function.__name__ != "<lambda>":
        return function.__name__
    return " and ".join(name for name in function.__code__.co_names if name != "T")
def check_export_strides(exported):
    for view in (lambda t: t, lambda t: t.t(), lambda t: t[:1], lambda t: t[:, :1], lambda t: t[:0],
                 lambda t: t[1:, ::2], lambda t: t[0].expand(2, 3), lambda t: t[None, :, 1:2]):
        tensor = view(T.arange(6.0).view(2, 3))
        taken = exported(tensor)
        assert taken.stride() == tensor.stride(), (
            f"P9: {called_by(exported)} gives a tensor of size {tuple(tensor.size())} the strides"
            f" {taken.stride()}, and it has {tensor.stride()}")

check_export_strides(T.from_dlpack)
