"""What lines about reentries may call: an act on a graph where the graph calls Python."""

#: Reentered: a graph with a hook of each kind and a Function, and what must die with it
class Reentered:
    def __init__(self, point, names):
        self.point, self.names, self.errors, self.ran, self.result = point, names, [], 0, None
        self.a, self.b = T.tensor([2.0, 3.0]), T.tensor([5.0, 7.0])
        self.leaves, self.watched = (self.a, self.b), []
        self.y = self.z = self.total = None
        self.handles, self.runs = [], 1
        for leaf in self.leaves:
            leaf.requires_grad_()
    def make(self):
        a, b = self.leaves
        zeros = Dying(2)
        zeros.fill_(0)
        zeros.runs = [self.die]
        def packs(tensor):
            self.at("pack")
            return tensor
        def unpacks(tensor):
            self.at("unpack")
            return tensor
        with T.autograd.graph.saved_tensors_hooks(packs, unpacks):
            self.y = function_of(self).apply(a, b)
            self.z = self.y * self.y
        self.total = (self.z + a * zeros).sum()
        self.handles = [
            a.register_hook(lambda gradient: self.at("leaf_hook")),
            self.y.register_hook(lambda gradient: self.at("hook")),
            self.z.grad_fn.register_prehook(lambda gradients: self.at("prehook")),
            self.z.grad_fn.register_hook(lambda *gradients: self.at("node_hook")),
            self.y.grad_fn.next_functions[1][0].register_hook(
                lambda *gradients: self.at("accumulated"))]
        self.watch(zeros, a, b, self.y, self.z, self.total, self.y.grad_fn)
    def watch(self, *objects):
        for one in objects:
            sentinel = new_sentinel()
            (one.metadata if hasattr(one, "metadata") else one.__dict__)["held"] = sentinel
            self.watched.append(weakref.ref(sentinel))
    def at(self, point):
        if point != self.point or self.ran:
            return
        self.ran = 1
        for name in self.names:
            try:
                acts_on_graph[name](self)
            except Refusal:
                raise
            except (AttributeError, *refused):
                pass
            except Exception as error:
                self.errors.append(error)
    def die(self):
        try:
            self.at("death")
        except Refusal:
            pass  # an error in __del__ is nobody's
    def leave(self):
        self.leaves = self.a = self.b = self.y = self.z = self.total = self.result = None
        self.handles = self.names = ()
def function_of(run):
    class Product(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            run.at("forward")
            return x * y
        @staticmethod
        def backward(ctx, gradient):
            run.at("backward")
            x, y = ctx.saved_tensors
            run.at("between")
            return gradient * y, gradient * x
    return Product

#: Refusal, acts_on_graph, harmless_acts, repeating_acts: what happens to a graph meanwhile
class Refusal(Exception):
    pass
def raise_refusal(run):
    raise Refusal("an act that raises")
def write_leaf(run):
    with T.no_grad():
        run.a.add_(1)
def remove_handles(run):
    for handle in run.handles:
        handle.remove()
def add_hooks(run):
    run.handles += [run.a.register_hook(lambda gradient: None),
                    run.y.register_hook(lambda gradient: None),
                    run.y.grad_fn.register_hook(lambda *gradients: None)]
def ask_graph(run):
    node = run.total.grad_fn
    return (node.next_functions, node.metadata, run.z.grad_fn.next_functions,
            run.y.grad_fn.needs_input_grad, run.y.grad_fn.saved_tensors)
def run_again(run):
    run.total.backward(retain_graph=True)
    run.runs += 1
def drop_results(run):
    run.y = run.z = run.total = run.result = None
def drop_leaves(run):
    run.a = run.b = run.leaves = None
acts_on_graph = {
    "nothing": lambda run: None, "collects": lambda run: gc.collect(), "asks": ask_graph,
    "drops_results": drop_results, "drops_leaves": drop_leaves, "adds_hooks": add_hooks,
    "removes_hooks": remove_handles, "differentiates": lambda run: T.autograd.grad(
        run.total, [run.a, run.b], retain_graph=True),
    "runs": run_again,
    "frees": lambda run: run.total.backward(),
    "clears": lambda run: run.y.grad_fn.maybe_clear_saved_tensors(), "writes": write_leaf,
    "drops_grad": lambda run: setattr(run.a, "grad", None),
    "sets_grad": lambda run: setattr(run.b, "grad", T.ones(2)),
    "detaches": lambda run: run.y.detach_(), "stops": lambda run: run.a.requires_grad_(False),
    "sets_data": lambda run: setattr(run.a, "data", T.ones(2)),
    "sets": lambda run: run.a.set_(T.ones(3)), "resizes": lambda run: storage_of(
        run.y).resize_(0),
    "swaps": lambda run: T.utils.swap_tensors(run.b, T.ones(2)), "raises": raise_refusal,
    "retains": lambda run: run.z.retain_grad(),
    "extends": lambda run: setattr(run, "result", run.y * run.z),
}
repeating_acts = ("differentiates", "runs", "frees")  # they need a graph that is not freed
harmless_acts = ("nothing", "collects", "asks", "drops_results", "drops_leaves", "adds_hooks",
                 "removes_hooks", "differentiates", "retains", "extends", "runs")

#: end_tasks [slotcore]: a backward that failed has left no task
def end_tasks():
    pass

#: end_tasks [torch]: the next backward of a thread frees the tasks of the one that failed
def end_tasks():
    trivial_backward()

#: reenter, check_reentered: a backward that acts on its own graph is right (A5, A7, P5)
#> check_reentered: collects finalizes checks
def reenter(point, *names):
    ended = None
    with T.enable_grad():
        run = Reentered(point, names)
        leaves = run.leaves
        try:
            run.make()
            run.total.backward(retain_graph=any(act in repeating_acts for act in names))
            ended = [one.grad.tolist() for one in leaves]
        except (AttributeError, Refusal, *refused):
            assert run.ran, "A5: a backward raises"
    assert run.errors == [], f"A5: {names} in {point} raise {run.errors}"
    if all(act in harmless_acts for act in names):
        expected = [[number * run.runs for number in row]
                    for row in ([100.0, 294.0], [40.0, 126.0])]
        assert ended == expected, (
            f"A7: after {names} in {point} the gradients are {ended}")
    watched = run.watched
    run.leave()
    del run, leaves
    end_tasks()
    collect_all()
    assert not any(one() for one in watched), f"P5: after {names} in {point} something is left"
def check_reentered(place, *words):
    errors, done = [], []
    def run():
        if done:
            return  # a hook that packs what the graph saves
        done.append(place)
        try:
            reenter(*words)
        except Exception as error:
            errors.append(error)
    if not in_hermetic():
        contexts[place](run)
    for error in errors:
        raise error
