# P8 check_cached_weights: AssertionError: P8: within parametrize.cached(), a weight is not that of its module (remove), torch 2.14.1
# contract: P8
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: P8: within parametrize\.cached\(\), a weight is not that of its module \(remove\)"
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
def multiply_weight(module, value, factor):
    class Multiplied(T.nn.Module):
        def forward(self, x):
            return x * factor
    with T.no_grad():
        module.weight.fill_(value)
    T.nn.utils.parametrize.register_parametrization(module, "weight", Multiplied())
def multiplied_module(value, factor):
    module = T.nn.Linear(1, 1)
    multiply_weight(module, value, factor)
    return module
def check_cached_weights(act):
    if in_hermetic():
        return
    with T.inference_mode(False), T.nn.utils.parametrize.cached():
        module, kept = None, []
        for number in range(1, 30):
            if act in ("free", "keep") or module is None:
                module = None  # before another one takes its memory
                module = multiplied_module(float(number), 2)
            else:
                T.nn.utils.parametrize.remove_parametrizations(module, "weight", False)
                multiply_weight(module, float(number), 2)
            if act == "keep":
                kept.append(module)
            weight = module.weight.item()
            assert weight == 2 * number, (
                f"P8: within parametrize.cached(), a weight is not that of its module ({act})")

check_cached_weights('remove')
