"""Layouts, whose elements may share memory, and views, against places and numbers of Python."""

#: pairs_of_every_layout [slotcore]: sizes and strides say what is contiguous, viewed and written
import itertools
def places_of_elements(sizes, strides):
    """The place of each element in its storage, in the order of the indices."""
    return [row * strides[0] + column * strides[1]
            for row in range(sizes[0]) for column in range(sizes[1])]
class LayoutInPlane:
    """Two sizes, and two strides that may let elements share memory."""
    def __init__(self, sizes, strides):
        self.sizes, self.strides = sizes, strides
        self.places = places_of_elements(sizes, strides)
    def __str__(self):
        return f"the sizes {self.sizes} and the strides {self.strides}"
    def on(self, device, count=32):
        """A tensor of this layout, whose storage has COUNT elements."""
        return T.zeros(count, device=device).as_strided(self.sizes, self.strides)
    def may_share_memory(self):
        """Whether a stride does not pass over all that the smaller strides reach."""
        reached = 0
        for stride, size in sorted(zip(self.strides, self.sizes)):
            if size > 1:
                if stride <= reached:
                    return bool(self.places)
                reached += stride * (size - 1)
        return False
    def can_have_sizes(self, rows, columns):
        """Whether there are strides with which ROWS by COLUMNS reach the same places."""
        strides = (self.places[columns] if rows > 1 else 0, self.places[1] if columns > 1 else 0)
        return places_of_elements((rows, columns), strides) == self.places
def layouts_in_plane():
    """Sizes and strides of 0 and 1 among others: the stride of a size of 1 counts for nothing."""
    return [LayoutInPlane((rows, columns), tuple(strides))
            for rows, columns, *strides in itertools.product(
                (0, 1, 2, 3), (1, 3), range(5), range(4))]
def check_contiguous(layout, device):
    expected = layout.places == list(range(len(layout.places)))
    found = layout.on(device).is_contiguous()
    assert found is expected, f"P9: is_contiguous() is {found} for {layout} on {device}"
def check_written_layout(layout, device):
    """add_() refuses elements that may share memory."""
    expected = RuntimeError if layout.may_share_memory() else None
    found = class_raised(layout.on(device).add_, 1)
    assert found is expected, (
        f"P9: add_(1) raises {found}, not {expected}, for {layout} on {device}")
def check_viewed_layout(layout, device):
    """view() gives other sizes if two strides can reach the elements. A dimension of size 1 does
    not count, though its stride is larger than all others."""
    (rows, columns), (down, across) = layout.sizes, layout.strides
    tensor = T.zeros(32, device=device).as_strided((rows, 1, columns), (down, 7, across))
    for sizes in ((columns, rows), (1, rows * columns)):
        expected = None if layout.can_have_sizes(*sizes) else RuntimeError
        found = class_raised(tensor.view, *sizes)
        assert found is expected, (
            f"P9: view{sizes} raises {found}, not {expected}, for {layout} on {device}, and"
            f" between them a dimension of size 1 and stride 7")
def check_fits_in_storage(layout, device):
    """as_strided() needs a storage that has the last place, and no more."""
    count = max(layout.places, default=-1) + 1
    found = class_raised(layout.on, device, count)
    assert found is None, (
        f"P9: a storage of {count} elements raises {found} for {layout} on {device}")
    if count:
        found = class_raised(layout.on, device, count - 1)
        assert found is RuntimeError, (
            f"P9: a storage of {count - 1} elements raises {found}, not RuntimeError, for"
            f" {layout} on {device}")
def check_written_parts(write, size, start, other_start, device):
    """A write refuses an operand that shares some of its elements, but not all."""
    tensor = T.zeros(9, device=device)
    part, operand = tensor[start:start + size], tensor[other_start:other_start + size]
    is_allowed = start == other_start or abs(start - other_start) >= size
    expected, found = None if is_allowed else RuntimeError, class_raised(write, part, operand)
    assert found is expected, (
        f"P9: {write.__name__} raises {found}, not {expected}, for the {size} elements from"
        f" {start} on and those from {other_start} on, on {device}")
