"""Backwards that fail, and the order of hooks, in each of many states."""

#: pairs_of_after_errors [slotcore]: a backward that raises leaves no state in its graph
import itertools
class FaultsOfTrial:
    """What makes a backward fail, but only while `on` is True."""
    on, place = False, None
    def arm(self, place):
        self.place = place
    def strike(self, *given):
        if self.on:
            raise KeyError("a hook raises")
    def strike_in(self, place):
        if self.place == place:
            self.strike()
    def giving(self, value):
        """A hook that replaces the gradient with VALUE, which no backward accepts."""
        return lambda *given: value if self.on else None
class SquareWithFaults(T.autograd.Function):
    """A Function in the old style, whose instances are called."""
    def forward(self, tensor):
        self.save_for_backward(tensor)
        return tensor * tensor
    def backward(self, gradient):
        self.faults.strike_in("backward")
        tensor, = self.saved_tensors
        return gradient * tensor * 2
def square_with_faults(tensor, faults):
    function = SquareWithFaults()
    function.faults = faults
    return function(tensor)
def sum_of_hooked_leaf(hook):
    leaf = T.tensor([2.0, 3.0]).requires_grad_()
    leaf.register_hook(hook)
    return leaf.sum()
def hook_with_backward(tensor):
    return lambda gradient: tensor.backward(None, True)
def counts_of_graphs():
    return T._live_saved_tensors(), T._live_impls(), T._live_backwards()
def plans_of_failure():
    """Faults to put into a graph, by the error that comes out of its backward: x is the leaf,
    a = x * x, and node the node of a * 3."""
    arguments = "x, a, node, faults"
    return {KeyError: expressions_of(arguments, """
                a.register_hook(faults.strike)
                x.register_hook(faults.strike)
                node.register_hook(faults.strike)
                faults.arm("unpack")
                faults.arm("backward")
                a.register_hook(hook_with_backward(sum_of_hooked_leaf(faults.strike)))
                node.register_prehook(faults.strike)
                a.grad_fn.next_functions[0][0].register_prehook(faults.strike)"""),
            RuntimeError: expressions_of(arguments, """
                a.register_hook(faults.giving(T.ones(7)))
                node.register_hook(faults.giving(()))
                node.register_prehook(faults.giving((None,) * 2))"""),
            TypeError: expressions_of(arguments, "a.register_hook(faults.giving(7))")}
def graph_with_faults(plan, faults):
    """A leaf, and a result whose gradient at the leaf is 6 * x + 4 * x ** 3."""
    leaf = T.tensor([2.0, 3.0]).requires_grad_()
    def unpack(tensor):
        faults.strike_in("unpack")
        return tensor
    with T.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
        square = leaf * leaf
    triple = square * 3
    plan(leaf, square, triple.grad_fn, faults)
    return leaf, (triple + square_with_faults(square, faults)).sum()
def check_taken_gradient(leaf, expected, by, where):
    """Asserts that LEAF has the gradient EXPECTED, and takes it away for the next backward."""
    gradient, leaf.grad = leaf.grad, None
    found = None if gradient is None else gradient.tolist()
    assert found == expected, f"A5c: {by} gives the leaf {found}, not {expected}, {where}"
def check_after_error(plan, error, run, times):
    """RUN fails because of PLAN, and works later: it adds the gradient TIMES times."""
    faults, where = FaultsOfTrial(), f"after {plan.__name__} has failed in {run.__name__}"
    leaf, result = graph_with_faults(plan, faults)
    before, faults.on = counts_of_graphs(), True
    raised = class_raised(run, leaf, result)
    faults.on = False
    assert raised is error, (
        f"A5c: {run.__name__} raises {raised}, not {error}, because of {plan.__name__}")
    after = counts_of_graphs()
    assert after == before, (
        f"A5c: {before} saved tensors, impls and running backwards are {after} {where}")
    check_taken_gradient(leaf, None, "the failed backward", where)
    run(leaf, result)
    check_taken_gradient(leaf, [44.0 * times, 126.0 * times], run.__name__, where)
    result.backward()
    check_taken_gradient(leaf, [44.0, 126.0], "the last backward", where)
    raised = class_raised(result.backward)
    assert raised is RuntimeError, f"A5c: a backward of the freed graph raises {raised} {where}"
def pairs_of_after_errors():
    runs = expressions_of("x, y", """
        y.backward(None, True)
        T.autograd.backward([y, y], None, True)
        y.backward(None, True, True)
        y.backward(None, True, inputs=[x])
        sum_of_hooked_leaf(hook_with_backward(y)).backward()""")
    for error, plans in plans_of_failure().items():
        for plan, (number, run) in itertools.product(plans, enumerate(runs)):
            check_after_error(plan, error, run, 2 if number == 1 else 1)

#: pairs_of_hook_orders, TwoResults [slotcore]: hooks run by kind and age, also new ones
import itertools
class LoggedRun:
    """Logs the hooks that run; the one with number WHEN also does CHANGE, once."""
    def __init__(self, when):
        self.when, self.change, self.log = when, None, ""
    def hook(self, number):
        def run(*given):
            self.log += str(number)
            if number == self.when and self.change:
                change, self.change = self.change, None
                change()
        return run
    def of(self, tensor):
        self.log = ""
        tensor.backward(None, True)
        return self.log
