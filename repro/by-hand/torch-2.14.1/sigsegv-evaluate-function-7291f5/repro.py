# SIGSEGV in evaluate_function, torch 2.14.1
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
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

def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
edge_results = {"multiply": (lambda x: x * 2, 1), }
def check_edge(call, number):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        function, count = edge_results[call]
        results = function(T.ones(2).requires_grad_())
        results = results if isinstance(results, tuple) else (results,)
        total = sum((place + 3) * one.sum() for place, one in enumerate(results))
        node = results[0].grad_fn
        try:
            edge = T.autograd.graph.GradientEdge(node, number)
            (found,) = T.autograd.grad(total, [edge], allow_unused=True)
        except (RuntimeError, IndexError, ValueError, TypeError, OverflowError):
            return
        if 0 <= number < count:
            right = found is not None and set(found.flatten().tolist()) == {number + 3.}
        else:
            right = found is None
        assert right, f"A7: the gradient with respect to edge {number} of {call} is wrong"

check_edge('multiply', 1)
