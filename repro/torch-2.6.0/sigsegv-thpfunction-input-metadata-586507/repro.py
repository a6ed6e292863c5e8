# SIGSEGV in THPFunction_input_metadata, torch 2.6.0
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^killed by SIGSEGV$"
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

def differentiable(tensor):
    return T.ones(tuple(tensor.size())).requires_grad_()
acts = {
    "nothing": lambda ctx, x, y, v: None,
    "save_both": lambda ctx, x, y, v: ctx.save_for_backward(x, y),
}
returned = {
    "y": lambda x, y, v: y,
}
backwards = {
    "doubles": lambda ctx, g: g * 2, "saved": lambda ctx, g: g * ctx.saved_tensors[0],
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
def ctx_of(function, tensor):
    with T.enable_grad():
        return function.apply(tensor).grad_fn
def check_dead_context(tensor):
    function = fn("save_both", "y", "saved")
    with T.enable_grad():
        freed = function.apply(differentiable(tensor))
        freed.sum().backward()
        for ctx in (function._backward_cls(), ctx_of(function, differentiable(tensor)),
                    freed.grad_fn):
            for name in dir(ctx):
                try:
                    value = getattr(ctx, name)
                    if name in ("name", "_sequence_nr"):
                        value()
                except (AttributeError, RuntimeError) as error:
                    assert str(error), f"A1b: {name} fails without a reason"

t0 = T.ones(1)
check_dead_context(t0)