class TwoResults(T.autograd.Function):
    @staticmethod
    def forward(ctx, tensor):
        return tensor * 1, tensor * 2
    @staticmethod
    def backward(ctx, first, second):
        return first + second * 10
def written_by_view(base):
    base[:1].mul_(3)
    return base
def places_of_hooks(leaf, tensor):
    """Where a hook can be put: h is on the tensor, p before its node, and q behind it."""
    node = tensor.grad_fn or (leaf * 1).grad_fn.next_functions[0][0]
    return {"h": tensor.register_hook, "p": node.register_prehook, "q": node.register_hook}
def expected_log(kinds):
    """The numbers of hooks of KINDS, which were put on in this order, as they must run."""
    return "".join(str(number) for kind in "hpq"
                   for number, one in enumerate(kinds) if one == kind)
def check_order_of_hooks(make, kinds, when, change):
    """CHANGE is the number of the hook that hook WHEN removes, or the kind of the one that it puts
    on. Either counts from the next backward on."""
    run, leaf = LoggedRun(when), T.ones(2).requires_grad_()
    tensor = make(leaf)
    places = places_of_hooks(leaf, tensor)
    handles = [places[kind](run.hook(number)) for number, kind in enumerate(kinds)]
    first = last = expected_log(kinds)
    if type(change) is int:
        run.change, last = handles[change].remove, last.replace(str(change), "")
        changes = f"removes hook {change}"
    else:
        run.change = lambda: places[change](run.hook(len(kinds)))
        last, changes = expected_log(kinds + change), f"puts on a hook of kind {change}"
    total = tensor.sum()
    where = f"{make.__name__} with the kinds {kinds} of hooks, of which hook {when} {changes}"
    log = run.of(total)
    assert log == first, f"A3: the hooks run in the order {log}, not {first}, for {where}"
    log = run.of(total)
    assert log == last, f"A3: they run next in the order {log}, not {last}, for {where}"
def check_hook_of_this_run(make, first):
    """A hook puts another into the dict of the tensor, which has FIRST of its own in the dict."""
    leaf, log, added = T.ones(2).requires_grad_(), [], {}
    tensor = make(leaf)
    added.update({one: lambda gradient: log.append("own") for one in range(first)})
    tensor.register_hook(lambda gradient: added.update(late=lambda gradient: log.append("late")))
    tensor._backward_hooks = added
    for run in ("this run", "the next run"):
        tensor.sum().backward(None, True)
        expected = ["own"] * first + ["late"] * (run == "the next run")
        assert sorted(log) == sorted(expected), (
            f"A3: in {run} the hooks {log} run, not {expected}, for {make.__name__} and a dict"
            f" with {first} hooks, into which a hook puts another")
        log.clear()
def pairs_of_hook_orders():
    makes = expressions_of("x", """
        x
        x * 2
        x[...]
        Legacy()(x)
        TwoResults.apply(x)[1]
        (x * 1).mul_(3)
        written_by_view(x * 1)""")
    orders = "hpqphq", "qphhqp", "pqhqph", "hhpqpq", "qqhphp", "phqpqh"
    cases = [*itertools.product(orders, range(6), (*range(6), *"hpq"))][::2]
    for number, case in enumerate(cases):
        check_order_of_hooks(makes[number % len(makes)], *case)
    for make, first in itertools.product(makes[1:], (0, 1, 2)):  # a leaf has one dict of hooks
        check_hook_of_this_run(make, first)

#: pairs_of_handed_on [slotcore]: an alias hands on the gradient object that it gets
import itertools
def check_handed_on(make, make_gradient, create_graph):
    """MAKE makes an alias of a leaf. Its hook and that of its node get what the alias got."""
    leaf, seen = T.ones(2).requires_grad_(), []
    node = (leaf * 1).grad_fn.next_functions[0][0]
    leaf.register_hook(seen.append)
    node.register_prehook(lambda gradients: seen.extend(gradients))
    gradient = make_gradient(leaf)
    make(leaf).backward(gradient, True, create_graph)
    where = f"a = {make.__name__} and a.backward({make_gradient.__name__}, True, {create_graph})"
    for hook, handed in zip(("a hook of x", "a pre-hook of its node"), seen, strict=True):
        assert handed is gradient, (
            f"A7: {hook} gets another tensor, {handed.tolist()}, than the alias a got in {where}")
    assert leaf.grad.tolist() == gradient.tolist(), (
        f"A7: x has the gradient {leaf.grad.tolist()}, not {gradient.tolist()}, after {where}")
def pairs_of_handed_on():
    aliases = expressions_of("x", """
        x
        x[...]
        x[...][...]
        T.Tensor(x)
        x.as_subclass(T.nn.Parameter)
        T.Tensor(x.as_subclass(T.nn.Parameter))""")
    gradients = expressions_of("x", """
        x
        x.detach()
        T.ones(2)
        T.ones(2, 2)[1]
        T.ones(2, 2).t()[1]
        T.ones(1).expand(2)
        T.ones(2)._neg_view()
        T.ones(2).as_subclass(T.nn.Parameter)
        T.ones(2).requires_grad_() * 3""")
    for make, make_gradient, create_graph in itertools.product(aliases, gradients, (False, True)):
        check_handed_on(make, make_gradient, create_graph)
