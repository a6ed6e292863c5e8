"""What lines about chains may call: a graph with hooks, beside a model of what its hooks see.

A chain has tensors of one number. Its model is a list of stages, which knows derivatives as
numbers, and who must hear of which gradient.
"""

#: Stage: a value of a tensor: what it comes from, and who hears of its gradient
class Stage:
    def __init__(self, number, parents):
        self.number, self.parents = number, parents
        self.hooks, self.before, self.after, self.retaining = [], [], [], []

#: ChainHook: a hook that notes gradients, may multiply them, and may remove a hook when it runs
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

#: Chain: a leaf, what was computed from it, and their stages
CHAIN_MAX = 1000
class Chain:
    def __init__(self):
        self.hooks, self.retained = [], []
        self.leaf = T.tensor([3.0], dtype=T.float64).requires_grad_()
        self.root, self.leaf_grad = Stage(3, []), None
        self.accumulator = (self.leaf * 1).grad_fn.next_functions[0][0]
        self.before_accumulator, self.after_accumulator = [], []
        self.stages = [self.root]
        self.keep(self.leaf * 2, 6, [(self.root, 2)])
    def keep(self, tensor, number, parents):
        self.now, self.stage, self.base = tensor, Stage(number, parents), None
        self.stages.append(self.stage)
    def view(self):
        base = self.whole = self.now.clone()
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
    def hook_before_node(self, node, hooks, factor=None):
        if not hasattr(node, "register_prehook"):
            return None  # of PyTorch 2.0
        hook = ChainHook(self, hooks, factor)
        hook.handle = node.register_prehook(hook.hear_before)
        return hook
    def hook_before(self, factor=None):
        return self.hook_before_node(self.now.grad_fn, self.stage.before, factor)
    def hook_after(self):
        hook = ChainHook(self, self.stage.after)
        hook.handle = self.now.grad_fn.register_hook(hook.hear_after)
        return hook
    def hook_before_accumulator(self, factor=None):
        self.hook_before_node(self.accumulator, self.before_accumulator, factor)
    def hook_after_accumulator(self):
        hook = ChainHook(self, self.after_accumulator)
        hook.handle = self.accumulator.register_hook(lambda inputs, outputs: hook.hear(outputs[0]))
    def hook_base(self):
        if self.base is not None:
            hook = ChainHook(self, self.base.hooks, 2)
            hook.handle = self.whole.register_hook(hook.hear)
    def hook_before_base(self):
        if self.base is not None:
            self.hook_before_node(self.whole.grad_fn, self.base.before, 3)
    def hook_after_base(self):
        if self.base is not None:
            hook = ChainHook(self, self.base.after)
            hook.handle = self.whole.grad_fn.register_hook(hook.hear_after)
    def remove_next(self, adds):
        first, second = adds(), adds()
        if first is not None:
            first.removes = second
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
            for hook in self.before_accumulator:
                number = hook.must_hear(number)
            self.leaf_grad = number + (self.leaf_grad or 0)
            for hook in self.root.after:
                hook.must_hear(self.leaf_grad)
            for hook in self.after_accumulator:
                hook.must_hear(number)
            number = self.leaf_grad
        for hook in self.hooks:
            if hook.removes is not None and hook.expected and hook.removes in hook.removes.hooks:
                hook.removes.hooks.remove(hook.removes)
        return number
#: links: what a chain may get next
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
    "hook_removing_next": lambda c: c.remove_next(c.hook),
    "before_removing_next": lambda c: c.remove_next(c.hook_before),
    "after_removing_next": lambda c: c.remove_next(c.hook_after),
    "before_leaf": Chain.hook_before_accumulator,
    "before_leaf_changing": lambda c: c.hook_before_accumulator(5),
    "after_leaf": Chain.hook_after_accumulator, "hook_base": Chain.hook_base,
    "before_base": Chain.hook_before_base, "after_base": Chain.hook_after_base,
    "retain": Chain.retain, "collect": lambda c: gc.collect(),
}

#: check_chain: gradients, and what hooks hear of them, after five links of a chain (A3, A7)
#> check_chain: checks
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
