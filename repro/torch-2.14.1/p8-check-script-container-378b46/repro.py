# P8 check_script_container: AssertionError: P8: after ('free', 'grow', 'empty'), an iterator of TorchScript's items gives what is not there, torch 2.14.1
# contract: P8
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: P8: after \('free', 'grow', 'empty'\), an iterator of TorchScript's items gives what is not there"
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

def places_in(held):
    return list(range(len(held)) if hasattr(held, "append") else held)
def grow_container(held):
    for place in places_in(held):
        held[place] = -1
    for number in range(4, 1000):
        if hasattr(held, "append"):
            held.append(number)
        else:
            held[number] = number
def empty_container(held):
    while len(held):
        del held[places_in(held)[0]]
container_acts = {"grow": grow_container, "empty": empty_container,
                  }
script_containers = {"items": (lambda a: dict(zip(a, a)), lambda held: iter(held.items()))}
def check_script_container(kind, *acts):
    make, values_of = script_containers[kind]
    model, held, others = make((1, 2, 3)), T.jit.script(make((1, 2, 3))), []
    values = values_of(held)
    for act in acts:
        if act == "free":
            held = None
            others += [T.jit.script(make((-4, -5, -6))) for _ in range(50)]
        elif held is not None:
            container_acts[act](model)
            container_acts[act](held)
        try:
            value = next(values)
        except (StopIteration, RuntimeError):
            return
        assert value in (model.items() if kind == "items" else model), (
            f"P8: after {acts}, an iterator of TorchScript's {kind} gives what is not there")

check_script_container('items', 'free', 'grow', 'empty')
