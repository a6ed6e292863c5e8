# A7 check_mutating_op: AssertionError: A7: a custom operator writes its argument, which autograd does not see, torch 2.14.1
# contract: A7
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A7: a custom operator writes its argument, which autograd does not see"
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
made_operators = {}
def writing_operator():
    if not made_operators:
        def double(x: T.Tensor) -> None:
            x.mul_(2)
        made_operators["double"] = T.library.custom_op("slotfuzz_scopes::double", double,
                                                       mutates_args={"x"})
    return made_operators["double"]
mutated_arguments = {"result": lambda x: x * 1, "leaf": lambda x: x}
def check_mutating_op(argument):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        x = T.ones(1).requires_grad_()
        try:
            y = mutated_arguments[argument](x)
            writing_operator()(y)
            (gradient,) = T.autograd.grad(y.sum(), x)
        except RuntimeError:
            return
        assert argument != "leaf" and gradient.item() == 2, (
            "A7: a custom operator writes its argument, which autograd does not see")

check_mutating_op('result')