def pairs_of_every_layout():
    devices = "cpu", "meta"
    for layout, device in itertools.product(layouts_in_plane(), devices):
        check_contiguous(layout, device)
        check_written_layout(layout, device)
        check_fits_in_storage(layout, device)
        if layout.places:
            check_viewed_layout(layout, device)
    writes = T.Tensor.add_, T.Tensor.mul_, T.Tensor.copy_
    for case in itertools.product(writes, range(1, 4), range(4), range(4), devices):
        check_written_parts(*case)

#: pairs_of_parts_of_each_other [slotcore]: a write reads what its operand was before, or is refused
import itertools
def parts_of_eight():
    """Layouts (sizes, strides, offset) of parts of eight elements, some of which overlap."""
    return [((rows, 2), strides, offset) for rows, strides, offset in itertools.product(
        (2, 1), ((1, 2), (2, 1), (3, 1)), (0, 1))]
def part_beside(tensor, sizes, strides, offset):
    """The same part, but on a slice of the storage of TENSOR, which is a storage of its own."""
    rest = tensor.untyped_storage()[tensor.dtype.itemsize * offset:]
    return T.empty(0).set_(rest, 0, sizes, strides)
def powers_of_two():
    return T.tensor([float(1 << power) for power in range(8)])
def check_written_part(write, target, source, view):
    """A write with one part of a tensor to another leaves what a copy of that part makes it leave.
    It may be refused, and then changes nothing. Returns whether it was done."""
    tensor, twin = powers_of_two(), powers_of_two()
    raised = class_raised(write, tensor.as_strided(*target), view(tensor, *source))
    where = (f"{write.__name__} of the part {target} with {source} (sizes, strides, offset), which"
             f" {view.__name__} makes")
    assert raised in (None, RuntimeError), f"P9: {where}, raises {raised}"
    if raised is None:
        write(twin.as_strided(*target), twin.as_strided(*source).clone())
    found, expected = tensor.tolist(), twin.tolist()
    done = "is refused and" if raised else "returns and"
    assert found == expected, f"P9: {where}, {done} leaves {found}, not {expected}"
    return raised is None
def pairs_of_parts_of_each_other():
    writes, views = (T.Tensor.add_, T.Tensor.copy_), (T.Tensor.as_strided, part_beside)
    parts = parts_of_eight()
    # All targets have two rows, so that a part of one row fits as well.
    cases = list(itertools.product(writes, parts[:6], parts, views))
    done = sum(itertools.starmap(check_written_part, cases))
    assert done >= 100, f"P9: only {done} of {len(cases)} writes of parts are done"

#: pairs_of_each_view [slotcore]: a view keeps bits, base, bytes, version, dtype, device and mode
import functools, itertools
def views_of_matrix():
    """Views of a tensor t of two dimensions, at least 3 by 2, that read it as it is."""
    return expressions_of("t", """
        t.view(-1)
        t.view_as(t)
        t.expand(2, 3, 2)
        t[...]
        t[1]
        t[::2]
        t.narrow(1, 1, 1)
        t.select(-1, 0)
        t.transpose(0, 1)
        t.t()
        t.transpose(1, 1)
        T.Tensor(t)
        TensorSub(t)
        t.as_strided((2, 2), (2, 1))
        t.as_subclass(TensorSub)""")
def views_that_change_bits():
    return expressions_of("t", """
        t._neg_view()
        t[0]._neg_view()
        T.view_as_real(t._neg_view().conj().conj())""")
def aliases_without_base():
    return expressions_of("t", """
        t.detach()
        T.Tensor._make_subclass(T.Tensor, t)
        T.nn.Parameter(t)""")
def complex_matrix():
    return T.tensor([[1 + 2j, 3 - 4j], [5j, 6], [7, 8]])
def check_kept_bits(plain, apart):
    """A view of elements that are read conjugated or negated reads them so, too."""
    matrix = complex_matrix()
    for source in expressions_of("c", """
            c
            c.conj()
            c._neg_view()
            c.conj()._neg_view()"""):
        tensor = source(matrix)
        copy = T.tensor(tensor.tolist())
        for view in plain + apart + expressions_of("t", "t.data"):
            found = view(tensor).is_conj(), view(tensor).is_neg()
            expected = tensor.is_conj(), tensor.is_neg()
            assert found == expected, (
                f"P9: (is_conj(), is_neg()) of {view.__name__} are {found}, not {expected}, for"
                f" t = {source.__name__}")
        for view in plain:
            found, expected = view(tensor).tolist(), view(copy).tolist()
            assert found == expected, (
                f"P9: {view.__name__} has the numbers {found}, not {expected} as that of a copy,"
                f" for t = {source.__name__}")
