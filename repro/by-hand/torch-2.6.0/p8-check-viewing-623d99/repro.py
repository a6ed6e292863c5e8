# P8 check_viewing: AssertionError: P8: expand(N, -N) of the size () raises nothing, and not RuntimeError, torch 2.6.0
# contract: P8
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: P8: expand\((?:N|\d+), \-(?:N|\d+)\) of the size \(\) raises nothing, and not RuntimeError"
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
class ViewCell:
    def __init__(self, place):
        self.place, self.number = place, float(place)
def cells_nested(sizes, pick, at=()):
    if len(at) == len(sizes):
        return pick(at)
    return [cells_nested(sizes, pick, (*at, i)) for i in range(sizes[len(at)])]
def cells_in_order(cells, rank):
    if rank == 0:
        return [cells]
    for _ in range(rank - 1):
        cells = [part for row in cells for part in row]
    return cells
def numbers_of_cells(cells, rank):
    if rank == 0:
        return cells.number
    if rank == 1:
        return [cell.number for cell in cells]
    return [numbers_of_cells(part, rank - 1) for part in cells]
def product_of(sizes):
    product = 1
    for size in sizes:
        product *= size
    return product
class NestedView:
    def __init__(self, memory, sizes, pick):
        if len(sizes) > (8 if hasattr(T, "_preservation") else 64):
            raise RuntimeError("a tensor has too many dimensions")
        if min(sizes, default=0) < 0 or product_of(sizes) >= 2**61:
            raise RuntimeError("no sizes")
        self.memory, self.sizes, self.rank = memory, tuple(sizes), len(sizes)
        self.cells = cells_nested(self.sizes, pick)
        self.in_order = cells_in_order(self.cells, self.rank)
        self.start = self.strides = None  # of the tensor, from when it was first compared
    def at(self, index):
        cells = self.cells
        for i in index:
            cells = cells[i]
        return cells
    def part(self, sizes, place):
        return type(self)(self.memory, sizes, lambda at: self.at(place(at)))
    def dim(self, dim):
        return range(self.rank or 1)[dim]
    def take(self, dim, chosen):
        return self.part((*self.sizes[:dim], len(chosen), *self.sizes[dim + 1:]),
                         lambda at: (*at[:dim], chosen[at[dim]], *at[dim + 1:]))
    def narrow(self, dim, start, length):
        if not self.rank:
            raise RuntimeError("no dimension to narrow")
        dim = self.dim(dim)
        size = self.sizes[dim]
        if not -size <= start <= size:
            raise IndexError("no such start")
        rest = range(size)[start:]
        if not 0 <= length <= len(rest):
            raise RuntimeError("no such length")
        return self.take(dim, rest[:length])
    def select(self, dim, index):
        if not self.rank:
            raise IndexError("no dimension to select of")
        dim = self.dim(dim)
        index = range(self.sizes[dim])[index]
        return self.part((*self.sizes[:dim], *self.sizes[dim + 1:]),
                         lambda at: (*at[:dim], index, *at[dim:]))
    def __getitem__(self, key):
        if key is ...:
            return self.detach()
        if not isinstance(key, slice):
            return self.select(0, key)
        if key.step is not None and key.step <= 0:
            raise ValueError("no such step")
        if not self.rank:
            raise IndexError("no dimension to slice")
        return self.take(0, range(self.sizes[0])[key])
    def transpose(self, a, b):
        order = list(range(self.rank or 1))
        order[a], order[b] = order[b], order[a]
        del order[self.rank:]
        return self.part([self.sizes[dim] for dim in order], lambda at: [at[dim] for dim in order])
    def t(self):
        if self.rank > 2:
            raise RuntimeError("too many dimensions")
        return self.transpose(0, -1)
    def expand(self, *sizes):
        if sizes and isinstance(sizes[0], tuple):
            sizes, = sizes
        elif not sizes:
            raise TypeError("sizes are missing")
        added = len(sizes) - self.rank
        if added < 0:
            raise RuntimeError("too few sizes")
        wanted = [*sizes[:added], *(old if size == -1 else size
                                    for old, size in zip(self.sizes, sizes[added:]))]
        if any(old not in (1, size) for old, size in zip(self.sizes, wanted[added:])):
            raise RuntimeError("no such sizes")
        return self.part(wanted, lambda at: [0 if size == 1 else index for index, size in
                                             zip(at[added:], self.sizes)])
    def view(self, *sizes):
        if sizes == (T.float32,):
            return self.detach()
        if sizes and isinstance(sizes[0], tuple):
            sizes, = sizes
        elif not sizes:
            raise TypeError("sizes are missing")
        cells, known = self.in_order, product_of(size for size in sizes if size != -1)
        if sizes.count(-1) == 1 and known > 0:
            sizes = [len(cells) // known if size == -1 else size for size in sizes]
        if min(sizes, default=0) < 0 or product_of(sizes) != len(cells):
            raise RuntimeError("no such sizes")
        left = iter(cells)
        made = type(self)(self.memory, sizes, lambda _: next(left))
        if not all(made.is_even(dim) for dim in range(made.rank)):
            raise RuntimeError("no strides")
        return made
    def is_even(self, dim):
        """Whether the memory has the same distance between all neighbours along a dimension."""
        if 0 in self.sizes:
            return True
        turned = self.transpose(0, dim)
        rows = [[cell.place for cell in cells_in_order(row, self.rank - 1)] for row in turned.cells]
        return len({after - before for row, following in zip(rows, rows[1:])
                    for before, after in zip(row, following)}) <= 1
    def view_as(self, other):
        return self.view(tuple(other.size()))
    def as_strided(self, sizes, strides, start=None):
        start = self.start if start is None else start
        if len(sizes) != len(strides) or min((*sizes, *strides, start)) < 0:
            raise RuntimeError("no such strides")
        last = start + sum((size - 1) * stride for size, stride in zip(sizes, strides))
        if 0 not in sizes and last >= len(self.memory):
            raise RuntimeError("the memory ends before")
        return type(self)(self.memory, sizes, lambda at: self.memory[
            start + sum(index * stride for index, stride in zip(at, strides))])
    def detach(self):
        return self.part(self.sizes, lambda at: at)
    @property
    def data(self):
        return self.detach()
def viewed_by(step, one):
    try:
        return eval(f"one{'' if step[0] == '[' else '.'}{step}", {"one": one, "T": T}), None
    except (IndexError, RuntimeError, ValueError, TypeError) as error:
        return None, error
def compare_views(step, pairs):
    for tensor, model in pairs:
        sizes, numbers = tensor.size(), numbers_of_cells(model.cells, model.rank)
        assert sizes == model.sizes, f"P9: after {step} sizes are {sizes}, and not {model.sizes}"
        assert tensor.numel() == len(model.in_order), f"P9: numel() is wrong after {step}"
        found = tensor.tolist()
        assert found == numbers, f"P9: after {step} elements are {found}, and not {numbers}"
        start, strides = tensor.storage_offset(), tensor.stride()
        if model.strides is None:
            model.start, model.strides = start, strides
            compare_places(step, model)
        assert (start, strides) == (model.start, model.strides), f"P8: {step} moves another view"
def compare_places(step, model):
    expected = [cell.place for cell in model.in_order]
    found = cells_in_order(cells_nested(model.sizes, lambda at: model.start + sum(
        index * stride for index, stride in zip(at, model.strides))), model.rank)
    assert found == expected, f"P9: after {step} elements are at {found}, and not at {expected}"
def write_end(tensor, model, end, number):
    """Writes NUMBER to the first element, or to the last one if END is -1."""
    if model.in_order:
        for _ in model.sizes[1:]:
            tensor = tensor[end]
        if model.rank:
            tensor[end] = number
        else:
            tensor.fill_(number)
        model.in_order[end].number = number
def write_all(step, tensor, model):
    """Adds to all elements; that is an error if a cell is there twice."""
    is_shared = len({*map(id, model.in_order)}) < len(model.in_order)
    if is_shared and not hasattr(T, "_preservation"):  # torch advises against it, and takes some
        return
    error = raised_by(lambda: tensor.add_(0.5))
    assert (error is not None) == is_shared, (
        f"A7: a write of all elements after {step} raises {error!r}, where"
        f" {'' if is_shared else 'no '}elements share memory")
    for cell in () if error else model.in_order:
        cell.number += 0.5
def compare_steps(views, steps):
    if in_hermetic():
        return
    whole = T.tensor([[0., 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]])
    memory = [ViewCell(place) for place in range(12)]
    model = views(memory, (4, 3), lambda at: memory[3 * at[0] + at[1]])
    pairs = [(whole, model), (whole[1:3], model[1:3])]
    compare_views("nothing", pairs)
    for count, step in enumerate(steps):
        if step == "nothing":
            continue
        made, error = viewed_by(step, pairs[-1][0])
        expected, wrong = viewed_by(step, pairs[-1][1])
        sizes = pairs[-1][1].sizes
        is_same = (error is None) == (wrong is None)
        if hasattr(T, "_preservation"):  # torch does not say which of two errors comes
            is_same = type(error) is type(wrong)
        found, hoped = (type(one).__name__ if one else "nothing" for one in (error, wrong))
        assert is_same, f"P8: {step} of the size {sizes} raises {found}, and not {hoped}"
        if error is None:
            pairs.append((made, expected))
        compare_views(step, pairs[-1:])  # the others are compared once it is written
        for end in (-1, 0):
            write_end(*pairs[-1], end, 100. + 2 * count + end)
        write_all(step, *pairs[-1])
        compare_views(f"{step} and writes", pairs)
def check_viewing(*steps):
    compare_steps(NestedView, steps)
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

check_viewing('as_strided((), ())', 'expand(0, -1)', 'nothing', 'nothing')
