# A3g check_chain: AssertionError: A3g: a tensor has retained N.N of the gradients [N], torch 1.13.1
# contract: A3g
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A3g: a tensor has retained (?:N|\d+)\.(?:N|\d+) of the gradients \[(?:N|\d+)\]"
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
class Stage:
    def __init__(self, number, parents):
        self.number, self.parents = number, parents
        self.hooks, self.before, self.after, self.retaining = [], [], [], []
class ChainHook:
    def __init__(self, chain, hooks, factor=None):
        self.noted, self.expected, self.factor, self.removes = [], [], factor, None
        self.hooks, self.handle = hooks, None
        hooks.append(self)
        chain.hooks.append(self)
    def hear(self, gradient):
        self.noted.append(gradient.item())
        if self.removes is not None:
            self.removes.handle.remove()
        return None if self.factor is None else gradient * self.factor
    def must_hear(self, number):
        self.expected.append(number)
        return number if self.factor is None else number * self.factor
    def remove(self):
        self.handle.remove()
        self.hooks.remove(self)
class Chain:
    def __init__(self):
        self.hooks, self.retained = [], []
        self.leaf = T.tensor([3.0], dtype=T.float64).requires_grad_()
        self.root, self.leaf_grad = Stage(3, []), None
        self.stages = [self.root]
        self.keep(self.leaf * 2, 6, [(self.root, 2)])
    def keep(self, tensor, number, parents):
        self.now, self.stage, self.base = tensor, Stage(number, parents), None
        self.stages.append(self.stage)
    def hook(self, factor=None):
        hook = ChainHook(self, self.stage.hooks, factor)
        hook.handle = self.now.register_hook(hook.hear)
        return hook
    def retain(self):
        self.now.retain_grad()
        if not any(tensor is self.now for tensor, _ in self.retained):
            grads = []
            self.stage.retaining = [grads]
            self.retained.append((self.now, grads))
    def run(self, is_accumulated=True, **how):
        expected = self.expect(is_accumulated)
        if is_accumulated:
            self.now.sum().backward(retain_graph=True, **how)
            found = self.leaf.grad.item()
        else:
            found = T.autograd.grad(self.now.sum(), self.leaf, retain_graph=True, **how)[0].item()
        assert found == expected, f"A7: a chain has the gradient {found}, and its model {expected}"
    def expect(self, is_accumulated):
        gradients = {self.stage: 1}
        for stage in reversed(self.stages):
            if stage not in gradients:
                continue
            number = gradients[stage]
            for hook in stage.hooks:
                number = hook.must_hear(number)
            for grads in stage.retaining:
                grads.append(number)
            for hook in stage.before:
                number = hook.must_hear(number)
            for parent, factor in stage.parents:
                gradients[parent] = gradients.get(parent, 0) + number * factor
            for hook in stage.after if stage is not self.root else ():
                hook.must_hear(number)
        if is_accumulated:
            self.leaf_grad = number + (self.leaf_grad or 0)
            for hook in self.root.after:
                hook.must_hear(self.leaf_grad)
            number = self.leaf_grad
        for hook in self.hooks:
            if hook.removes is not None and hook.expected and hook.removes in hook.removes.hooks:
                hook.removes.hooks.remove(hook.removes)
        return number
links = {
    "nothing": lambda c: None, "hook": Chain.hook,
    "hook_changing": lambda c: c.hook(3),
    "retain": Chain.retain,
}
def check_chain(*names):
    if in_hermetic():
        return  # a gradient that leads to its leaf has no wrapper by which the collector finds it
    with T.enable_grad():
        chain = Chain()
        for name in names:
            links[name](chain)
        chain.run()
    for hook in chain.hooks:
        assert hook.noted == hook.expected, (
            f"A3: a hook has heard of {hook.noted}, and should of {hook.expected}")
    for tensor, grads in chain.retained:
        found = None if tensor.grad is None else tensor.grad.item()
        assert found == (sum(grads) if grads else None), (
            f"A3g: a tensor has retained {found} of the gradients {grads}")

check_chain('nothing', 'nothing', 'retain', 'hook_changing', 'nothing')
