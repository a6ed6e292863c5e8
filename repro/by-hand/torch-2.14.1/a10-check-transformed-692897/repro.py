# A10 check_transformed: AssertionError: A10: under backward of dual, softmax does not give [N.N, -N.N, -N.N, N.N, -N.N, N.N], as it does by itself, torch 2.14.1
# contract: A10
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A10: under backward of dual, softmax does not give \[(?:N|\d+)\.(?:N|\d+), \-(?:N|\d+)\.(?:N|\d+), \-(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+), \-(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+)\], as it does by itself"
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
def functions_of_torch():
    return T.func if hasattr(T, "func") else __import__("functorch")
def example():
    return T.tensor([[0.3, -0.7, 1.1], [-1.3, 0.9, 0.4]], dtype=T.float64)
def weighted(result):
    numbers = result.reshape(-1)
    return (numbers * T.arange(1, numbers.numel() + 1, dtype=T.float64)).sum()
SMALL_STEP, LARGE_STEP = 1e-5, 3e-5  # of derivatives, and of their differences
def slope(function, x, direction):
    with T.no_grad():
        up, down = (function(x + sign * SMALL_STEP * direction) for sign in (1, -1))
        return (up - down) / (2 * SMALL_STEP)
def gradient_by_differences(function, x):
    units = T.eye(x.numel(), dtype=x.dtype).unbind()
    total = lambda one: weighted(function(one.clone()))
    return T.stack([slope(total, x, unit.view(x.size())) for unit in units])
def by_checkpoint(function, *arguments, **keywords):
    module = __import__("torch.utils.checkpoint", fromlist=["checkpoint"])
    return module.checkpoint(function, *arguments, **keywords)
def gradients_by(call, writes=False):
    def compared(function, x):
        leaf = x.clone().requires_grad_()
        argument = leaf * 1
        total = weighted(call(function if writes else lambda one: function(one * 1), argument))
        if writes and argument._version == 0:
            with T.no_grad():
                argument.mul_(5)
        found, = T.autograd.grad(total, leaf, allow_unused=True)
        found = T.zeros_like(x) if found is None else found
        return (gradient_by_differences(function, x),), (found,)
    return compared
def gradients_of_functions_by(call):
    def compared(function, x):
        found = functions_of_torch().grad(lambda one: weighted(call(function, one * 1)))(x)
        return (gradient_by_differences(function, x),), (found,)
    return compared
def tangents_by(call):
    def compared(function, x):
        direction = T.arange(1, x.numel() + 1, dtype=x.dtype).view(x.size())
        copied = lambda one: function(one * 1)
        expected, found = slope(copied, x, direction), call(copied, x, direction)
        return (expected,), (T.zeros_like(expected) if found is None else found,)
    return compared
def second_by(call):
    def compared(function, x):
        direction = T.arange(1, x.numel() + 1, dtype=x.dtype).view(x.size())
        total = lambda one: weighted(function(one * 1))
        up, down = (gradient_by_differences(function, x + sign * LARGE_STEP * direction)
                    for sign in (1, -1))
        return ((up - down) / (2 * LARGE_STEP),), (call(total, x, direction),)
    return compared
def backward_twice(total, x, direction):
    leaf = x.clone().requires_grad_()
    first, = T.autograd.grad(total(leaf), leaf, create_graph=True)
    if not first.requires_grad:
        return T.zeros_like(x)
    return T.autograd.grad((first * direction).sum(), leaf)[0]
def hessian_by(outer, inner, total, x, direction):
    functions = functions_of_torch()
    both = [getattr(functions, name) for name in (outer, inner)]
    second = both[0](both[1](total))(x).view(x.numel(), x.numel())
    return second @ direction.view(-1)
def backward_of_dual(total, x, direction):
    leaf, forward = x.clone().requires_grad_(), T.autograd.forward_ad
    with forward.dual_level():
        tangent = forward.unpack_dual(total(forward.make_dual(leaf, direction))).tangent
        if tangent is None or not tangent.requires_grad:
            return T.zeros_like(x)
        try:
            return T.autograd.grad(tangent, leaf)[0]
        except RuntimeError:
            backward_twice(total, x, direction)  # raises if the function has no second derivative
            return T.full_like(x, float("nan"))
transforms = {
    "jvp": tangents_by(lambda function, *one: functions_of_torch().jvp(
        function, one[:1], one[1:])[1]),
    "backward": gradients_by(lambda function, one: function(one)),
    "grad": gradients_of_functions_by(lambda function, one: function(one)),
    "checkpoint": gradients_by(lambda function, one: by_checkpoint(
        function, one, use_reentrant=False)),
    "backward twice": second_by(backward_twice),
    "backward of dual": second_by(backward_of_dual),
    "jacrev of jacrev": second_by(lambda *one: hessian_by("jacrev", "jacrev", *one)),
    "jacrev of jacfwd": second_by(lambda *one: hessian_by("jacrev", "jacfwd", *one)),
    }
simpler_transforms = {
    "grad": ("backward",), "checkpoint": ("backward",),
    "backward twice": ("backward",),
    "backward of dual": ("backward twice", "jvp", "jacrev of jacfwd"),
    "jacrev of jacrev": ("backward twice", "grad"),
    "jacrev of jacfwd": ("backward twice", "jvp", "jacrev of jacrev"),
    }
plainest = {
    "checkpoint": lambda a: a.relu().exp_(), }
def difference_by(transform, function):
    expected, found = transforms[transform](function, example())
    for pair in zip(expected, found):
        one, other = (part.detach().reshape(-1).tolist() for part in pair)
        if len(one) != len(other) or not all(
                abs(x - y) <= 1e-4 * (1 + abs(x)) for x, y in zip(one, other)):
            return one, other
    return None
def differs_by(transform, function):
    try:
        return difference_by(transform, function)
    except RuntimeError as error:
        return "INTERNAL" in str(error)
def check_transformed(transform, function):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        difference = difference_by(transform, function)
        simpler = simpler_transforms.get(transform, ())
        if not difference or any(differs_by(one, function) for one in simpler):
            return
        usual, code = plainest.get(transform, function), function.__code__.co_code
        if usual.__code__.co_code != code and differs_by(transform, usual):
            return
    names = " and ".join(function.__code__.co_names) or "a product"
    raise AssertionError(  # what it gives may be memory that nobody has written
        f"A10: under {transform}, {names} does not give {difference[0]}, as it does by itself")

check_transformed('backward of dual', lambda a: a.softmax(1))
