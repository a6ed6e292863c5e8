# M15 check_fake_result: AssertionError: M15: nan_to_num gives a fake the layout [((N, N), (N, N), N, torch.float64)], a tensor [((N, N), (N, N), N, torch.float64)], torch 2.6.0
# contract: M15
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: M15: nan_to_num gives a fake the layout \[\(\((?:N|\d+), (?:N|\d+)\), \((?:N|\d+), (?:N|\d+)\), (?:N|\d+), torch\.float64\)\], a tensor \[\(\((?:N|\d+), (?:N|\d+)\), \((?:N|\d+), (?:N|\d+)\), (?:N|\d+), torch\.float64\)\]"
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

storage_of = getattr(T.Tensor, "untyped_storage", None) or (lambda one: one.storage().untyped())
refused = (IndexError, RuntimeError, TypeError, ValueError)
def chain(tensor):
    result = tensor
    for _ in range(100):
        result = result.add(tensor)  # a tuple has no such method, and would grow
    return result
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
    def hear_before(self, gradients):
        changed = self.hear(gradients[0])
        return None if changed is None else (changed,)
    def hear_after(self, inputs, outputs):
        self.hear(outputs[0])
    def hear_of_leaf(self, leaf):
        self.hear(leaf.grad)
    def remove(self):
        self.handle.remove()
        self.hooks.remove(self)
CHAIN_MAX = 1000
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
    def view(self):
        base = self.now.clone()
        self.keep(base, self.stage.number, [(self.stage, 1)])
        base_stage = self.stage
        self.keep(base.view(1), base_stage.number, [(base_stage, 1)])
        self.base = base_stage
    def keep_in_place(self, tensor, number, factor, *others):
        # A write to a view is one to its base, of which the view is made anew.
        former, base = self.stage, self.base
        self.keep(tensor, number, [(former if base is None else base, factor), *others])
        if base is not None:
            base = self.stage
            self.keep(tensor, number, [(base, 1)])
            self.base = base
        self.stage.retaining, former.retaining = former.retaining, []
    def square(self):
        number = self.stage.number
        if number < CHAIN_MAX:
            self.keep(self.now * self.now, number * number, [(self.stage, 2 * number)])
    def hook(self, factor=None):
        hook = ChainHook(self, self.stage.hooks, factor)
        hook.handle = self.now.register_hook(hook.hear)
        return hook
    def hook_once(self):
        hook = self.hook()
        hook.removes = hook
    def hook_removing(self):
        former, hook = self.hook(), self.hook()
        hook.removes = former
    def hook_removed_later(self):
        former = self.hook()
        self.hook(5)
        former.remove()
    def hook_leaf(self):
        hook = ChainHook(self, self.root.hooks, 3)
        hook.handle = self.leaf.register_hook(hook.hear)
    def hook_after_leaf(self):
        if not hasattr(self.leaf, "register_post_accumulate_grad_hook"):
            return  # of PyTorch 2.1
        hook = ChainHook(self, self.root.after)
        hook.handle = self.leaf.register_post_accumulate_grad_hook(hook.hear_of_leaf)
    def hook_before(self, factor=None):
        if not hasattr(self.now.grad_fn, "register_prehook"):
            return  # of PyTorch 2.0
        hook = ChainHook(self, self.stage.before, factor)
        hook.handle = self.now.grad_fn.register_prehook(hook.hear_before)
    def hook_after(self):
        hook = ChainHook(self, self.stage.after)
        hook.handle = self.now.grad_fn.register_hook(hook.hear_after)
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
    "nothing": lambda c: None, "run": Chain.run, "hook": Chain.hook,
    "run_recorded": lambda c: c.run(create_graph=True),
    "ask_gradient": lambda c: c.run(is_accumulated=False),
    "double": lambda c: c.keep(c.now * 2, c.stage.number * 2, [(c.stage, 2)]),
    "square": Chain.square, "view": Chain.view,
    "add_leaf": lambda c: c.keep(c.now + c.leaf, c.stage.number + 3, [(c.stage, 1), (c.root, 1)]),
    "double_in_place": lambda c: c.keep_in_place(c.now.mul_(2), c.stage.number * 2, 2),
    "add_leaf_in_place": lambda c: c.keep_in_place(c.now.add_(c.leaf), c.stage.number + 3, 1,
                                                   (c.root, 1)),
    "hook_changing": lambda c: c.hook(3), "hook_once": Chain.hook_once,
    "hook_removing": Chain.hook_removing, "hook_removed": lambda c: c.hook().remove(),
    "hook_removed_later": Chain.hook_removed_later, "hook_leaf": Chain.hook_leaf,
    "hook_after_leaf": Chain.hook_after_leaf, "hook_before": Chain.hook_before,
    "hook_before_changing": lambda c: c.hook_before(5), "hook_after": Chain.hook_after,
    "retain": Chain.retain, "collect": lambda c: gc.collect(),
}
MetaConverter = T._subclasses.meta_utils.MetaConverter
FakeTensorMode = T._subclasses.FakeTensorMode
def is_leaf_of(tensor):
    try:
        return tensor.is_leaf
    except RuntimeError:  # a view that a custom Function returned, and that was written since
        return False
all_questions = {
    "size": lambda one: tuple(one.size()), "stride": lambda one: one.stride(),
    "offset": lambda one: one.storage_offset(), "type": lambda one: one.dtype,
    "bytes": lambda one: storage_of(one).nbytes(),
    "resizable": lambda one: storage_of(one).resizable(),
    "requires_grad": lambda one: one.requires_grad, "leaf": is_leaf_of,
    "conjugate bit": lambda one: one.is_conj(), "negative bit": lambda one: one.is_neg(),
    "version": lambda one: one._version, "view": lambda one: one._is_view()}
