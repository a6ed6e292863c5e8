# A3b check_results: AssertionError: A3b: a backward from results raises an error, torch 1.13.0a0
# contract: A3b
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A3b: a backward from results raises an error"
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

import copy, pickle
def copied(one, copy=copy.copy):
    twin = copy(one)
    serial = getattr(one, "serial", None)
    if twin is not one and serial is not None and getattr(twin, "serial", None) is serial:
        twin.serial = -1
    return twin
def deep_copied(one):
    return copied(one, copy.deepcopy)
def pickled(one):
    return copied(one, lambda one: pickle.loads(pickle.dumps(one)))
def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
def raised_by(function):
    try:
        function()
    except RuntimeError as error:
        return error
    return None
class Sharing(T.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x.sum(), x * y
    @staticmethod
    def backward(ctx, of_sum, of_product):
        x, y = ctx.saved_tensors
        sizes = [tuple(one.size()) for one in (of_sum, of_product)]
        assert sizes == [(), tuple(x.size())], f"A8: gradients of a Function have sizes {sizes}"
        return of_sum.expand(tuple(x.size())) + of_product * y, of_product * x
class Doubling(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)
    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2
class Wiping(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.zero_()
    @staticmethod
    def backward(ctx, gradient):
        return None
def former_of(e):
    tensor, cells = e.former[-2] if len(e.former) > 1 else e.former[-1]
    return tensor, [cell[0] for cell in cells], tensor.size() == e.now.size()
def squared(e):
    if e.is_small():
        e.made(e.now * e.now, e.products(e.numbers()))
def by_leaf(e):
    if e.is_small():
        part, numbers = e.part()
        e.made(e.now * part, e.products(numbers))
def by_leaf_in_place(e):
    if e.is_small():
        part, numbers = e.part()
        e.now.mul_(part)
        e.write(e.products(numbers))
def copied_in_place(e):
    part, numbers = e.part()
    e.now.copy_(part)
    e.write(numbers)
def plus_former(e):
    other, numbers, fits = former_of(e)
    if fits and e.is_small():
        e.made(e.now + other, e.sums(numbers))
def plus_former_in_place(e):
    other, numbers, fits = former_of(e)
    if fits and e.is_small():
        e.now.add_(other)
        e.write(e.sums(numbers))
def doubled_in_place(e):
    if e.is_small():
        e.now.mul_(2)
        e.write(e.doubled())
def doubled_unrecorded(e):
    if e.is_small():
        with T.no_grad():
            e.now.mul_(2)
        e.write((2 * a, b, c) for a, b, c in e.numbers())
def relu_in_place(e):
    e.now.relu_()
    e.write(e.positive())
def filled(e):
    e.now.fill_(3)
    e.write((3, 0, 0) for _ in e.cells)
def back(e):
    if len(e.former) > 1:
        e.former.insert(0, e.former.pop())
    e.now, e.cells = e.former[-1]
def flat(e):
    if e.now.is_contiguous():
        e.keep(e.now.view(-1), e.cells)
def folded(e):
    if e.now.is_contiguous() and len(e.cells) % 2 == 0:
        e.keep(e.now.view(2, -1), e.cells)
def turned(e):
    if e.now.dim() == 2:
        rows = e.now.size(0)
        columns = len(e.cells) // rows
        e.keep(e.now.t(), [e.cells[row * columns + column]
                           for column in range(columns) for row in range(rows)])
def tail(e):
    if e.now.dim() and e.now.size(0) > 1:
        count = len(e.cells) // e.now.size(0)
        e.keep(e.now.narrow(0, 1, e.now.size(0) - 1), e.cells[count:])
def row(e):
    if e.now.dim() and e.now.size(0):
        count = len(e.cells) // e.now.size(0)
        e.keep(e.now.select(0, 0), e.cells[:count])
def wide(e):
    if e.now.dim() and e.now.size(0) == 1 and len(e.cells) < 4:
        e.keep(e.now.expand(2, *tuple(e.now.size())[1:]), e.cells * 2)
def shared_out(e):
    if e.cells and e.is_small():
        part, numbers = e.part()
        total, product = Sharing.apply(e.now, part)
        sums, products = tuple(map(sum, zip(*e.numbers()))), e.products(numbers)
        e.made(total, [sums])
        e.made(product, products)
def doubled_by_function(e):
    if e.is_small():
        Doubling.apply(e.now)
        e.write(e.doubled())
def wiped_by_function(e):
    Wiping.apply(e.now)
    e.write((0, 0, 0) for _ in e.cells)
def squared_packed(e):
    # Copies: PyTorch does not notice writes to what a hook has kept (A2e).
    with T.autograd.graph.saved_tensors_hooks(lambda saved: saved.detach().clone(),
                                              lambda copied: copied):
        squared(e)
steps = {
    "nothing": lambda e: None, "squared": squared, "by_leaf": by_leaf, "plus_former": plus_former,
    "relu": lambda e: e.made(e.now.relu(), e.positive()),
    "cloned": lambda e: e.made(e.now.clone(), e.numbers()),
    "flat": flat, "folded": folded, "turned": turned, "tail": tail, "row": row, "wide": wide,
    "back": back, "doubled_in_place": doubled_in_place, "by_leaf_in_place": by_leaf_in_place,
    "plus_former_in_place": plus_former_in_place, "copied_in_place": copied_in_place,
    "relu_in_place": relu_in_place, "filled": filled, "doubled_unrecorded": doubled_unrecorded,
    "shared_out": shared_out, "squared_packed": squared_packed,
    "doubled_by_function": doubled_by_function, "wiped_by_function": wiped_by_function,
}
class ResultsOfSizes(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return tuple(x.expand(times) * times for times in (1, 2, 3))
    @staticmethod
    def backward(ctx, *gradients):
        return sum((one * times).sum() for times, one in enumerate(gradients, 1)).view(1)
def hook_that_notes(log, number, factor, size):
    def hook(gradient):
        log.append((number, None if gradient is None else gradient.tolist()))
        if factor is None:
            return T.ones(size) * 3
        if gradient is not None and factor != 1:
            return gradient * factor
    return hook
class Results:
    def __init__(self):
        self.leaf = T.tensor([2.0]).requires_grad_()
        self.results = ResultsOfSizes.apply(self.leaf)
        self.log, self.factors, self.places = [], [], []  # the last two are of each hook
        self.handles, self.hooks = [[], [], []], [None, None, None]  # of each result
        self.run = []  # a result and its hooks, in the order in which the node got them
        self.used, self.started, self.retained = {0, 1, 2}, [], set()
    def nothing(self):
        pass
    def register(self, place, factor):
        number = len(self.factors)
        self.factors.append(factor)
        self.places.append(place)
        hook = hook_that_notes(self.log, number, factor, place + 1)
        self.handles[place].append((self.results[place].register_hook(hook), number))
        if self.hooks[place] is None:
            self.hooks[place] = []
            self.run.append((place, self.hooks[place]))
        self.hooks[place].append(number)
    def hook(self, place):
        self.register(place, 1)
    def double(self, place):
        self.register(place, 2)
    def replace(self, place):
        self.register(place, None)
    def remove(self, place):
        if self.handles[place]:
            handle, number = self.handles[place].pop()
            handle.remove()
            for _, hooks in self.run:
                if number in hooks:
                    hooks.remove(number)
    def share(self, place, other):
        if not hasattr(T, "_preservation"):  # torch promises nothing of the private attribute
            return
        self.results[other]._backward_hooks = self.results[place]._backward_hooks
        hooks = self.hooks[other] = self.hooks[place]
        is_run = any(one == other and each is hooks for one, each in self.run)
        if hooks is not None and not is_run:
            self.run.append((other, hooks))
    def retain(self, place):
        self.results[place].retain_grad()
        self.retained.add(place)
    def start(self, place):
        self.started.append(place)
    def skip(self, place):
        self.used.discard(place)
    def gradient(self, place):
        number = 10.0 ** place * (place in self.used) + 7 * self.started.count(place)
        return number or None
    def backward(self):
        """Runs a backward from the sum of what is used, and from each result that is started."""
        sums = [(self.results[place] * 10.0 ** place).sum() for place in sorted(self.used)]
        starts = [self.results[place] for place in self.started]
        T.autograd.backward([*sums, *starts], [*(None for _ in sums), *(
            T.ones(one.numel()) * 7 for one in starts)])
    def compare(self, error):
        gradients, heard = [self.gradient(place) for place in range(3)], []
        is_wrong = False  # a hook may not replace a missing gradient, nor change a size
        for place, hooks in self.run:
            for number in hooks:
                given, factor = gradients[place], self.factors[number]
                heard.append((number, None if given is None else [given] * (place + 1)))
                is_other_size = self.places[number] != place
                is_wrong = is_wrong or factor is None and (given is None or is_other_size)
                gradients[place] = 3.0 if factor is None else given and given * factor
        assert (error is not None) == is_wrong, (
            f"A3b: a backward from results raises {'nothing' if is_wrong else 'an error'}")
        if error is not None:
            return
        assert self.log == heard, f"A3b: hooks are given {self.log}, and not {heard}"
        for place in self.retained:
            found, given = self.results[place].grad, gradients[place]
            assert (found is None) == (given is None), f"A3g: retained is {found}, and not {given}"
            assert found is None or found.tolist() == [given] * (place + 1), (
                f"A3g: a retained gradient is {found.tolist()}, and not {given}")
        total = sum((place + 1) ** 2 * (given or 0) for place, given in enumerate(gradients))
        found = self.leaf.grad.tolist()
        assert found == [total], f"A7: a gradient through results is {found}, and not {total}"
def check_results(*steps):
    if in_hermetic():
        return
    with T.enable_grad():
        one = Results()
        for step in steps:
            verb, *places = step.split()
            getattr(one, verb)(*map(int, places))
        if one.used or one.started:
            one.compare(raised_by(one.backward))
def sent(tensor):
    rebuild, arguments = T.multiprocessing.reductions.reduce_tensor(tensor)
    return rebuild(*arguments)
def through_file(objects, saving, loading):
    import io
    file = io.BytesIO()
    T.save(objects, file, **saving)
    file.seek(0)
    return T.load(file, **loading)
def saved(objects):
    return through_file(objects, {}, {})
def pickled_together(objects):
    return pickle.loads(pickle.dumps(objects))
def saved_in_old_format(objects):
    return through_file(objects, {"_use_new_zipfile_serialization": False},
                        {"weights_only": False})
def saved_to_fakes(objects):
    module = __import__("torch._subclasses", fromlist=["FakeTensorMode"])
    with module.FakeTensorMode():
        try:
            return saved(objects)
        except AssertionError as error:  # what it says of a class that a mode does not know
            raise TypeError("no fakes") from error
def function_by(forward, set_up, backward, tangent):
    def forward_with_ctx(ctx, *arguments):
        results = forward(*arguments)
        set_up(ctx, arguments, results)
        return results
    rules = {"forward": forward_with_ctx, "backward": backward, "jvp": tangent}
    if hasattr(T, "func"):
        rules.update(forward=forward, setup_context=set_up)
    rules = {name: staticmethod(rule) for name, rule in rules.items()}
    return type("Own", (T.autograd.Function,), {"generate_vmap_rule": True, **rules}).apply
def saves(ctx, *tensors):
    ctx.save_for_backward(*tensors)
    ctx.save_for_forward(*tensors)
def gives_what_is_needed(ctx, given):
    both = reversed(ctx.saved_tensors)
    return tuple(given * one if needed else None
                 for one, needed in zip(both, ctx.needs_input_grad))
def tangent_of_product(ctx, one, other):
    first, second = ctx.saved_tensors
    return (0 if one is None else one * second) + (0 if other is None else other * first)
product = function_by(lambda a, b: a * b, lambda ctx, arguments, result: saves(ctx, *arguments),
                      gives_what_is_needed, tangent_of_product)

check_results('retain 1', 'skip 1', 'nothing', 'nothing', 'nothing')
