# A7 check_shared_elements: AssertionError: A7: the backward of a write that was accepted raises: unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation., torch 2.6.0
# contract: A7
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A7: the backward of a write that was accepted raises: unsupported operation: more than one element of the written\-to tensor refers to a single memory location\. Please clone\(\) the tensor before performing the operation\."
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
def raised_by(function):
    try:
        function()
    except RuntimeError as error:
        return error
    return None
def check_shared_elements(write):
    if in_hermetic():
        return
    gradients = []
    with T.enable_grad():
        for rows in (lambda row: row.expand(3, 2), lambda row: row.expand(3, 2).clone()):
            leaf = T.ones(2).requires_grad_()
            written = rows(leaf * 2)
            if raised_by(lambda: write(written)) is not None:
                return
            error = raised_by(written.sum().backward)
            assert error is None, f"A7: the backward of a write that was accepted raises: {error}"
            gradients.append(leaf.grad.tolist())
    shared, apart = gradients
    assert shared == apart, f"A7: a write to elements that share memory has the gradient {shared}"

check_shared_elements(lambda t: t.zero_())
