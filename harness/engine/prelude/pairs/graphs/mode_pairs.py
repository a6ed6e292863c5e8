"""Modes of recording that code of the user changes where a call runs it."""

#: pairs_of_left_modes [slotcore]: a mode that a hook or a Function sets ends with its call
import itertools
class ActsAtPlace:
    """Notes the mode of recording at each place, changes it at PLACE, and may raise there."""
    def __init__(self, place, change, raises):
        self.place, self.change, self.raises, self.modes = place, change, raises, {}
    def at(self, place):
        self.modes.setdefault(place, T.is_grad_enabled())
        if place == self.place:
            self.change()
            if self.raises:
                raise KeyError(place)
class ActingFunction(T.autograd.Function):
    @staticmethod
    def forward(ctx, tensor, acts):
        acts.at("forward")
        ctx.acts = acts
        return tensor * 2
    @staticmethod
    def backward(ctx, gradient):
        ctx.acts.at("backward")
        return gradient * 2, None
class ActingSetup(T.autograd.Function):
    @staticmethod
    def forward(tensor, acts):
        acts.at("forward with setup_context")
        return tensor * 3
    @staticmethod
    def setup_context(ctx, inputs, result):
        inputs[1].at("setup_context")
    @staticmethod
    def backward(ctx, gradient):
        return gradient * 3, None
class ActingLegacy(T.autograd.Function):
    def forward(self, tensor):
        self.acts.at("forward of an instance")
        return tensor * 5
    def backward(self, gradient):
        self.acts.at("backward of an instance")
        return gradient * 5
def acting_legacy(tensor, acts):
    function = ActingLegacy()
    function.acts = acts
    return function(tensor)
def acting_hook(acts, place):
    def hook(*given):
        acts.at(place)
    return hook
def nesting_hook(acts, create_graph):
    """A hook that runs a backward whose mode is the other one, and acts then."""
    def hook(gradient):
        leaf = T.ones(1).requires_grad_()
        with T.enable_grad():
            total = (leaf * 2).sum()
        T.autograd.grad(total, leaf, None, None, not create_graph)
        acts.at("hook, after a nested backward")
    return hook
def calls_that_act(acts):
    """What computes a tensor of another one, with what acts within."""
    def packed(tensor):
        def pack(one):
            acts.at("pack")
            return one
        def unpack(one):
            acts.at("unpack")
            return one
        with T.autograd.graph.saved_tensors_hooks(pack, unpack):
            return tensor * T.ones(2)
    return {"a product": packed, "apply()": lambda one: ActingFunction.apply(one, acts),
            "apply() with setup_context": lambda one: ActingSetup.apply(one, acts),
            "a call of an instance": lambda one: acting_legacy(one, acts)}
def graph_that_acts(acts, leaf, create_graph):
    """The sum of the results of all these calls, one after the other; each call leaves the mode."""
    result = leaf
    for name, call in calls_that_act(acts).items():
        found, before = [], T.is_grad_enabled()
        class_raised(lambda: found.append(call(result)))
        after = T.is_grad_enabled()
        assert after is before, (
            f"A5e: {name} makes the mode of recording {after} of {before}, where"
            f" {acts.place} {acts.change.__name__} and {'raises' if acts.raises else 'returns'}")
        if not found:
            return None
        result = found[0]
    if not result.requires_grad:
        return None
    result.register_hook(acting_hook(acts, "hook"))
    result.register_hook(nesting_hook(acts, create_graph))
    result.grad_fn.register_prehook(acting_hook(acts, "pre-hook"))
    result.grad_fn.register_hook(acting_hook(acts, "post-hook"))
    leaf.register_hook(acting_hook(acts, "hook of the leaf"))
    node = (leaf * 1).grad_fn.next_functions[0][0]
    node.register_hook(acting_hook(acts, "post-hook of the leaf"))
    return result.sum()
# By place: the call of a Function or the node that it belongs to, which has one mode.
groups_of_places = {
    "pack": "call 1", "forward": "call 2", "forward with setup_context": "call 3",
    "setup_context": "call 3", "forward of an instance": "call 4", "unpack": "node 1",
    "backward": "node 2", "backward of an instance": "node 4", "hook": "node 4",
    "hook, after a nested backward": "node 4", "pre-hook": "node 4", "post-hook": "node 4",
    "hook of the leaf": "leaf's node", "post-hook of the leaf": "leaf's node"}
def check_modes_within(acts, outer, run, create_graph, on_device):
    """Modes at all places of a graph, and after a run of it in the mode OUTER."""
    leaf = T.ones(2).requires_grad_()
    if "call" in groups_of_places[acts.place]:
        with T.set_grad_enabled(outer):
            graph_that_acts(acts, leaf.detach().requires_grad_(), create_graph)
        acts.modes.clear()
    with T.on_device(0) if on_device else T.enable_grad():
        total = graph_that_acts(acts, leaf, create_graph)
    ran = []
    if total is not None:
        with T.set_grad_enabled(outer):
            raised = class_raised(lambda: ran.append(run(total, leaf)))
            after = T.is_grad_enabled(), (T.ones(1).requires_grad_() * 2).requires_grad
        where = (f"{run.__name__} in the mode {outer}, on {'a device' if on_device else 'cpu'},"
                 f" where {acts.place} {acts.change.__name__}")
        is_run = acts.place != "post-hook of the leaf" or "backward" in run.__name__
        expected = KeyError if acts.raises and is_run else None
        assert raised is expected, f"A3d: {raised} comes out of {where}, not {expected}"
        assert after == (outer, outer), f"A5e: the mode is {after} after {where}"
        if raised is None:
            found = (leaf.grad if ran[0] is None else ran[0][0]).tolist()
            assert found == [30.0, 30.0], f"A7: the gradient is {found} after {where}"
    check_modes_seen(acts, run, outer, create_graph)
    leaf.grad = leaf._backward_hooks = None
    return acts.modes
def check_modes_seen(acts, run, outer, create_graph):
    """A place that follows in the same call or node may have the mode that ACTS has set."""
    for place, mode in acts.modes.items():
        if place != acts.place and groups_of_places[place] == groups_of_places[acts.place]:
            continue
        expected = create_graph and "node" in groups_of_places[place]
        assert mode is expected, (
            f"A3: {place} runs with recording {mode} in {run.__name__}, outside of which it is"
            f" {outer}, where {acts.place} {acts.change.__name__}")
def pairs_of_left_modes():
    changes, places = expressions_of("", """
        T.set_grad_enabled(True)
        T.set_grad_enabled(False)
        T.no_grad().__enter__()
        T.enable_grad().__enter__()"""), set()
    runs = expression_rows("y, x", """
        y.backward() -> False
        y.backward(None, None, True) -> True
        y.backward(None, True) -> False
        T.autograd.grad(y, x) -> False
        T.autograd.grad(y, x, None, False, True) -> True""")
    cases = itertools.product(groups_of_places, (False, True), changes)
    for number, (place, raises, change) in enumerate(cases):
        acts, (run, creates) = ActsAtPlace(place, change, raises), runs[number % 5]
        places |= check_modes_within(
            acts, number % 3 > 0, run, creates(None, None), number % 7 == 0).keys()
    assert places == groups_of_places.keys(), f"A5e: only {places} have run"
