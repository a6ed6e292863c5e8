"""Sizes, strides and bytes against models in plain Python: view() and slices of storages."""

#: pairs_of_read_as [slotcore]: view(dtype) gives the layout of the same bytes, or is refused
import itertools
def layouts_to_read_as():
    """Layouts with a last size and strides that fit 4 and 8 times larger elements, or do not."""
    sizes = (2, 8), (1, 8), (8, 1), (0, 8), (2, 0), (8,), (1,), (0,), (), (1, 2, 8)
    strides = (8, 1), (0, 1), (3, 1), (16, 1), (16, 8), (1, 8), (8, 8)
    return [(size, (8, *stride)[3 - len(size):], offset)
            for size, stride, offset in itertools.product(sizes, strides, (3, 8))]
def layout_of_smaller(sizes, strides, offset, factor):
    """The layout if each element is FACTOR smaller ones."""
    strides = (*(stride * factor for stride in strides[:-1]), 1)
    return (*sizes[:-1], sizes[-1] * factor), strides, offset * factor
def layout_of_larger(sizes, strides, offset, factor):
    """The layout if FACTOR elements are one larger one; None if they are not beside each other."""
    if any(number % factor for number in (*strides[:-1], sizes[-1], offset)):
        return None
    strides = (*(stride // factor for stride in strides[:-1]), 1)
    return (*sizes[:-1], sizes[-1] // factor), strides, offset // factor
def layout_read_as(layout, size, other_size):
    """The layout of the same bytes, if OTHER_SIZE is the size of an element instead of SIZE."""
    if size == other_size:
        return layout
    if layout[1][-1:] != (1,):
        return None
    if size > other_size:
        return layout_of_smaller(*layout, size // other_size)
    return layout_of_larger(*layout, other_size // size)
def check_read_as(layout, device, dtype, other):
    where = (f"view({other}) of the layout {layout} (sizes, strides, offset) of {dtype} "
             f"on {device}")
    tensor = T.zeros(160, dtype=dtype, device=device).as_strided(*layout).zero_()
    expected = layout_read_as(layout, dtype.itemsize, other.itemsize)
    try:
        view = tensor.view(other)
    except RuntimeError:
        assert expected is None, f"P9: {where} is refused"
        return
    assert expected is not None, f"P9: {where} is not refused"
    found = view.shape, view.stride(), view.storage_offset()
    assert found == expected, f"P9: {where} has the layout {found}, not {expected}"
    assert view.dtype is other, f"P9: {where} is of {view.dtype}"
    assert view._base is None, f"P9: {where} has a base"
    assert view.grad is None, f"P9: {where} has a gradient"
    assert view.untyped_storage() is tensor.untyped_storage(), f"P9: {where} has other bytes"
    tensor.zero_()
    versions = view._version, tensor._version
    assert versions == (2, 2), f"P9: {where} and its source have the versions {versions}, not 2"
def pairs_of_read_as():
    layouts = layouts_to_read_as()
    of_each_size = T.bool, T.float32, T.float64
    dtypes = *of_each_size, T.uint8, T.int64, T.complex64
    for state in itertools.product(layouts, ["cpu"], of_each_size, of_each_size):
        check_read_as(*state)
    of_equal_size = (T.bool, T.uint8), (T.float64, T.int64), (T.complex64, T.float64)
    for layout, pair in itertools.product(layouts[::2], of_equal_size):
        check_read_as(layout, "cpu", *pair)
        check_read_as(layout, "cpu", *pair[::-1])
    for state in itertools.product(layouts[::29], ["meta"], dtypes, dtypes):
        check_read_as(*state)

#: pairs_of_regrouped, flattened [slotcore]: view() regroups if strides reach its elements
import itertools, math, operator
def reached_elements(sizes, strides, offset):
    """The number of each element in its storage, in the order of the indices."""
    return [offset + sum(map(operator.mul, index, strides))
            for index in itertools.product(*map(range, sizes))]
def can_be_viewed(elements, sizes):
    """Whether a tensor of SIZES can have ELEMENTS in this order."""
    if not elements:
        return True
    # The distance between the elements at the first two indices of a dimension is its stride.
    steps = [math.prod(sizes[dimension + 1:]) for dimension in range(len(sizes))]
    strides = [elements[step] - elements[0] if size > 1 else 0
               for size, step in zip(sizes, steps)]
    return reached_elements(sizes, strides, elements[0]) == elements
def flattened(numbers):
    while numbers and isinstance(numbers[0], list):
        numbers = sum(numbers, [])
    return numbers
def sizes_to_view(count):
    """Sizes of tensors that have COUNT elements; 0 as the size of a tensor without any."""
    if count == 0:
        return [(0,), (2, 0), (0, 1, 1)]
    triples = itertools.product(range(1, count + 1), repeat=3)
    return [sizes for sizes in triples if math.prod(sizes) == count] + [(count,)]
def check_regrouped(source, sizes, strides, wants):
    tensor = source.as_strided(sizes, strides, 3)
    elements = reached_elements(sizes, strides, 3)
    for want in wants:
        where = f"view{want} of a tensor of sizes {sizes} and strides {strides}"
        can_be = can_be_viewed(elements, want)
        try:
            view = tensor.view(want)
        except RuntimeError:
            assert not can_be, f"P9: {where} is refused"
            continue
        assert can_be, f"P9: {where} is not refused"
        assert view.shape == want, f"P9: {where} has the sizes {view.shape}"
        found = flattened(view.tolist())
        assert found == elements, f"P9: {where} has the elements {found}, not {elements}"
        assert view._base is source, f"P9: {where} has another base"
def pairs_of_regrouped():
    source = T.tensor([*range(40)])  # each number is that of its element
    all_sizes = ((2, 1, 3), (1, 2, 3), (2, 3, 1), (1, 1, 4), (3, 1, 1), (1, 3, 1), (2, 2, 2),
                 (2, 0, 1))
    all_strides = list(itertools.product((0, 6), (0, 2, 3), (1, 2)))
    wants = {count: sizes_to_view(count) for count in {*map(math.prod, all_sizes)}}
    for sizes, strides in itertools.product(all_sizes, all_strides):
        check_regrouped(source, sizes, strides, wants[math.prod(sizes)])

#: pairs_of_storage_model [slotcore]: a storage does what a memoryview of the same bytes does
def storage_over(lender, **part):
    return T.frombuffer(lender, dtype=T.uint8, **part).untyped_storage()
def storage_of_bytes():
    return T.UntypedStorage(range(10, 22))
def model_of_bytes():
    return memoryview(bytearray(range(10, 22)))
def with_model(storage):
    """A storage, the one that it is a part of, and the same two as memoryviews."""
    model = model_of_bytes()
    return storage, storage, model, model
def lent_part(lend, **part):
    storage, model = storage_of_bytes(), model_of_bytes()
    return storage_over(lend(storage), **part), storage, model[3:9], model
def slice_left_by_resize():
    """resize_() gives a storage other bytes, and a slice keeps the former ones."""
    storage, model = storage_of_bytes(), model_of_bytes()
    return storage[3:9], storage.resize_(2), model[3:9], model[:2].tobytes()
def clone_of_slice():
    storage, model = Sub(range(10, 22)), model_of_bytes()
    return storage[3:9].clone(), storage, memoryview(bytearray(model[3:9])), model
def slice_with_model(state, part):
    storage, source, model, source_model = state
    return storage[part], source, model[part], source_model
def makes_of_storages():
    return expressions_of("", """
        with_model(storage_of_bytes())
        with_model(Sub(range(10, 22)))
        with_model(T.UntypedStorage(0).resize_(20).resize_(12).copy_(storage_of_bytes()))
        with_model(T.zeros(3).untyped_storage().copy_(storage_of_bytes()))
        clone_of_slice()
        slice_left_by_resize()
        lent_part(lambda storage: storage, offset=3, count=6)
        lent_part(lambda storage: memoryview(storage)[3:9])
        with_model(storage_over(bytearray(range(10, 22))))
        with_model(storage_over(bytearray(b"..") + bytearray(range(10, 22)), offset=2))""")
def states_of_storages():
    """Each state with its name: a storage of each making, slices of it, and a slice of a slice."""
    whole, inner = slice(None), slice(2, 5)
    parts = {"[2:5]": inner, "[1:1]": slice(1, 1), "[:]": whole}
    for make in makes_of_storages():
        name = make.__name__
        yield name, make()
        for part_name, part in parts.items():
            yield f"{part_name} of {name}", slice_with_model(make(), part)
        yield f"[2:5] of [:] of {name}", slice_with_model(slice_with_model(make(), whole), inner)
def questions_to_bytes():
    return expressions_of("s", """
        len(s)
        [*s]
        bytes(s)
        [s[i] for i in range(-len(s), len(s))]
        14 in s
        [*s[1:-1]]
        [*s[1:][:3]]
        [*reversed(s)]
        [*s[-2:]]
        class_raised(lambda: s[len(s)])""")
def copies_of_storages():
    return expressions_of("s", """
        s.clone()
        T.zeros(0, dtype=T.uint8).set_(s).untyped_storage()
        T.UntypedStorage(len(s)).copy_(s)
        s""")
def writes_to_storages():
    """Each write of s, and the numbers that it leaves of n; if they are more, it is an error."""
    writes = expressions_of("s", """
        s.__setitem__(0, 99)
        s.__setitem__(slice(1, 4), 97)
        s[1:].copy_(s[:-1])
        s[:-1].copy_(s[1:])
        memoryview(s).__setitem__(0, 8)
        storage_over(s).fill_(7)""")
    results = expressions_of("n", """
        [99] + n[1:]
        n[:1] + [97] * len(n[1:4]) + n[4:]
        n[:1] + n[:-1]
        n[1:] + n[-1:]
        [8] + n[1:]
        [7] * len(n) or [7]""")
    return list(zip(writes, results))
def check_written_storage(write, result, storage, source, model, source_model, copies, name):
    numbers = result([*model])
    where = f"{write.__name__} of s = {name}"
    is_error = class_raised(write, storage) is not None
    assert is_error == (len(numbers) != len(model)), (
        f"P9: {where} {'is' if is_error else 'is not'} an error")
    if not is_error:
        model[:] = bytes(numbers)
    for copy in copies:
        found = copy(storage).tolist()
        assert found == [*model], f"P9: {where} leaves {found}, not {[*model]}, in {copy.__name__}"
    assert source.tolist() == [*source_model], (
        f"P9: {where} leaves {source.tolist()}, not {[*source_model]}, in what s is a part of")
def pairs_of_storage_model():
    questions, copies, writes = questions_to_bytes(), copies_of_storages(), writes_to_storages()
    for name, (storage, source, model, source_model) in states_of_storages():
        for question in questions:
            found, expected = question(storage), question(model)
            assert found == expected, (
                f"P9: {question.__name__} gives {found}, not {expected}, for s = {name}")
        for write, result in writes:
            check_written_storage(write, result, storage, source, model, source_model, copies,
                                  name)
