# P8 check_future_refused: AssertionError: P8: a future with a result gives TypeError once it has refused the exception, torch 2.14.1
# contract: P8
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: P8: a future with a result gives TypeError once it has refused the exception"
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

future_settings = {"result": lambda future: future.set_result(2),
                   "exception": lambda future: future.set_exception(ValueError("late"))}
def future_value(future):
    try:
        return future.value()
    except Exception as error:
        return type(error).__name__
def check_future_refused(first, second):
    future = T.futures.Future()
    future_settings[first](future)
    expected = future_value(future)
    try:
        future_settings[second](future)
    except RuntimeError:
        found = future_value(future)
        assert found == expected, (
            f"P8: a future with a {first} gives {found} once it has refused the {second}")

check_future_refused('result', 'exception')
