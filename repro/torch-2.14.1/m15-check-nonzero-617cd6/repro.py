# M15 check_nonzero: AssertionError: M15: a fake has the number of rows that it had with other numbers, torch 2.14.1
# contract: M15
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: M15: a fake has the number of rows that it had with other numbers"
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

FakeTensorMode = T._subclasses.FakeTensorMode
def is_decided_equal(number, other):
    try:
        return bool(number == other)
    except RuntimeError:  # only the data decides
        return False
def with_other_data(fake):
    fake.data = fake.mul(0)
    return fake
def check_nonzero(first):
    for change in (lambda a: a.zero_(), lambda a: a.view(-1).zero_(), lambda a: a.mul(0),
                   lambda a: a.set_(a.mul(0)), with_other_data):
        mode = FakeTensorMode(shape_env=ShapeEnv())
        fake = mode.from_tensor(T.ones(first), static_shapes=True)
        with mode:
            numbers = [fake.nonzero().size(0) for _ in range(2)]
            changed = change(fake).nonzero().size(0)
        assert is_decided_equal(*numbers), "M15: a fake has two numbers of rows"
        assert not is_decided_equal(numbers[0], changed), (
            "M15: a fake has the number of rows that it had with other numbers")
from torch.fx.experimental.symbolic_shapes import ShapeEnv

check_nonzero(1)
