# P9 check_optimizer: AssertionError: P9: an optimizer with fused=True writes numbers that are not the parameter's, torch 2.6.0
# contract: P9
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: P9: an optimizer with fused=True writes numbers that are not the parameter's"
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
def laid_out(layout, start):
    memory = T.arange(start, start + 64.0).sin()
    return memory, {
        "contiguous": lambda: memory[:16].view(4, 4),
        "transposed": lambda: memory[:16].view(4, 4).t(),
        "spread": lambda: memory[:32].view(4, 8)[:, ::2], "later": lambda: memory[16:32].view(4, 4),
        "repeated": lambda: memory[:4].expand(4, 4)}[layout]()
def stepped_by(optimizer, keywords, layouts):
    memory, tensor = laid_out(layouts[0], 1.0)
    gradient = laid_out(layouts[1], 7.0)[1]
    parameter = T.nn.Parameter(tensor)
    parameter.grad = gradient
    before, given = memory.clone(), gradient.clone()
    used = optimizer([parameter], lr=0.5, **keywords)
    for _ in range(2):
        used.step()
    numbers = tensor.clone()
    tensor.zero_()
    before.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset()).zero_()
    return numbers, T.equal(memory, before), T.equal(gradient, given)
def check_optimizer(optimizer, how, layout, gradient):
    if in_hermetic():
        return
    own = {"momentum": 0.5, "nesterov": True} if optimizer is T.optim.SGD else {}
    with T.inference_mode(False), T.enable_grad():
        try:
            wanted, _, _ = stepped_by(optimizer, {**own, "foreach": False}, (layout, gradient))
            found, is_own, is_kept = stepped_by(optimizer, {**own, how: True}, (layout, gradient))
        except (RuntimeError, TypeError):
            return
    name = f"an optimizer with {how}=True"
    assert is_own, f"P9: {name} writes numbers that are not the parameter's"
    assert is_kept, f"P9: {name} writes the gradient"
    is_close = T.allclose(found, wanted, rtol=1e-2, atol=1e-2)
    assert is_close, f"P9: {name} gives other numbers than a loop does"

check_optimizer(T.optim.SGD, 'fused', 'spread', 'contiguous')
