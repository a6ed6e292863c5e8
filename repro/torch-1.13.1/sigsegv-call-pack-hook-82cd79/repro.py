# SIGSEGV in call_pack_hook, torch 1.13.0a0
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
import threading
SMALL_STACK_BYTES = 1 << 18
def on_small_stack(function, bytes_min=0):
    results, errors = [], []
    def work():
        try:
            results.append(function())
        except Exception as error:
            errors.append(error.with_traceback(None))
    former = threading.stack_size(max(SMALL_STACK_BYTES, bytes_min))
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(former)
    thread.join()
    if errors:
        raise errors.pop()
    return results.pop()
def hooks_left(point):
    heard, scopes = [], []
    def scope_of(name):
        def leave(where):
            if (name, where) == ("inner", point) and len(scopes) == 2:
                scopes.pop().__exit__(None, None, None)
        def pack(one):
            heard.append(name)
            leave("pack")
            return one
        def unpack(one):
            leave("unpack")
            return one
        return T.autograd.graph.saved_tensors_hooks(pack, unpack)
    with T.enable_grad():
        leaf = T.ones(2).requires_grad_()
        for name in ("outer", "inner"):
            scopes.append(scope_of(name))
            scopes[-1].__enter__()
        (leaf * leaf).sum().backward()
        leaf * leaf
        scopes.pop().__exit__(None, None, None)
        leaf * leaf
    return heard, leaf.grad.tolist()
def check_hooks_left(point):
    if in_hermetic():
        return
    heard, gradient = on_small_stack(lambda: hooks_left(point))  # hooks end with their thread
    # A backward may also end with the hooks with which it began.
    allowed = {"pack": ["iooo"], "unpack": ["iioo", "iiiioo"]}[point]
    names = "".join(name[0] for name in heard)
    assert names in allowed, f"A2e: hooks that were left in {point}: {heard} have packed"
    assert gradient == [2.0, 2.0], f"A2e: after hooks were left in {point} a gradient is {gradient}"

check_hooks_left('unpack')
