# A9 check_apply_references: AssertionError: A9: a call keeps what setup_context returned, torch 2.6.0
# contract: A9
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys, weakref
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A9: a call keeps what setup_context returned"
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
    "save_input": lambda ctx, x, y, v: ctx.save_for_backward(x),
    "save_both": lambda ctx, x, y, v: ctx.save_for_backward(x, y),
    "mark_result": lambda ctx, x, y, v: ctx.mark_dirty(y),
    "raise": lambda ctx, x, y, v: {}["a forward raises"],
}
returned = {
    "y": lambda x, y, v: y,
}
def keeps(ctx, g):
    ctx.kept = ctx.saved_tensors
    return g
backwards = {
    "doubles": lambda ctx, g: g * 2, "saved": lambda ctx, g: g * ctx.saved_tensors[0], "keeps": keeps, "raises": lambda ctx, g: {}["a backward raises"],
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
setup_functions = {}
def fn_setup(act):
    if act not in setup_functions:
        class Fn(T.autograd.Function):
            @staticmethod
            def forward(x):
                return x * 2
            @staticmethod
            def setup_context(ctx, inputs, y):
                acts[act](ctx, inputs[0], y, y.view(-1))
            @staticmethod
            def backward(ctx, g):
                return g * 2
        setup_functions[act] = Fn
    return setup_functions[act]
CALLS = 100
def nones_left(function, leaf):
    before = sys.getrefcount(None)
    for _ in range(CALLS):
        function.apply(leaf)
    return sys.getrefcount(None) - before
class SetupResult:
    pass
def assert_setup_result_freed(leaf):
    made = []
    class Returning(fn_setup("nothing")):
        @staticmethod
        def setup_context(ctx, inputs, y):
            result = SetupResult()
            made.append(weakref.ref(result))
            return result
    Returning.apply(leaf)
    assert made[0]() is None, "A9: a call keeps what setup_context returned"
def check_apply_references(tensor):
    def count():
        return [sys.getrefcount(one) for one in
                (leaf, leaf.grad, kept, kept.grad_fn, function, setup, function._backward_cls)]
    function = fn("save_both", "y", "saved")
    with T.enable_grad():
        leaf, kept = differentiable(tensor), function.apply(differentiable(tensor))
        setup = fn_setup("save_input") if hasattr(T.autograd.Function, "setup_context") else fn(
            "save_input")
        leaf.sum().backward()
        before = count()
        for _ in range(10):
            function.apply(leaf).sum().backward()
            setup.apply(leaf).sum().backward()
            for failing in ("raise", "mark_result"):
                try:
                    fn("save_both", "y", "saved", failing).apply(leaf)
                except (KeyError, RuntimeError):
                    pass
            kept.grad_fn.saved_tensors, kept.grad_fn.next_functions, kept.grad_fn.name()
        after = count()
        left = sorted(nones_left(setup, leaf) for _ in range(3))[1]
        if hasattr(T.autograd.Function, "setup_context"):
            assert_setup_result_freed(leaf)
    assert after == before, f"A9: reference counts were {before} and are {after}"
    assert left < CALLS / 2, f"A9: {CALLS} calls left {left} references of None"

t0 = T.ones(1)
check_apply_references(t0)
