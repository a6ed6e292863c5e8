# A10 check_transformed: AssertionError: A10: under functionalize, T and from_numpy and numpy does not give [N.N, -N.N, N.N, -N.N, N.N, N.N], as it does by itself, torch 2.6.0
# contract: A10
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys
from contextlib import suppress
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A10: under functionalize, T and from_numpy and numpy does not give \[(?:N|\d+)\.(?:N|\d+), \-(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+), \-(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+)\], as it does by itself"
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

import copy, pickle
def copied(one, copy=copy.copy):
    twin = copy(one)
    serial = getattr(one, "serial", None)
    if twin is not one and serial is not None and getattr(twin, "serial", None) is serial:
        twin.serial = -1
    return twin
def deep_copied(one):
    return copied(one, copy.deepcopy)
def pickled(one):
    return copied(one, lambda one: pickle.loads(pickle.dumps(one)))
def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
formats = {T.float32: "f", T.float64: "d", T.int64: "q", T.uint8: "B", T.bool: "?",
           T.complex64: "ff"}
import struct
def packed(dtype, number):
    parts = (number.real, number.imag) if dtype == T.complex64 else (number,)
    return struct.pack(formats[dtype], *parts)
def unpacked(dtype, held, place):
    parts = struct.unpack_from(formats[dtype], held, place)
    return complex(*parts) if len(parts) == 2 else parts[0]
stash = []
def unchanged(packed):
    return packed
def ends_mode(packed):
    T.autograd.graph.saved_tensors_hooks(unchanged, unchanged).__exit__()
    return packed
def exchanges_mode(packed):
    ends_mode(packed)
    T.autograd.graph.saved_tensors_hooks(unchanged, unchanged).__enter__()
    return packed
def leaves_modes(packed):
    import contextlib
    with contextlib.suppress(RuntimeError):
        ends_mode(packed)
    return packed
def drops(packed):
    value = packed.pop()
    stash.clear()
    return value
def stashed_pack(tensor):
    stash.append((tensor,))
    return stash[-1]
def failing(*_):
    raise KeyError("a hook of a saved tensor raises")
def collecting(packed):
    gc.collect()
    return packed
pairs = {
    "same": (unchanged, unchanged), "clones": (lambda x: x.clone(), lambda x: x.clone()),
    "lists": (lambda x: [x], lambda packed: packed[0]), "drops": (lambda x: [x], drops),
    "stashes": (stashed_pack, lambda packed: packed[0]), "leaves": (exchanges_mode, leaves_modes),
    "writes": (lambda x: x.mul_(2), lambda x: x), "raises": (unchanged, failing),
    "collects": (collecting, collecting), "ends": (ends_mode, unchanged),
}
def pair(name):
    return pairs[name]
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
def through():
    module = __import__("torch.utils._python_dispatch", fromlist=["TorchDispatchMode"])
    class Through(module.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
            return function(*arguments, **(keywords or {}))
    return Through()
def within(mode, function, *arguments):
    with mode():
        return function(*arguments)
def by_checkpoint(function, *arguments, **keywords):
    module = __import__("torch.utils.checkpoint", fromlist=["checkpoint"])
    return module.checkpoint(function, *arguments, **keywords)
def values_by(call):
    def compared(function, x):
        argument, own = x.clone(), x.clone()
        return (function(own), own), (call(function, argument), argument)
    return compared
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
def under_vmap(function, x):
    both = T.stack([x, x + 1])
    return tuple(function(one.clone()) for one in both), tuple(
        functions_of_torch().vmap(lambda one: function(one.clone()))(both))
def under_vmap_of_grad(function, x):
    both, functions = T.stack([x, x + 1]), functions_of_torch()
    gradient = functions.grad(lambda one: weighted(function(one * 1)))
    return tuple(gradient_by_differences(function, one) for one in both), tuple(
        functions.vmap(gradient)(both))
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
def functionalized(function, one):
    return functions_of_torch().functionalize(function)(one)
def by_keyword(function, one):
    return by_checkpoint(lambda one: function(one), one=one, use_reentrant=False)
transforms = {
    "functionalize": values_by(functionalized), "vmap": under_vmap,
    "dispatch": values_by(lambda function, one: within(through, function, one)),
    "jvp": tangents_by(lambda function, *one: functions_of_torch().jvp(
        function, one[:1], one[1:])[1]),
    "backward": gradients_by(lambda function, one: function(one)),
    "backward after a write": gradients_by(lambda function, one: function(one), True),
    "grad": gradients_of_functions_by(lambda function, one: function(one)),
    "grad of functionalize": gradients_of_functions_by(functionalized),
    "vmap of grad": under_vmap_of_grad,
    "backward in dispatch": lambda *both: within(through, transforms["backward"], *both),
    "checkpoint": gradients_by(lambda function, one: by_checkpoint(
        function, one, use_reentrant=False)),
    "checkpoint of a write": gradients_by(lambda function, one: by_checkpoint(
        function, one, use_reentrant=False), True),
    "checkpoint by keyword of a write": gradients_by(by_keyword, True),
    "checkpoint that is reentrant": gradients_by(lambda function, one: by_checkpoint(
        function, one, use_reentrant=True)),
    "save_on_cpu": lambda *both: within(
        T.autograd.graph.save_on_cpu, transforms["backward"], *both),
    "allow_mutation": lambda *both: within(
        T.autograd.graph.allow_mutation_on_saved_tensors, transforms["backward"], *both),
    "backward twice": second_by(backward_twice),
    "jacrev of jacrev": second_by(lambda *one: hessian_by("jacrev", "jacrev", *one)),
    "jacrev of jacfwd": second_by(lambda *one: hessian_by("jacrev", "jacfwd", *one)),
    "jacfwd of jacfwd": second_by(lambda *one: hessian_by("jacfwd", "jacfwd", *one)),
    "jacfwd of jacrev": second_by(lambda *one: hessian_by("jacfwd", "jacrev", *one)),
}
simpler_transforms = {
    "grad": ("backward",), "grad of functionalize": ("grad", "functionalize"),
    "vmap of grad": ("grad", "vmap"), "backward in dispatch": ("backward", "grad"),
    "backward after a write": ("backward",), "checkpoint": ("backward",),
    "checkpoint of a write": ("checkpoint",),
    "checkpoint by keyword of a write": ("checkpoint of a write",),
    "checkpoint that is reentrant": ("backward",), "save_on_cpu": ("backward",),
    "allow_mutation": ("backward",), "backward twice": ("backward",),
    "jacrev of jacrev": ("backward twice", "grad"),
    "jacrev of jacfwd": ("backward twice", "jvp", "jacrev of jacrev"),
    "jacfwd of jacfwd": ("jacrev of jacfwd", "backward twice", "jvp"),
    "jacfwd of jacrev": ("jacrev of jacrev", "backward twice", "jvp"),
}
plainest = {
    "checkpoint": lambda a: a.relu().exp_(), "checkpoint of a write": lambda a: a * a,
    "checkpoint by keyword of a write": lambda a: a * a,
    "save_on_cpu": lambda a: (a * a, a.mul_(5))[0],
}
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

check_transformed('functionalize', lambda a: T.from_numpy(a.numpy()) * 2)
