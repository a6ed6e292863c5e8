# A3f check_hook_collected: AssertionError: A3f: a hook that holds its node is lost, torch 1.13.0a0
# contract: A3f
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A3f: a hook that holds its node is lost"
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
def hook_itself(node, log):
    node.register_hook(lambda *_: (node, log.append("itself")) and None)
def check_hook_collected(tensor):
    log = []
    with T.enable_grad():
        leaf = differentiable(tensor)
        product = leaf * 2
        total = (product + 1).sum()
        gc.collect()  # the next collection does not look at `total`, which also owns the node
        product.grad_fn.register_hook(lambda *_: log.append("node"))
        garbage = product + 2
        garbage.me = garbage
        del product, garbage
        gc.collect(0)
        gc.collect()
        total.backward()
    assert log == ["node"], "A3f: a hook is lost"
    with T.enable_grad():
        product = differentiable(tensor) * 2
        hook_itself(product.grad_fn, log)
        total = product.sum()
        del product
        gc.collect()
        total.backward()
    assert log == ["node", "itself"], "A3f: a hook that holds its node is lost"

t0 = T.ones(1)
check_hook_collected(t0)
