# A2a check_raw_saved: AssertionError: A2a: what a node that is gone has saved says nothing of it, torch 2.6.0
# contract: A2a
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A2a: what a node that is gone has saved says nothing of it"
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
def raw_saved_by(node):
    found = [getattr(node, name) for name in dir(node) if name.startswith("_raw_saved")]
    return [raw for one in found for raw in (one if isinstance(one, (tuple, list)) else [one])]
def check_raw_saved(end):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        leaf = T.ones(2).requires_grad_()
        result = leaf * leaf
        raws = raw_saved_by(result.grad_fn)
        if end == "run":
            result.sum().backward()
        del result
        taken = [leaf * leaf for _ in range(50)]  # the memory that was freed
    for raw in raws:
        try:
            said = raw.register_hooks(lambda saved: saved, lambda packed: packed)
        except RuntimeError as error:
            said = error
        assert "freed" in str(said), "A2a: what a node that is gone has saved says nothing of it"
    del taken

check_raw_saved('run')
