"""Small graphs: which nodes two backwards run, what they add, hand over and free."""

#: pairs_of_two_runs [slotcore]: two backwards of a small graph, to any of its tensors
import random
class ProductOfTwo(T.autograd.Function):
    @staticmethod
    def forward(ctx, one, other):
        ctx.save_for_backward(one, other)
        return one * other
    @staticmethod
    def backward(ctx, gradient):
        one, other = ctx.saved_tensors
        return gradient * other, gradient * one
class SumOfTwo(T.autograd.Function):
    @staticmethod
    def forward(ctx, one, other):
        return one + other
    @staticmethod
    def backward(ctx, gradient):
        return gradient, gradient
def packed_product(one, other):
    with T.autograd.graph.saved_tensors_hooks(lambda tensor: [tensor], lambda kept: kept[0]):
        return one * other
def steps_of_graph():
    """What is computed of two tensors, whether it is their product, and whether it runs once."""
    rows = expression_rows("a, b", """
        a * b -> True -> True
        a + b -> False -> False
        ProductOfTwo.apply(a, b) -> True -> True
        SumOfTwo.apply(a, b) -> False -> False
        packed_product(a, b) -> True -> True
        a.clone().mul_(b) -> True -> True
        written_product(a, lambda base: base[:1].add_(b)) -> False -> True""")
    return [(compute, *(one(None, None) for one in said)) for compute, *said in rows]
class SmallGraph:
    """The leaves 2 and 3, and what STEPS compute of them: a step has the places of its operands.
    Beside each tensor stands what must be in its `.grad`, and whether what it needs is freed."""
    def __init__(self, steps):
        self.steps, self.seen = {place: step for place, step in enumerate(steps, 2)}, []
        self.tensors = [T.tensor([number]).requires_grad_() for number in (2.0, 3.0)]
        for (compute, *_), *operands in steps:
            self.tensors.append(compute(*(self.tensors[place] for place in operands)))
        self.values = [tensor.item() for tensor in self.tensors]
        self.grads, self.freed, self.keeps_grad = {}, set(), {0, 1}
        for place, tensor in enumerate(self.tensors):
            note = lambda gradient, place=place, seen=self.seen: seen.append((place, gradient))
            tensor.register_hook(note)
        self.ran, self.nodes = [], [self.node_of(tensor) for tensor in self.tensors]
        for place, node in enumerate(self.nodes):
            node.register_prehook(lambda given, place=place, ran=self.ran: ran.append(place))
    def node_of(self, tensor):
        return tensor.grad_fn or (tensor * 1).grad_fn.next_functions[0][0]
    def slopes(self, place):
        """The places of the operands of a step, each with the derivative."""
        (_, is_product, _), one, other = self.steps[place]
        return ((one, self.values[other] if is_product else 1),
                (other, self.values[one] if is_product else 1))
    def is_spent(self, place):
        return place in self.steps and place in self.freed and self.steps[place][0][2]
    def leading_to(self, targets):
        """The places of results that have an operand in TARGETS, or one that leads there."""
        found = set()
        for place, (_, *operands) in self.steps.items():
            if not (found | targets).isdisjoint(operands):
                found.add(place)
        return found
    def expected_run(self, roots, targets, accumulates):
        """The nodes that run, and the gradients of those and of what is handed over."""
        if targets is None:
            wanted = set(range(len(self.tensors)))
            runs = set(wanted)
        else:
            wanted = self.leading_to(targets) | targets
            runs = wanted if accumulates else self.leading_to(targets)
        totals = {}
        for root in roots:
            totals[root] = totals.get(root, 0) + 1
        for place in sorted(self.steps, reverse=True):
            if place in totals and place in runs:
                for operand, slope in self.slopes(place):
                    totals[operand] = totals.get(operand, 0) + totals[place] * slope
        return ({place for place in runs if place in totals},
                {place: total for place, total in totals.items() if place in wanted})
def runs_of_graph():
    """How a backward is started; i are the inputs."""
    rows = expression_rows("roots, i, keep", """
        T.autograd.backward(roots, None, keep) -> None -> True
        T.autograd.backward(roots, None, keep, inputs=i) -> i -> True
        T.autograd.grad(roots, i, None, keep, False, True) -> i -> False
        T.autograd.grad(roots, i[::-1] + i, None, keep, True, True) -> i -> False""")
    return [(run, targets, accumulates(*[None] * 3)) for run, targets, accumulates in rows]
