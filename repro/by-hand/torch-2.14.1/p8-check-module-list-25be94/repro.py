# P8 check_module_list: AssertionError: P8: after insert at -N a list of modules has not what a list has, torch 2.14.1
# contract: P8
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: P8: after insert at \-(?:N|\d+) a list of modules has not what a list has"
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

module_list_acts = {
    "insert": lambda held, place, new: held.insert(place, new),
    }
def check_module_list(*acts_and_places):
    model = [T.nn.ReLU(), T.nn.Tanh()]
    held = T.nn.ModuleList(model)
    for act, place in zip(acts_and_places[::2], acts_and_places[1::2]):
        before, new = list(model), T.nn.GELU()
        try:
            module_list_acts[act](held, place, new)
            module_list_acts[act](model, place, new)
        except (IndexError, KeyError, TypeError, ValueError, AttributeError):
            model = before
        try:
            found = list(held) == model == [held[at] for at in range(len(model))]
        except (KeyError, IndexError):
            found = False
        assert found, f"P8: after {act} at {place} a list of modules has not what a list has"

check_module_list('insert', -1, 'insert', 0)
