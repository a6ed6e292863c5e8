# P9 check_same_numbers: AssertionError: P9: a tensor has [N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N], and saved_as_copy gives [N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N], torch 2.14.1
# contract: P9
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: P9: a tensor has \[(?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+)\], and saved_as_copy gives \[(?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+), (?:N|\d+)\]"
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

import copy, pickle
def called_by(function):
    if function.__name__ != "<lambda>":
        return function.__name__
    return " and ".join(name for name in function.__code__.co_names if name != "T")
def through_file(objects, saving, loading):
    import io
    file = io.BytesIO()
    T.save(objects, file, **saving)
    file.seek(0)
    return T.load(file, **loading)
def saved_in_old_format(objects):
    return through_file(objects, {"_use_new_zipfile_serialization": False},
                        {"weights_only": False})
class CopiedWhenRead:
    def __init__(self, tensor):
        self.tensor = tensor
    def __reduce__(self):
        return copy.deepcopy, (self.tensor,)
def saved_as_copy(tensor):
    return saved_in_old_format([CopiedWhenRead(tensor)])[0]
def check_same_numbers(passed, view):
    one = view(T.tensor([[1 + 2j, 3 - 1j]]))
    expected = one.reshape(-1).tolist()
    found = passed(one).reshape(-1).tolist()
    assert found == expected, (
        f"P9: a tensor has {expected}, and {called_by(passed)} gives {found}")

check_same_numbers(saved_as_copy, lambda t: T.view_as_real(t).view(T.uint8))
