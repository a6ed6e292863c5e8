"""What lines about views may call: views of views of one memory, beside nested lists of cells.

The model has no strides: a view of it picks cells of another one by their indices, and what is
written to a cell shows in each list that has it.
"""

#: ViewCell, cells_nested, cells_in_order, numbers_of_cells, product_of: nested lists of cells
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

#: NestedView: a view of the model, with the methods of a tensor that make views
class NestedView:
    def __init__(self, memory, sizes, pick):
        if len(sizes) > (8 if is_slotcore else 64):
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

#: viewed_by, compare_views, compare_places, write_end, write_all: a step on both
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
    if is_shared and not is_slotcore:  # torch advises against it, and takes some
        return
    error = raised_by(lambda: tensor.add_(0.5))
    assert (error is not None) == is_shared, (
        f"A7: a write of all elements after {step} raises {error!r}, where"
        f" {'' if is_shared else 'no '}elements share memory")
    for cell in () if error else model.in_order:
        cell.number += 0.5

#: compare_steps: errors, sizes, places and elements after each view, in a model of a class
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
        if is_slotcore:  # torch does not say which of two errors comes
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

#: check_viewing: errors, sizes, places and elements after each of four views (P9, P8)
#> check_viewing: checks
def check_viewing(*steps):
    compare_steps(NestedView, steps)

#: check_index_refused: an index that reading refuses writes nothing (P8)
#> check_index_refused: checks
def check_index_refused(make, index):
    one = make()
    try:
        one[index]
    except refused:
        before = one.tolist()
    else:
        return
    try:
        one[index] = 3
    except refused:
        pass
    found = one.tolist()
    assert found == before, f"P8: {before} is {found} after a write to an index that is not read"