def fields_of(tensor):
    found, rows, place = [tensor], [], {tensor._cdata: 0}
    for one in found:
        links = []
        for other in (one._base, one.grad):
            if other is not None and other._cdata not in place:
                place[other._cdata] = len(found)
                found.append(other)
            links.append(None if other is None else place[other._cdata])
        rows.append(([ask(one) for ask in questions.values()], links))
    return rows
def is_plain(tensor):
    return (type(tensor) in (T.Tensor, T.nn.Parameter) and tensor.layout == T.strided
            and not (tensor.is_nested or tensor.is_quantized or any(getattr(tensor, "names", ()))
                     or T._is_functional_tensor(tensor) or T._is_zerotensor(tensor)
                     or T._C._functorch.is_functorch_wrapped_tensor(tensor)))
def converted_by(converter, tensor):
    try:
        fake = converter(tensor) if isinstance(tensor, T.Tensor) else None
    except AssertionError as error:  # torch asserts what it supports, and says nothing
        raise TypeError("no fake of such a tensor") from error
    if not isinstance(fake, T.Tensor):
        raise TypeError("no fake of such a tensor")
    return fake
def fake_in(mode, tensor, **keywords):
    return converted_by(lambda one: mode.from_tensor(one, **keywords), tensor)
def known_tensors():
    leaf, written = T.ones(2, 3).requires_grad_(), T.ones(2)
    written.add_(1)
    return {
        "size": T.ones(2, 3), "stride": T.ones(2, 3).t(), "offset": T.ones(2, 3)[1],
        "type": T.ones(1, dtype=T.int64), "bytes": T.ones(2, 3)[1], "view": leaf.view(-1),
        "resizable": T.frombuffer(bytearray(8), dtype=T.uint8), "requires_grad": leaf,
        "leaf": leaf.mul(2), "conjugate bit": T.ones(1, dtype=T.complex64).conj(),
        "negative bit": T.ones(1)._neg_view(), "version": written}
def is_promised(name, tensor):
    ask = all_questions[name]
    try:
        return ask(MetaConverter()(tensor)) == ask(tensor)
    except AttributeError:  # before 2.0 a storage does not say whether it can be resized
        return False
questions = {name: ask for name, ask in all_questions.items()
             if is_promised(name, known_tensors()[name]) and is_promised(name, T.ones(2))}
linked = T.ones(2)
linked.grad = T.ones(2)
has_gradients = MetaConverter()(linked).grad is not None
def differing(found, expected):
    for (asked, links), (wanted, other_links) in zip(found, expected):
        wrong = [name for name, one, other in zip(questions, asked, wanted) if one != other]
        wrong += ["base"] * (links[0] != other_links[0])
        wrong += ["gradient"] * (has_gradients and links[1] != other_links[1])
        if wrong:
            return wrong
    return []
unknown_to_fakes = (NotImplementedError, RecursionError, *(
    getattr(T._subclasses.fake_tensor, name, NotImplementedError) for name in (
        "DataDependentOutputException", "DynamicOutputShapeException",
        "UnsupportedOperatorException", "UnsupportedFakeTensorException")))
def outcome_of(function, tensor):
    try:
        result = fields_of(function(tensor))
    except unknown_to_fakes:
        raise
    except refused:
        result = "error"
    return result, fields_of(tensor)
def check_propagates(function, tensor):
    if not is_plain(tensor):
        return
    fakes = [converted_by(MetaConverter(), tensor), fake_in(FakeTensorMode(), tensor)]
    before = fields_of(tensor)
    fakes = [fake for fake in fakes if not differing(fields_of(fake), before)]  # else M4 is broken
    expected = outcome_of(function, tensor)
    for fake in fakes:
        try:
            outcome = outcome_of(function, fake)
        except unknown_to_fakes:
            continue
        wrong = differing(outcome[1], expected[1])
        assert not wrong, f"M15: an operation leaves its fake another {', '.join(wrong)}"
        if "error" in (expected[0], outcome[0]):
            assert outcome[0] == expected[0], "M15: an error of an operation is not that of a fake"
            continue
        wrong = differing(outcome[0], expected[0])
        assert not wrong, f"M15: an operation gives a fake another {', '.join(wrong)}"
def layouts_of(result):
    results = result if isinstance(result, (tuple, list)) else [result]
    return [(tuple(one.size()), one.stride(), one.storage_offset(), one.dtype)
            for one in results if isinstance(one, T.Tensor)]
def check_fake_result(function, view):
    with T.no_grad():
        try:
            expected = layouts_of(function(view(example())))
            fake = FakeTensorMode().from_tensor(view(example()))
            with fake.fake_mode:
                found = layouts_of(function(fake))
        except unknown_to_fakes:
            return
    assert found == expected, (
        f"M15: {called_by(function)} gives a fake the layout {found}, a tensor {expected}")
def called_by(function):
    if function.__name__ != "<lambda>":
        return function.__name__
    return " and ".join(name for name in function.__code__.co_names if name != "T")
def example():
    return T.tensor([[0.3, -0.7, 1.1], [-1.3, 0.9, 0.4]], dtype=T.float64)
def weighted(result):
    numbers = result.reshape(-1)
    return (numbers * T.arange(1, numbers.numel() + 1, dtype=T.float64)).sum()

check_fake_result(T.nan_to_num, lambda t: t.t().contiguous().t())
