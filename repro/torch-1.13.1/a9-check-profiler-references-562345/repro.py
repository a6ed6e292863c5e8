# A9 check_profiler_references: AssertionError: A9: N profilers leave references to None, to True or to a function, torch 1.13.0a0
# contract: A9
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A9: (?:N|\d+) profilers leave references to None, to True or to a function"
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

import sys
def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
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
def check_profiler_references(*options):
    if in_hermetic():
        return
    def function(number=257):
        return T.ones(2).add(number)
    def counts():
        return [sys.getrefcount(one) for one in (None, True, function, function.__code__, T.ones)]
    under_profiler(function, options)
    before = counts()
    for _ in range(20):
        under_profiler(function, options)
    grown = any(after - one > 15 for one, after in zip(before, counts()))
    assert not grown, "A9: 20 profilers leave references to None, to True or to a function"

check_profiler_references('with_stack')
