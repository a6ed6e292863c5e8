"""What lines about complex numbers may call: gradients of views, beside cells that picked them.

Steps pick, order and turn the numbers of a leaf, and the last one takes them for pairs of real
numbers. All of that is linear, so each gradient is a small whole number: a model has, for each
cell, which number it is of, by which factor, and whether conjugated.
"""

#: Pairs: complex numbers that steps take from a leaf, and the cells of them
class Pairs:
    def __init__(self):
        self.leaf = T.tensor([complex(one, 5 - one) for one in range(6)]).requires_grad_()
        self.now = self.leaf.view(-1)
        self.cells = [(i, 1, False) for i in range(6)]
    def keep(self, tensor, cells):
        self.now, self.cells = tensor, cells
    def multiply(self, factor):
        self.keep(self.now * factor, [(i, one * factor, turned) for i, one, turned in self.cells])
    def rows(self):
        return self.now.size(0) if self.now.dim() else 1
    def width(self):
        return len(self.cells) // self.rows()

#: pair_steps: what may come next; a step that does not fit does nothing
def pairs_folded(p):
    if p.now.dim() == 1 and p.now.is_contiguous() and len(p.cells) % 2 == 0:
        p.keep(p.now.view(2, -1), p.cells)
def pairs_transposed(p):
    if p.now.dim() == 2:
        p.keep(p.now.t(), [p.cells[row * p.width() + column]
                           for column in range(p.width()) for row in range(p.rows())])
def pairs_rest(p):
    if p.now.dim() and p.rows() > 1:
        p.keep(p.now[1:], p.cells[p.width():])
def pairs_row(p):
    if p.now.dim() and p.rows():
        p.keep(p.now[p.rows() - 1], p.cells[-p.width():])
def pairs_conjugated(p):
    p.keep(p.now.conj().resolve_conj(),
           [(i, complex(one).conjugate(), not turned) for i, one, turned in p.cells])
pair_steps = {
    "nothing": lambda p: None, "folded": pairs_folded, "transposed": pairs_transposed,
    "rest": pairs_rest, "row": pairs_row, "conjugated": pairs_conjugated,
    "cloned": lambda p: p.keep(p.now.clone(), p.cells), "doubled": lambda p: p.multiply(2),
    "by_i": lambda p: p.multiply(1j),
}

#: check_pairs: the parts of complex numbers, and the gradient through them (P9, A7)
#> check_pairs: checks
def check_pairs(*names):
    with T.enable_grad():
        p = Pairs()
        for name in names:
            pair_steps[name](p)
        parts = T.view_as_real(p.now)
        count, numbers = 2 * len(p.cells), p.leaf.tolist()
        weights = [float(one) for one in range(1, count + 1)]
        (parts * T.tensor(weights).view(tuple(parts.size()))).sum().backward()
    expected, gradient = [], [0] * 6
    for (i, factor, turned), real, imaginary in zip(p.cells, weights[::2], weights[1::2]):
        number = numbers[i].conjugate() if turned else numbers[i]
        expected += [(factor * number).real, (factor * number).imag]
        part = complex(factor).conjugate() * complex(real, imaginary)
        gradient[i] += part.conjugate() if turned else part
    found = flat_numbers(parts.tolist())
    assert found == expected, f"P9: {' and '.join(names)}: the parts are {found}, not {expected}"
    found = p.leaf.grad.tolist()
    assert found == gradient, f"A7: {' and '.join(names)}: a gradient is {found}, not {gradient}"
