# A7a check_state: AssertionError: A7a: add_() raises RuntimeError, torch 2.6.0
# contract: A7a
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A7a: add_\(\) raises RuntimeError"
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

is_slotcore = False
def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
def raised_by(function):
    try:
        function()
    except RuntimeError as error:
        return error
    return None
class Doubling(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)
    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2
class Writes:
    def __init__(self):
        self.count = 0
class ModelNode:
    def __init__(self, *edges, saved=(), saves_other=False):
        self.edges = [edge for edge in edges if edge is not None]
        self.saved = [(writes, writes.count) for writes in saved]
        self.saves_other, self.is_freed = saves_other, False
    def is_unusable(self):
        return self.is_freed or any(writes.count != count for writes, count in self.saved)
    def free(self):
        self.is_freed = self.saves_other or bool(self.saved)
class State:
    def __init__(self, tensor, source=None, base=None, is_recorded=True):
        self.tensor, self.base, self.is_recorded = tensor, base, is_recorded
        self.writes = Writes() if source is None else source.writes
        self.memory = object() if source is None else source.memory
        self.node, self.placed = None, self.writes.count  # the node is right since that write
        self.is_wanted = self.retains = self.has_grad = False
        self.is_given = False  # by a Function whose argument it was, or a view of such a one
        self.note_version()
    def note_version(self):
        self.version, self.noted = self.tensor._version, self.writes.count
    def requires(self):
        return self.is_wanted or self.node is not None or (
            self.base is not None and self.base.requires())
    def is_stale(self):
        return self.base is not None and self.placed != self.writes.count and (
            self.node is not None or self.base.requires())
    def place(self):
        if self.is_stale():
            self.put_at(ModelNode(self.base.edge()))
        return self.node
    def put_at(self, node):
        self.node, self.placed = node, self.writes.count
    def edge(self):
        """What takes the gradient: a node, or the leaf itself."""
        return self.place() or (self if self.is_wanted else None)
    edges = ()
    def is_unusable(self):  # a leaf that a write has made a result
        return self.place() is not None
    def free(self):
        pass
class States:
    def __init__(self):
        self.records, self.all = True, []
        self.keep(T.ones(2, 2))
        leaf = self.keep(T.ones(2, 2).requires_grad_())
        leaf.is_wanted = True
        self.compute(leaf.tensor * 2, leaf, saves_other=True)
    def pair(self):
        return self.all[-1], self.all[-2]
    def keep(self, tensor, **how):
        self.all.append(State(tensor, **how))
        return self.all[-1]
    def is_recording(self, inputs):
        return self.records and any(one.requires() for one in inputs)
    def view(self, tensor):
        x = self.all[-1]
        made = self.keep(tensor, source=x, base=x.base or x,
                         is_recorded=self.records and x.is_recorded)
        made.is_given = x.is_given
        if self.is_recording([x]):
            made.put_at(ModelNode(x.edge()))
    def compute(self, tensor, *inputs, **how):
        made = self.keep(tensor)
        if self.is_recording(inputs):
            made.put_at(ModelNode(*[one.edge() for one in inputs], **how))
        return made
    def is_refused(self, x, inputs):
        if not self.is_recording(inputs):
            return False
        if x.base is not None and (
                not x.is_recorded or x.requires() and x.base.place() is None):
            return True
        return x.requires() and x.place() is None
    def write(self, name, call, *sources, part=False, saves_result=False, **how):
        x = self.all[-1]
        if part:  # a view of one row, which is made and written
            x = State(x.tensor, x, x.base or x, self.records and x.is_recorded)
            if self.is_recording([self.all[-1]]):
                x.put_at(ModelNode(self.all[-1].edge()))
        inputs = [x, *sources]
        is_refused, is_recorded = self.is_refused(x, inputs), self.is_recording(inputs)
        error = raised_by(call)
        assert (error is not None) == is_refused, f"A7a: {name} raises {type(error).__name__}"
        if is_refused:
            return
        node = None
        if is_recorded:
            node = ModelNode(*[one.edge() for one in inputs], **how)
        x.writes.count += 1
        if not is_recorded:
            return
        if saves_result:
            node.saved.append((x.writes, x.writes.count))
        self.rebase(x, node)
    def rebase(self, x, node):
        """NODE has written x."""
        if x.base is None:
            x.put_at(node)
        else:  # the node of the base runs that of the view
            x.base.put_at(ModelNode(x.base.edge(), node, saves_other=True))
            x.put_at(ModelNode(x.base.node))
class Squaring(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, gradient):
        x, = ctx.saved_tensors
        return gradient * x * 2
class Returning(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, gradient):
        return gradient
def square_by_function(s):
    x = s.all[-1]
    s.compute(Squaring.apply(x.tensor), x, saved=[x.writes])
