# A5e check_torch_mode_again: AssertionError: A5e: DisableTorchFunction that is entered again leaves False, and found True, torch 2.6.0
# contract: A5e
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A5e: DisableTorchFunction that is entered again leaves False, and found True"
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

def enter_within(mode):
    with mode, mode:
        pass
entered_again = {"within": enter_within,}
def assert_left(name, make, state, entry):
    before = state()
    try:
        entered_again[entry](make())
    except (AttributeError, RuntimeError, TypeError):  # it may refuse
        pass
    after = state()
    assert after == before, f"A5e: {name} that is entered again leaves {after}, and found {before}"
torch_modes_again = {
    "DisableTorchFunction": (lambda: T._C.DisableTorchFunction(),
                             lambda: T._C._is_torch_function_enabled()),
}
def check_torch_mode_again(name, entry):
    make, state = torch_modes_again[name]
    try:
        state()
    except AttributeError:  # a release that lacks it
        return
    assert_left(name, make, state, entry)

check_torch_mode_again('DisableTorchFunction', 'within')