def check_bases(views, apart):
    """The base is the tensor that is no view itself; all have the one storage."""
    matrix = complex_matrix()
    sources = expressions_of("c", """
        c
        c[:]
        c.view(3, 2)[...]""")
    for view, source in itertools.product(views + apart, sources):
        alias, expected = view(source(matrix)), matrix if view in views else None
        where = f"{view.__name__} for t = {source.__name__}"
        assert alias._base is expected, (
            f"P9: {where} has {'another' if expected is matrix else 'a'} base")
        assert alias.untyped_storage() is matrix.untyped_storage(), (
            f"P9: {where} has another storage")
def check_common_version(aliases):
    """A write counts for all aliases of its elements."""
    sources = expressions_of("c", """
        c
        c[:]
        c.detach()""")
    for alias, source in itertools.product(aliases, sources):
        matrix = complex_matrix()
        tensor = source(matrix)
        made, version = alias(tensor), tensor._version
        tensor.zero_()
        found = matrix._version, tensor._version, made._version
        assert found == (version + 1,) * 3, (
            f"P9: the versions of c, t and {alias.__name__} are {found}, not {version + 1}, after"
            f" a write to t = {source.__name__}")
def layout_of_view(tensor):
    return (tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.is_contiguous(),
            tensor.nbytes, tensor.dtype)
def check_places_of_views(plain):
    """Each dtype and device, and a fake: a view has the layout that it has on cpu."""
    mode = T._subclasses.FakeTensorMode()
    dtypes = T.bool, T.uint8, T.int64, T.float32, T.float64
    for view, dtype in itertools.product(plain, dtypes):
        where = f"{view.__name__} for t = T.zeros(4, 2)[1:] of {dtype}"
        real = T.zeros(4, 2, dtype=dtype)[1:]
        meta = T.zeros(4, 2, dtype=dtype, device="meta")[1:]
        fake = mode.from_tensor(real)
        expected = layout_of_view(view(real))
        assert view(real).dtype is dtype, f"P9: {where} has the dtype {view(real).dtype}"
        for tensor, place in ((real, "on cpu"), (meta, "on meta"), (fake, "as a fake")):
            found = layout_of_view(view(tensor))
            assert found == expected, (
                f"P9: {where}, {place}, has the (sizes, strides, offset, contiguity, bytes, dtype)"
                f" {found}, not {expected}")
            assert view(tensor).device is tensor.device, f"P9: {where}, {place}, is elsewhere"
        assert view(meta).is_meta, f"P9: {where}, on meta, has is_meta False"
        assert view(fake).fake_mode is mode, f"P9: {where}, as a fake, has another mode"
def element_at(tensor, index):
    return functools.reduce(lambda part, place: part[place], index, tensor).item()
def check_elements_of_views():
    """transpose(), select() and narrow() of three dimensions have the right elements."""
    sizes = 2, 3, 4
    indices = list(itertools.product(*map(range, sizes)))
    tensor = T.tensor([[[100 * i + 10 * j + k for k in range(4)] for j in range(3)]
                       for i in range(2)])
    def check(view, index, expected, name):
        found, right = element_at(view, index), element_at(tensor, expected)
        assert found == right, (
            f"P9: {name} has {found}, not {right}, at {index} for sizes {sizes}")
    for one, other in itertools.product(range(-3, 3), repeat=2):
        view = tensor.transpose(one, other)
        for index in indices[::5]:
            turned = list(index)
            turned[one], turned[other] = turned[other], turned[one]
            check(view, turned, index, f"transpose{one, other}")
    for dimension, index in itertools.product(range(-3, 3), indices):
        before, place, after = (index[:dimension % 3], index[dimension],
                                index[dimension % 3 + 1:])
        check(tensor.select(dimension, place), before + after, index,
              f"select{dimension, place}")
        check(tensor.narrow(dimension, place, 1), (*before, 0, *after), index,
              f"narrow{dimension, place, 1}")
def pairs_of_each_view():
    plain, apart = views_of_matrix(), aliases_without_base()
    views = plain + views_that_change_bits()
    check_kept_bits(plain, apart)
    check_bases(views, apart)
    check_common_version(views + apart)
    check_places_of_views(plain)
    check_elements_of_views()
