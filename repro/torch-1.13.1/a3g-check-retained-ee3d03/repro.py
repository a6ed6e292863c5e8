# A3g check_retained: AssertionError: A3g: the result that a slice that is assigned wrote retains the gradient [N.N, N.N, N.N], torch 1.13.0a0
# contract: A3g
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A3g: the result that a slice that is assigned wrote retains the gradient \[(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+)\]"
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

retained_writes = {
    "mul_": lambda one: one.mul_(2),
    "relu_": lambda one: one.relu_(),
    "copy_": lambda one: one.copy_(T.ones(3)),
    "a slice that is assigned": lambda one: one.__setitem__(slice(0, 1), 3),
    "mul_ of a view": lambda one: one.view(-1).mul_(2),
    "mul_ of a slice": lambda one: one[0:1].mul_(2),
    "a Function": lambda one: fn("write_input", "x", "doubles", "mark_input").apply(one),
    "a Function of a view":
        lambda one: fn("write_input", "x", "doubles", "mark_input").apply(one.view(-1))}
def check_retained():
    with T.enable_grad():
        for name, write in retained_writes.items():
            for is_view in (False, True):
                base = T.ones(3).requires_grad_() * 1
                retained = base.view(-1) if is_view else base
                retained.retain_grad()
                write(base)
                (retained * 5).sum().backward()
                found = None if retained.grad is None else retained.grad.tolist()
                said = f"the {'view' if is_view else 'result'} that {name} wrote"
                assert found == [5, 5, 5], f"A3g: {said} retains the gradient {found}"
acts = {
    "nothing": lambda ctx, x, y, v: None,
    "mark_input": lambda ctx, x, y, v: ctx.mark_dirty(x),
    "write_input": lambda ctx, x, y, v: x.mul_(2),
}
returned = {
    "y": lambda x, y, v: y, "x": lambda x, y, v: x,
}
backwards = {
    "doubles": lambda ctx, g: g * 2,
}
functions = {}
def fn(first="nothing", result="y", last="doubles", second="nothing"):
    key = first, result, last, second
    if key in functions:
        return functions[key]
    class Fn(T.autograd.Function):
        parts = key
        @staticmethod
        def forward(ctx, x, *others):
            y = x * 2
            v = y.view(-1)
            acts[first](ctx, x, y, v)
            acts[second](ctx, x, y, v)
            return returned[result](x, y, v)
        @staticmethod
        def backward(ctx, g, *others):
            found = backwards[last](ctx, g)
            missing = len(ctx.needs_input_grad) - 1
            return found if type(found) is tuple else (found,) + (None,) * missing
    functions[key] = Fn
    return Fn

check_retained()
