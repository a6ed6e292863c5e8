"""What lines about expressions may call: derivatives, compared with those of truncated series.

An expression runs on tensors and on Taylor series at once (dual numbers, with a second order:
Griewank and Walther, Evaluating Derivatives, chapter 13). A tensor of the series is a list of
cells, and a view has cells of its base, so the series share no rule of layouts with the subject.
No other line reaches the tensors of an expression: a write there would not reach the series.
"""

#: series_product, SERIES_MAX: numbers a + b h + c h h, to the second order in h
SERIES_MAX = 10 ** 6
def series_product(x, y):
    return x[0] * y[0], x[0] * y[1] + x[1] * y[0], x[0] * y[2] + x[1] * y[1] + x[2] * y[0]

#: Expression: a tensor that steps compute from a leaf, and its series along one direction
class Expression:
    values, direction = (3, -2, 1, 2, -1, 2), (1, 2, -1, 3, 1, -2)
    def __init__(self):
        with T.enable_grad():
            self.leaf = T.tensor([float(one) for one in self.values], dtype=T.float64)
            self.leaf.requires_grad_()
            self.leaf_cells = [[(a, b, 0)] for a, b in zip(self.values, self.direction)]
            self.former = []
            self.keep(self.leaf * 1, [[cell[0]] for cell in self.leaf_cells])
    def keep(self, tensor, cells):
        self.former.append((tensor, cells))
        self.now, self.cells = tensor, cells
    def made(self, tensor, numbers):
        self.keep(tensor, [[one] for one in numbers])
    def write(self, numbers):
        for cell, number in zip(self.cells, list(numbers)):
            cell[0] = number
    def part(self):
        count = len(self.cells)
        part = self.leaf.narrow(0, 0, count).view(tuple(self.now.size()))
        return part, [cell[0] for cell in self.leaf_cells[:count]]
    def numbers(self):
        return [cell[0] for cell in self.cells]
    def products(self, others):
        return [series_product(x, y) for x, y in zip(self.numbers(), others)]
    def is_small(self):
        return all(abs(one) < SERIES_MAX for number in self.numbers() for one in number)
    def doubled(self):
        return [tuple(2 * one for one in number) for number in self.numbers()]
    def sums(self, others):
        return [tuple(map(sum, zip(x, y))) for x, y in zip(self.numbers(), others)]
    def positive(self):
        return [number if number[0] > 0 else (0, 0, 0) for number in self.numbers()]
    def do(self, step):
        with T.enable_grad():
            steps[step](self)

#: Sharing, Doubling, Wiping: Functions with two results, that write, and that have no gradient
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

#: steps: what an expression may do next; a step that does not fit does nothing
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

#: flat_numbers, check_expression: values, first and second derivatives are those of the series (A7)
#> check_expression: checks
def flat_numbers(value):
    return [one for part in value for one in flat_numbers(part)] if type(value) is list else [value]
def along(direction, gradient):
    numbers = flat_numbers(gradient.tolist())
    return sum(x * y for x, y in zip(direction, numbers))
def derivative(total, e):
    # Also of two results of one Function, and of one tensor twice.
    others = [tensor for tensor, _ in e.former if tensor.requires_grad]
    found, *_, again = T.autograd.grad(total, [e.leaf, *others, e.leaf], create_graph=True,
                                       allow_unused=True)
    both = [None if one is None else one.tolist() for one in (found, again)]
    assert both[0] == both[1], f"A7: one tensor has the gradients {both}"
    return T.zeros(len(e.leaf_cells), dtype=T.float64) if found is None else found
def check_expression(e):
    numbers = e.numbers()
    assert flat_numbers(e.now.tolist()) == [a for a, _, _ in numbers], (
        f"A7: an expression is {e.now.tolist()}, and its series has {[a for a, _, _ in numbers]}")
    weights = range(1, len(numbers) + 1)
    found, expected = [], [sum(w * one[order] * order for w, one in zip(weights, numbers))
                           for order in (1, 2)]
    with T.enable_grad():
        weight = T.tensor([float(one) for one in weights], dtype=T.float64)
        total = (e.now * weight.view(tuple(e.now.size()))).sum()
        way = T.tensor([float(one) for one in e.direction], dtype=T.float64)
        try:
            while len(found) < 2 and total.requires_grad:
                gradient = derivative(total, e)
                found.append(along(e.direction, gradient))
                total = (gradient * way).sum()
        except RuntimeError as error:
            if "place" not in str(error):  # a saved tensor was written (A2b)
                raise
    assert found == expected[:len(found)], (
        f"A7: derivatives along {e.direction} are {found}, and the series has {expected}")

#: check_steps: the same for an expression that one line makes of five steps (A7)
#> check_steps: checks
def check_steps(*names):
    if in_hermetic():
        return  # a tensor that owns itself in C++ has no wrapper by which the collector finds it
    expression = Expression()
    for name in names:
        expression.do(name)
    check_expression(expression)
