# A10 check_profiled: AssertionError: A10: under a profiler, swap gives RuntimeError, and [N.N, N.N, N.N] without it, torch 2.6.0
# contract: A10
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A10: under a profiler, swap gives RuntimeError, and \[(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+)\] without it"
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
def profile_swap():
    both = T.ones(2), T.ones(3)
    both[0].mul(2)
    T.utils.swap_tensors(*both)
    return both[0].tolist()
def profile_within():
    with T.profiler.profile(activities=[T.profiler.ProfilerActivity.CPU], with_stack=True):
        return T.ones(2).tolist()
profiled_functions = {
    "swap": profile_swap, "within": profile_within,
    }
def what_it_gives(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__
def under_profiler(function, options):
    with T.profiler.profile(activities=[T.profiler.ProfilerActivity.CPU],
                            **dict.fromkeys(options, True)):
        found = what_it_gives(function)
        T.ones(1).add(1)
    return found
def check_profiled(name, *options):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        expected = what_it_gives(profiled_functions[name])
        found = under_profiler(profiled_functions[name], options)
    is_refused = name == "within" and found == "RuntimeError"
    assert found == expected or is_refused, (
        f"A10: under a profiler, {name} gives {found}, and {expected} without it")

check_profiled('swap', 'record_shapes', 'with_stack')
