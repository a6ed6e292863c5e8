# RuntimeError: RuntimeError: !grad_accumulator_.expired() INTERNAL ASSERT FAILED at "./torch/csrc/autograd/saved_variable.cpp":N, please report a bug to PyTorch. No grad accumulator for a saved leaf, torch 1.13.0a0
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = '^(?:[\\w.]+\\.)?RuntimeError: !grad_accumulator_\\.expired\\(\\) INTERNAL ASSERT FAILED at "[^"]*":(?:N|\\d+), please report a bug to PyTorch\\. No grad accumulator for a saved leaf'
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
def numbers_of(gradient):
    return None if gradient is None else gradient.sum().item()
def raised_by(function):
    try:
        function()
    except RuntimeError as error:
        return error
    return None
def check_packs(tensor):
    log = []
    def noting(name):
        return lambda tensor: log.append(name) or tensor.clone()
    def failing_pack(tensor):
        raise KeyError("a pack hook raises")
    hooks, other = T.autograd.graph.saved_tensors_hooks, differentiable(tensor)
    class SavesOther(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(other)
            return x * 2
        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]
    with T.enable_grad():
        leaf = differentiable(tensor)
        with hooks(failing_pack, failing_pack), hooks(noting("pack"), noting("unpack")):
            result, product, held = leaf.relu(), leaf * leaf, SavesOther.apply(leaf)
        assert log == ["pack"] * 4, f"A2e: four tensors were saved, and the hooks ran as {log}"
        held.grad_fn.saved_tensors, held.grad_fn.saved_tensors
        assert log[4:] == ["unpack"] * 2, f"A2e: two accesses, and the hooks ran as {log[4:]}"
        (result + product).sum().backward()
        assert log[6:] == ["unpack"] * 3, f"A2e: three uses, and the hooks ran as {log[6:]}"
        first, = T.autograd.grad(held.sum(), leaf, create_graph=True)
        assert raised_by(first.sum().backward) is None, "A2e: a packed leaf has left the graph"
    size = tensor.numel()
    assert numbers_of(leaf.grad) == 3 * size, "A7: a gradient through hooks of saved tensors"
    assert numbers_of(other.grad) == size, "A2e: a packed leaf gets another gradient"

t0 = T.ones(1)
check_packs(t0)
