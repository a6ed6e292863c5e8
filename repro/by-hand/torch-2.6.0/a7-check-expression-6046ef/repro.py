# A7 check_expression: AssertionError: A7: derivatives along (N, N, -N, N, N, -N) are [N.N], and the series has [N, N], torch 2.6.0
# contract: A7
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A7: derivatives along \((?:N|\d+), (?:N|\d+), \-(?:N|\d+), (?:N|\d+), (?:N|\d+), \-(?:N|\d+)\) are \[(?:N|\d+)\.(?:N|\d+)\], and the series has \[(?:N|\d+), (?:N|\d+)\]"
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

class Expression:
    values, direction = (3, -2, 1, 2, -1, 2), (1, 2, -1, 3, 1, -2)
    def __init__(self):
        with T.enable_grad():
            self.leaf = T.tensor([float(one) for one in self.values], dtype=T.float64)
            self.leaf.requires_grad_()
            self.leaf_cells = [[(a, b, 0)] for a, b in zip(self.values, self.direction)]
            self.former = []
            self.keep(self.leaf * 1, [[cell[0]] for cell in self.leaf_cells])
    def keep(self, tensor, cells):
        self.former.append((tensor, cells))
        self.now, self.cells = tensor, cells
    def write(self, numbers):
        for cell, number in zip(self.cells, list(numbers)):
            cell[0] = number
    def part(self):
        count = len(self.cells)
        part = self.leaf.narrow(0, 0, count).view(tuple(self.now.size()))
        return part, [cell[0] for cell in self.leaf_cells[:count]]
    def numbers(self):
        return [cell[0] for cell in self.cells]
    def do(self, step):
        with T.enable_grad():
            steps[step](self)
class Wiping(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.zero_()
    @staticmethod
    def backward(ctx, gradient):
        return None
def back(e):
    if len(e.former) > 1:
        e.former.insert(0, e.former.pop())
    e.now, e.cells = e.former[-1]
def tail(e):
    if e.now.dim() and e.now.size(0) > 1:
        count = len(e.cells) // e.now.size(0)
        e.keep(e.now.narrow(0, 1, e.now.size(0) - 1), e.cells[count:])
def wiped_by_function(e):
    Wiping.apply(e.now)
    e.write((0, 0, 0) for _ in e.cells)
steps = { "tail": tail,
    "back": back, "wiped_by_function": wiped_by_function,
}
def flat_numbers(value):
    return [one for part in value for one in flat_numbers(part)] if type(value) is list else [value]
def along(direction, gradient):
    numbers = flat_numbers(gradient.tolist())
    return sum(x * y for x, y in zip(direction, numbers))
def derivative(total, e):
    # Also of two results of one Function, and of one tensor twice.
    others = [tensor for tensor, _ in e.former if tensor.requires_grad]
    found, *_, again = T.autograd.grad(total, [e.leaf, *others, e.leaf], create_graph=True,
                                       allow_unused=True)
    both = [None if one is None else one.tolist() for one in (found, again)]
    assert both[0] == both[1], f"A7: one tensor has the gradients {both}"
    return T.zeros(len(e.leaf_cells), dtype=T.float64) if found is None else found
def check_expression(e):
    numbers = e.numbers()
    assert flat_numbers(e.now.tolist()) == [a for a, _, _ in numbers], (
        f"A7: an expression is {e.now.tolist()}, and its series has {[a for a, _, _ in numbers]}")
    weights = range(1, len(numbers) + 1)
    found, expected = [], [sum(w * one[order] * order for w, one in zip(weights, numbers))
                           for order in (1, 2)]
    with T.enable_grad():
        weight = T.tensor([float(one) for one in weights], dtype=T.float64)
        total = (e.now * weight.view(tuple(e.now.size()))).sum()
        way = T.tensor([float(one) for one in e.direction], dtype=T.float64)
        try:
            while len(found) < 2 and total.requires_grad:
                gradient = derivative(total, e)
                found.append(along(e.direction, gradient))
                total = (gradient * way).sum()
        except RuntimeError as error:
            if "place" not in str(error):  # a saved tensor was written (A2b)
                raise
    assert found == expected[:len(found)], (
        f"A7: derivatives along {e.direction} are {found}, and the series has {expected}")

b0 = Expression()
b0.do('tail')
b0.do('wiped_by_function')
b0.do('back')
check_expression(b0)
