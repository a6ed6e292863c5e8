# RuntimeError: RuntimeError: InferenceMode::is_enabled() && self.is_inference() INTERNAL ASSERT FAILED at "./aten/src/ATen/native/VariableMethodStubs.cpp":N, please report a bug to PyTorch. Expected this method to only be reached in inference mode and when all the inputs are inference tensors. You should NOT call this method directly as native::_fw_primal. Please use the dispatcher, i.e., at::_fw_primal. Please file an issue if you come across this error otherwise., torch 2.14.1
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = '^(?:[\\w.]+\\.)?RuntimeError: InferenceMode::is_enabled\\(\\) \\&\\& self\\.is_inference\\(\\) INTERNAL ASSERT FAILED at "[^"]*":(?:N|\\d+), please report a bug to PyTorch\\. Expected this method to only be reached in inference mode and when all the inputs are inference tensors\\. You should NOT call this method directly as native::_fw_primal\\. Please use the dispatcher, i\\.e\\., at::_fw_primal\\. Please file an issue if you come across this error otherwise\\.'
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

FakeTensorMode = T._subclasses.FakeTensorMode
def escaped_dual(one, tangent=None):
    with T.autograd.forward_ad.dual_level():
        return T.autograd.forward_ad.make_dual(one, T.ones(1) if tangent is None else tangent)

t0 = T.ones(1)
k0 = FakeTensorMode()
k0.__enter__()
t1 = escaped_dual(t0, t0)
