# P9 check_state_apart: AssertionError: P9: load_state_dict() gives an optimizer the state of another one, torch 2.6.0
# contract: P9
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: P9: load_state_dict\(\) gives an optimizer the state of another one"
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
def check_state_apart():
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        both = []
        for _ in range(2):
            parameter = T.nn.Parameter(T.ones(2))
            parameter.grad = T.ones(2)
            both.append((parameter, T.optim.SGD([parameter], lr=0.5, momentum=0.5)))
        (one, first), (other, second) = both
        first.step()
        second.load_state_dict(first.state_dict())
        states = [used.state[its]["momentum_buffer"] for its, used in both]
    assert not shares_bytes(*states), (
        "P9: load_state_dict() gives an optimizer the state of another one")

check_state_apart()
