# A2b check_saved_operand: AssertionError: A2b: the first operand of kron was written before its backward, which gives [[[N.N, N.N], [N.N, N.N]], [[N.N, N.N], [N.N, N.N]]], and no error, torch 2.6.0
# contract: A2b
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A2b: the first operand of kron was written before its backward, which gives \[\[\[(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+)\], \[(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+)\]\], \[\[(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+)\], \[(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+)\]\]\], and no error"
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

def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
def called_by(function):
    if function.__name__ != "<lambda>":
        return function.__name__
    return " and ".join(name for name in function.__code__.co_names if name != "T")
def written_between(function, place):
    leaves = [T.tensor(one).requires_grad_() for one in ([[2.0, 3.0], [5.0, 7.0]], [[0.5, 0.25],
                                                                               [0.75, 0.5]])]
    operands = [leaf * 1 for leaf in leaves]
    total = function(*operands).sum()
    if place is not None:
        operands[place].detach().zero_()
    return [one.tolist() for one in T.autograd.grad(total, leaves)]
def check_saved_operand(function):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        expected = written_between(function, None)
        for place, which in enumerate(("first", "second")):
            try:
                found = written_between(function, place)
            except RuntimeError:
                continue
            assert found == expected, (
                f"A2b: the {which} operand of {called_by(function)} was written before its"
                f" backward, which gives {found}, and no error")

check_saved_operand(T.kron)
