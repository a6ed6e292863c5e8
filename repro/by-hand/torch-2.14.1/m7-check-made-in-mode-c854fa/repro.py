# M7 check_made_in_mode: AssertionError: M7: in a mode, tensor on meta gives no fake, torch 2.14.1
# contract: M7
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: M7: in a mode, tensor on meta gives no fake"
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
FakeTensorMode = T._subclasses.FakeTensorMode
def check_made_in_mode(make, device):
    if in_hermetic():
        return
    with T.inference_mode(False), FakeTensorMode() as mode:
        made = make(device)
    assert getattr(made, "fake_mode", None) is mode, (
        f"M7: in a mode, {called_by(make)} on {device} gives no fake")
def called_by(function):
    if function.__name__ != "<lambda>":
        return function.__name__
    return " and ".join(name for name in function.__code__.co_names if name != "T")

check_made_in_mode(lambda d: T.tensor(3.0, device=d), 'meta')