def check_run(graph, row, roots, inputs, keep):
    """Whether the run has worked; a run that must raise ends the case."""
    run, targets, accumulates = row
    targets = targets(None, set(inputs), None)
    runs, totals = graph.expected_run(roots, targets, accumulates)
    expected = RuntimeError if any(map(graph.is_spent, runs)) else None
    tensors, found, where = graph.tensors, [], (
        f"{run.__name__} with roots {roots}, i = {inputs} and keep = {keep} of the steps"
        f" {[(step[0].__name__, *places) for step, *places in graph.steps.values()]}")
    graph.seen.clear()
    graph.ran.clear()
    raised = class_raised(lambda: found.append(run(
        [tensors[place] for place in roots], [tensors[place] for place in inputs], keep)))
    assert raised is expected, f"A2a: {raised} is raised, not {expected}, by {where}"
    if not raised:
        check_what_ran(graph, runs, totals, targets if accumulates else None, where)
        if not accumulates:
            given = inputs[::-1] + inputs if "::" in run.__name__ else inputs
            handed = [one if one is None else one.item() for one in found[0]]
            assert handed == [totals.get(place) for place in given], (
                f"A7: {handed} come from {where}, not those of {totals}")
        graph.freed |= set() if keep else runs
    return not raised
def check_what_ran(graph, runs, totals, targets, where):
    """Asks which nodes have run, and what hooks have seen; which gradients were added. TARGETS are
    the inputs of a call of backward(), or None."""
    seen = sorted((place, gradient.item()) for place, gradient in graph.seen)
    assert seen == sorted(totals.items()), (
        f"A3b: hooks see the gradients {seen}, not {sorted(totals.items())}, in {where}")
    assert sorted(graph.ran) == sorted(runs), (
        f"A2a: the nodes of the tensors {graph.ran} run, not {runs}, in {where}")
    graph.keeps_grad |= targets or set()
    for place in totals.keys() & graph.keeps_grad:
        if place > 1 or "backward" in where:
            graph.grads[place] = graph.grads.get(place, 0) + totals[place]
    grads = {place: one.grad.item() for place, one in enumerate(graph.tensors)
             if one.grad is not None}
    assert grads == graph.grads, f"A7: the gradients are {grads}, not {graph.grads}, after {where}"
def check_freed_nodes(graph, history):
    """Asks each node by itself whether it can still run."""
    for place in graph.steps:
        operand = graph.steps[place][1]
        runs, _ = graph.expected_run([place], {operand}, False)
        expected = RuntimeError if any(map(graph.is_spent, runs)) else None
        raised = class_raised(
            T.autograd.grad, graph.tensors[place], graph.tensors[operand], None, True)
        assert raised is expected, (
            f"A2a: the node of tensor {place} raises {raised}, not {expected}, after {history}")
def pairs_of_two_runs():
    chosen, runs, steps, both = random.Random(3), runs_of_graph(), steps_of_graph(), 0
    pairs = [[(one, other) for one in range(last) for other in range(last)] for last in (2, 3, 4)]
    inputs = [[0], [1], [2], [3], [4], [0, 2], [3, 1], [2, 3], [4, 0], [3, 0], [0, 1], [4, 2, 1]]
    for number in range(100):
        graph = SmallGraph([(chosen.choice(steps), *chosen.choice(one)) for one in pairs])
        history, stashed = [], []
        for _ in range(2):
            case = (chosen.choice(runs), chosen.choice(([4], [4], [3, 4], [4, 4])),
                    chosen.choice(inputs), chosen.random() < .6)
            history.append((case[0][0].__name__, *case[1:]))
            if not check_run(graph, *case):
                break
            stashed += [(gradient, gradient.item()) for _, gradient in graph.seen]
        else:
            both += 1
            check_freed_nodes(graph, history)
        for gradient, number in stashed:
            assert gradient.item() == number, (
                f"A7: a hook's gradient {number} has become {gradient.item()} after {history}")
        graph.seen.clear()  # may lead to the leaves, whose hooks have it
        for tensor in graph.tensors:
            tensor.grad = None
    assert both > 60, f"A2a: only {both} graphs could run twice"