def write_by_function(s):
    """The forward writes x before anybody knows that this cannot be recorded."""
    x = s.all[-1]
    is_refused, edge = s.is_refused(x, [x]), x.edge()
    error = raised_by(lambda: Doubling.apply(x.tensor))
    assert (error is not None) == is_refused, (
        f"A7a: a Function that writes its argument raises {type(error).__name__}")
    x.writes.count += 1
    if not is_refused and s.is_recording([x]):
        s.rebase(x, ModelNode(edge))
        x.has_grad = x.has_grad and is_slotcore  # PyTorch empties `.grad`
def return_by_function(s):
    """What is given back is a view, or nothing records it, and it is detached."""
    x = s.all[-1]
    is_recorded, base = s.is_recording([x]), x.base or x
    made = s.keep(Returning.apply(x.tensor), source=x, is_recorded=False,
                  base=base if is_recorded or not x.requires() else None)
    made.is_given = made.base is not None
    if is_recorded:
        made.put_at(ModelNode(x.edge()))
state_functions = {
    "square_by_function": square_by_function, "write_by_function": write_by_function,
    "return_by_function": return_by_function,
}
state_views = {
    "whole": lambda x: x[:], "turned": lambda x: x.t(), "expanded": lambda x: x.expand(2, 2),
    "narrow": lambda x: x.narrow(0, 0, 2), "strided": lambda x: x.as_strided((2, 2), (2, 1)),
    "like": lambda x: x.view_as(x) if x.is_contiguous() else x[:],
}
state_results = {"clone": lambda x: x.clone(), "plus_one": lambda x: x + 1}
state_writes = {
    "add": lambda x: x.add_(1), "fill": lambda x: x.fill_(3), "zero": lambda x: x.zero_(),
}
def is_apart(x, y):
    return x is not y and x.memory is not y.memory
def fits_write(x, y):
    """Whether y may be written to x: operands that overlap in part are refused."""
    return is_apart(x, y) or x.tensor.stride() == y.tensor.stride()
def keep_double(s):
    s.compute(s.all[-1].tensor * 2, s.all[-1], saves_other=True)
def multiply_by_two(s):
    s.write("mul_()", lambda: s.all[-1].tensor.mul_(2), saves_other=True)
def keep_product(s):
    x, y = s.pair()
    s.compute(x.tensor * y.tensor, x, y, saved=[
        one.writes for one, other in ((x, y), (y, x)) if other.edge() is not None])
def keep_square(s):
    x = s.all[-1]
    s.compute(x.tensor * x.tensor, x, saved=[x.writes])
def keep_relu(s):
    made = s.compute(s.all[-1].tensor.relu(), s.all[-1])
    if made.node:
        made.node.saved.append((made.writes, made.writes.count))
def keep_sum(s):
    x, y = s.pair()
    s.compute(x.tensor + y.tensor, x, y)
def keep_data(s):
    s.keep(s.all[-1].tensor.data).memory = s.all[-1].memory
def add_other(s):
    x, y = s.pair()
    if fits_write(x, y):
        s.write("add_()", lambda: x.tensor.add_(y.tensor), y)
def multiply_by_other(s):
    x, y = s.pair()
    if fits_write(x, y):
        s.write("mul_()", lambda: x.tensor.mul_(y.tensor), y,
                saved=[y.writes] if x.edge() is not None else [],
                saves_other=y.edge() is not None)  # a copy of what x was
def copy_other(s):
    x, y = s.pair()
    if fits_write(x, y):
        s.write("copy_()", lambda: x.tensor.copy_(y.tensor), y)
def put_other(s):
    x, y = s.pair()
    if is_apart(x, y):
        s.write("x[0] = y[1]", lambda: x.tensor.__setitem__(0, y.tensor[1]), y, part=True)
def put_number(s):
    s.write("x[0] = 2", lambda: s.all[-1].tensor.__setitem__(0, 2.0), part=True)
def write_relu(s):
    s.write("relu_()", s.all[-1].tensor.relu_, saves_result=True)
def want_gradient(s):
    x = s.all[-1]
    x.tensor.requires_grad_()
    x.is_wanted = x.is_wanted or x.place() is None
def refuse_gradient(s):
    x, is_refused = s.all[-1], s.all[-1].place() is not None
    error = raised_by(lambda: x.tensor.requires_grad_(False))
    assert (error is not None) == is_refused, (
        f"A7a: requires_grad_(False) raises {type(error).__name__}")
    x.is_wanted = x.is_wanted and is_refused
def detach_now(s):
    x, is_refused = s.all[-1], s.all[-1].base is not None
    error = raised_by(x.tensor.detach_)
    assert (error is not None) == is_refused, f"A7a: detach_() raises {type(error).__name__}"
    if not is_refused:
        x.node, x.is_wanted, x.retains = None, False, False
def retain_gradient(s):
    x = s.all[-1]
    error = raised_by(x.tensor.retain_grad)
    assert (error is None) == x.requires(), f"A7a: retain_grad() raises {type(error).__name__}"
    x.retains = x.retains or x.place() is not None
def reached_from(edge):
    """The nodes and leaves that a gradient at EDGE gets to."""
    found, left = [], [edge]
    while left:
        one = left.pop()
        if one is not None and not any(one is other for other in found):
            found.append(one)
            left += one.edges
    return found
