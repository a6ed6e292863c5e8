# deadlock in thread_main, torch 2.6.0
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys, weakref
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^Timeout\ \("
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

# It hangs. If it does, this says in which line each thread is, and ends it.
import faulthandler
faulthandler.dump_traceback_later(3, exit=True)

collect_all = gc.collect
refused = (IndexError, RuntimeError, TypeError, ValueError)
def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
class Sentinel:
    pass
class Dying(T.Tensor):
    def __del__(self):
        for run in self.__dict__.pop("runs", ()):
            run()
def dying(run):
    one = Dying(1)
    one.runs = [run]
    return one
def in_death(run):
    dying(run)
def in_hook(run):
    with T.enable_grad():
        leaf = T.ones(1).requires_grad_()
        leaf.register_hook(lambda _: run())
        (leaf * 1).sum().backward()
def in_node_hook(run):
    with T.enable_grad():
        result = T.ones(1).requires_grad_() * 1
        result.grad_fn.register_hook(lambda *_: run())
        result.sum().backward()
def in_pack(run):
    with T.enable_grad():
        leaf = T.ones(1).requires_grad_()
        with T.autograd.graph.saved_tensors_hooks(lambda one: (run(), one)[1],
                                                  lambda one: one):
            leaf * leaf
def in_unpack(run):
    with T.enable_grad():
        leaf = T.ones(1).requires_grad_()
        with T.autograd.graph.saved_tensors_hooks(lambda one: one,
                                                  lambda one: (run(), one)[1]):
            square = leaf * leaf
        square.sum().backward()
contexts = {
    "nothing": lambda run: run(), "death": in_death, "hook": in_hook,
    "node_hook": in_node_hook, "pack": in_pack, "unpack": in_unpack,
}
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
            sentinel = Sentinel()
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
class Refusal(Exception):
    pass
def raise_refusal(run):
    raise Refusal("an act that raises")
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
    "frees": lambda run: run.total.backward(), "raises": raise_refusal,
    "retains": lambda run: run.z.retain_grad(),
    "extends": lambda run: setattr(run, "result", run.y * run.z),
}
repeating_acts = ("differentiates", "runs", "frees")  # they need a graph that is not freed
harmless_acts = ("nothing", "collects", "asks", "drops_results", "drops_leaves", "adds_hooks",
                 "removes_hooks", "differentiates", "retains", "extends", "runs")
def end_tasks():
    trivial_backward()
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
def trivial_backward():
    with T.inference_mode(False), T.enable_grad():
        T.ones(1).requires_grad_().sum().backward()

check_reentered('nothing', 'unpack', 'nothing', 'differentiates')
