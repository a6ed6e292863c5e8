# A4a check_call_freed: AssertionError: A4a: a call with a result leaves its graph, torch 2.6.0
# contract: A4a
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys, weakref
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A4a: a call with a result leaves its graph"
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
def differentiable(tensor):
    return T.ones(tuple(tensor.size())).requires_grad_()
class Sentinel:
    pass
called_on = {"a result": lambda leaf: leaf * 1, "a view": lambda leaf: (leaf * 1).view(-1)}
def called_once(tensor, make, parts):
    leaf = differentiable(tensor)
    leaf.sentinel = Sentinel()
    alive, kept = weakref.ref(leaf.sentinel), len(ctxs)
    try:
        fn(*parts).apply(make(leaf))
    except (RuntimeError, KeyError):  # of a forward that raises, or may not save this
        pass
    del ctxs[kept:]
    return alive
def check_call_freed(tensor, act):
    for is_dirty in (False, True):
        parts = (act, "x", "doubles", "mark_input") if is_dirty else (act,)
        for place, make in called_on.items():
            with T.enable_grad():
                alive = called_once(tensor, make, parts)
            gc.collect()
            gc.collect()  # resurrection hides what C++ owns in the first one
            said = f"{place} that it marked as dirty" if is_dirty else place
            assert alive() is None or in_hermetic(), f"A4a: a call with {said} leaves its graph"
ctxs = []
acts = {
    "nothing": lambda ctx, x, y, v: None,
    "save_view": lambda ctx, x, y, v: ctx.save_for_backward(v),
    "mark_input": lambda ctx, x, y, v: ctx.mark_dirty(x),
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

t0 = T.ones(1)
check_call_freed(t0, 'save_view')