def total_of(x):
    with T.enable_grad():
        return x.tensor.sum()
def run_backward(s, keeps=True):
    x, total = s.all[-1], total_of(s.all[-1])
    error = raised_by(lambda: total.backward(retain_graph=keeps))
    if not x.requires():
        assert error is not None, "A7a: a backward of what requires no gradient"
        return
    ran = reached_from(x.edge())
    is_wrong = any(one.is_unusable() for one in ran)
    assert (error is not None) == is_wrong, f"A2b: a backward raises {type(error).__name__}"
    if is_wrong:  # some of the gradients are there, and some of the nodes are freed
        s.all.clear()
        return
    for one in s.all:
        is_met = any(it is one and one.is_wanted or one.retains and it is one.node for it in ran)
        one.has_grad = one.has_grad or is_met
    for one in ran:
        if not keeps:
            one.free()
def run_to_other(s):
    """Asks for the gradient of y: only what leads to its place runs."""
    (x, y), found = s.pair(), []
    total, to = total_of(x), y.edge()
    error = raised_by(lambda: found.extend(T.autograd.grad(
        total, [y.tensor], retain_graph=True, allow_unused=True)))
    reached = reached_from(x.edge())
    ran = [] if to is None else [one for one in reached if one is not to and any(
        it is to for it in reached_from(one))]
    is_wrong = not x.requires() or not y.requires() or any(one.is_unusable() for one in ran)
    assert (error is not None) == is_wrong, f"A2a: a gradient raises {type(error).__name__}"
    is_met = not is_wrong and any(one is to for one in reached)
    assert is_met == any(one is not None for one in found), "A7a: a gradient is missing, or new"
    if is_wrong and ran:
        s.all.clear()
    for one in s.all:
        is_seen = any(it is one.node for it in ([*ran, to] if is_met else ran))
        one.has_grad = one.has_grad or one.retains and is_seen
def take_other(s):
    s.all.insert(-1, s.all.pop())
def take_first(s):
    s.all.append(s.all.pop(0))
def take_base(s):
    base = s.all[-1].base
    if base is not None:
        s.all.remove(base)
        s.all.append(base)
state_acts = {
    "nothing": lambda s: None, "ones": lambda s: s.keep(T.ones(2, 2)), "double": keep_double,
    "multiply": multiply_by_two, "run_and_free": lambda s: run_backward(s, keeps=False),
    "run_to_other": run_to_other,
    "record": lambda s: setattr(s, "records", True),
    "record_nothing": lambda s: setattr(s, "records", False),
    "detached": lambda s: s.keep(s.all[-1].tensor.detach(), source=s.all[-1]),
    "data": keep_data, "product": keep_product, "square": keep_square, "relu": keep_relu,
    "sum": keep_sum, "add_other": add_other, "multiply_by_other": multiply_by_other,
    "copy_other": copy_other, "put_other": put_other, "put_number": put_number,
    "relu_in_place": write_relu, "want": want_gradient, "refuse": refuse_gradient,
    "detach": detach_now, "retain": retain_gradient, "run": run_backward, "other": take_other,
    "first": take_first, "base": take_base,
    "write_data": lambda s: s.all[-1].tensor.data.add_(1),
}
def state_step(s, name):
    x = s.all[-1]
    if name in state_views:
        s.view(state_views[name](x.tensor))
    elif name in state_results:
        s.compute(state_results[name](x.tensor), x)
    elif name in state_writes:
        s.write(name, lambda: state_writes[name](x.tensor))
    else:
        {**state_acts, **state_functions}[name](s)
def compare_state(one, name):
    tensor = one.tensor
    found = tensor.requires_grad
    assert found == one.requires(), f"A7a: after {name} requires_grad is {found}"
    found = tensor._base
    expected = None if one.base is None else one.base.tensor
    assert found is expected, f"P1: after {name} a tensor has another base"
    is_changed = tensor._version != one.version
    assert is_changed == (one.writes.count != one.noted), (
        f"A2b: after {name} the version was {one.version}, and is {tensor._version}")
    one.note_version()
    is_leaf = tensor.is_leaf
    assert is_leaf == (one.place() is None), f"A7a: after {name} is_leaf is {is_leaf}"
    if is_leaf or one.retains:  # torch warns of others
        found = tensor.grad is not None
        assert found == one.has_grad, f"A7: after {name} a tensor has a gradient: {found}"
def check_state(*names):
    if in_hermetic():
        return
    s = States()
    for name in names:
        with T.set_grad_enabled(s.records):
            state_step(s, name)
        # A stale result of a Function has no node, and PyTorch makes none for an unrecorded view.
        s.all = [one for one in s.all if not one.is_stale() or one.is_recorded or (
            is_slotcore and not one.is_given)]
        for one in s.all:
            compare_state(one, name)
        if not s.all:
            return

check_state('retain', 'detach', 'add_other', 'nothing', 'nothing')
