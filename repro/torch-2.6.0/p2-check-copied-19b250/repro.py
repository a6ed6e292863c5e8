# P2 check_copied: AssertionError: P2: a copy by copy loses its class, torch 2.6.0
# contract: P2
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: P2: a copy by copy loses its class"
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
class TaggedParameter(T.nn.Parameter):
    pass
def kept_by(copied, one):
    one.tag, one.grad = "tag", T.ones(2)
    other = copied(one)
    return {"class": type(other) is type(one), "attributes": getattr(other, "tag", "") == "tag",
            ".grad": other.grad is not None, "requires_grad": other.requires_grad}
def check_copied(copied, made):
    plain, kept = kept_by(copied, T.ones(2).requires_grad_()), kept_by(copied, made(T.ones(2)))
    is_kept = made(T.ones(2)).requires_grad
    lost = [name for name in plain if plain[name] and not kept[name] and
            (name != "requires_grad" or is_kept)]
    assert not lost, f"P2: a copy by {called_by(copied)} loses its {' and '.join(lost)}"

check_copied(copy.copy, TaggedParameter)
