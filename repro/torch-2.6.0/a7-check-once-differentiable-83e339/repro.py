# A7 check_once_differentiable: AssertionError: A7: a second derivative of N is [N.N], torch 2.6.0
# contract: A7
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A7: a second derivative of (?:N|\d+) is \[(?:N|\d+)\.(?:N|\d+)\]"
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
def check_once_differentiable():
    if in_hermetic():
        return
    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x
        @staticmethod
        @T.autograd.function.once_differentiable
        def backward(ctx, gradient):
            return 2 * ctx.saved_tensors[0] * gradient
    with T.inference_mode(False), T.enable_grad():
        leaf = T.tensor([3.0]).requires_grad_()
        total = (Square.apply(leaf) + leaf * leaf * leaf).sum()
        first, = T.autograd.grad(total, leaf, create_graph=True)
        try:
            second, = T.autograd.grad(first.sum(), leaf)
        except RuntimeError:
            return
    assert second.tolist() == [20.0], f"A7: a second derivative of 20 is {second.tolist()}"

check_once_differentiable()
