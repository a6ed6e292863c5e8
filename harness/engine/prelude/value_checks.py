"""Checks of elements, bytes, counts and errors, on copies of what a program has.

A copy has the sizes, strides, offset and type of its original, and its own memory, so a check
changes nothing of the program's.
"""

#: unnested: the numbers of nested lists
def unnested(nested):
    if type(nested) is not list:
        return [nested]
    return [one for part in nested for one in unnested(part)]

#: places_of: where the elements of a tensor begin in its storage, in bytes
import itertools
def places_of(tensor):
    strides, bytes_each = tensor.stride(), tensor.element_size()
    return [bytes_each * (tensor.storage_offset() + sum(map(int.__mul__, index, strides)))
            for index in itertools.product(*map(range, tensor.size()))]

#: content_of: the bytes of a storage
def content_of(storage):
    return bytes(storage.tolist())

#: formats: how numbers of a type are packed
formats = {T.float32: "f", T.float64: "d", T.int64: "q", T.uint8: "B", T.bool: "?",
           T.complex64: "ff"}

#: packed, unpacked: numbers of a type as bytes, and back
import struct
def packed(dtype, number):
    parts = (number.real, number.imag) if dtype == T.complex64 else (number,)
    return struct.pack(formats[dtype], *parts)
def unpacked(dtype, held, place):
    parts = struct.unpack_from(formats[dtype], held, place)
    return complex(*parts) if len(parts) == 2 else parts[0]

#: simple: a tensor without its history, if it has few elements and all are bytes of its storage
def simple(tensor):
    tensor = tensor.detach()
    storage = storage_of(tensor)  # that of a fake is on meta, whatever the fake says
    if storage.device.type != "cpu" or tensor.dtype not in formats or tensor.numel() > 64:
        return None
    ends = [place + tensor.element_size() for place in places_of(tensor)]
    is_within = max(ends, default=0) <= storage.nbytes() <= 4096
    if not is_within or tensor.dtype == T.bool and tensor.is_neg():
        return None
    return tensor.resolve_conj().resolve_neg()

#: check_elements: elements are the bytes that offset, sizes and strides say (P9)
#> check_elements: checks
def check_elements(tensor):
    tensor = simple(tensor)
    if tensor is None:
        return
    storage, places = storage_of(tensor), places_of(tensor)
    held = content_of(storage)
    numbers = [repr(unpacked(tensor.dtype, held, place)) for place in places]
    assert tensor.numel() == len(places), "P9: numel() is not the product of the sizes"
    read, copied = ([repr(number) for number in unnested(one.tolist())]
                    for one in (tensor, tensor.clone()))
    assert read == numbers, "P9: tolist() reads other bytes"
    assert copied == numbers, "P9: a clone has other elements"
    contiguous = [tensor.element_size() * place for place in range(len(places))]
    start = tensor.storage_offset() * tensor.element_size()
    assert tensor.is_contiguous() == (places == [start + place for place in contiguous]), (
        "P9: is_contiguous() says otherwise than the strides")
    if places:
        assert tensor.data_ptr() == storage.data_ptr() + start, "P9: data_ptr() is another place"

#: like: a tensor of the same layout over a copy of the storage
def like(tensor):
    source = storage_of(tensor)
    storage = T.UntypedStorage(len(source)).copy_(source)
    return T.empty(0, dtype=tensor.dtype).set_(
        storage, tensor.storage_offset(), tensor.size(), tensor.stride())

#: check_writes: an operation in place writes the elements, and no other bytes (P9)
#> check_writes: checks
def check_writes(tensor):
    tensor = simple(tensor)
    if tensor is None:
        return
    one, places, dtype = like(tensor), places_of(tensor), tensor.dtype
    source = T.tensor([float(place) for place in range(len(places))]).view(tensor.size())
    counted = unnested(source.to(dtype).tolist()) if hasattr(source, "to") else None
    ones, twice, six = ([number] * len(places) for number in (1, 2, 6))
    overlaps = len(set(places)) < len(places)
    if dtype == T.bool:
        counted, twice, six = [place != 0 for place in range(len(places))], ones, ones
    for name, write, numbers in (
            ("zero_", lambda: one.zero_(), [0] * len(places)),
            ("fill_", lambda: one.fill_(1), ones),
            ("add_", lambda: one.add_(one.clone()), twice),
            ("mul_", lambda: one.mul_(one.clone().fill_(3)), six),
            ("copy_", lambda: one.copy_(source), counted or range(len(places)))):
        if overlaps and name not in ("zero_", "fill_"):
            return  # it may raise, or count an element twice
        before, version = bytearray(content_of(storage_of(one))), one._version
        try:
            write()
        except refused:
            assert overlaps, f"P8: {name} raised"
            return
        for place, number in zip(places, numbers):
            number = float(number) if dtype in (T.float32, T.float64) else number
            before[place:place + one.element_size()] = packed(dtype, number)
        assert content_of(storage_of(one)) == before, f"P9: {name} wrote other bytes"
        assert one._version > version or not places, f"A2: {name} is not counted"

#: check_views: a view has the elements that its name says, in their order (P9)
#> check_views: checks
def check_views(tensor):
    tensor = simple(tensor)
    if tensor is None or len(set(places_of(tensor))) < tensor.numel():
        return
    one, sizes, many = like(tensor), tensor.size(), tensor.numel()
    one.copy_(T.tensor([float(number) for number in range(many)]).view(sizes))
    rows = one.tolist()
    views = [("view_as", one.view_as(one), rows), ("detach", one.detach(), rows),
             ("data", one.data, rows), ("clone", one.clone(), rows),
             ("expand", one.expand(3, *sizes), [rows] * 3)]
    if one.is_contiguous():
        views.append(("view", one.view(-1), unnested(rows)))
    if len(sizes) > 0:
        views += [("a slice", one[1:], rows[1:]), ("a slice to an end", one[:1], rows[:1])]
    if len(sizes) > 0 and sizes[0] > 0:
        views += [("an item", one[0], rows[0]), ("select", one.select(0, -1), rows[-1]),
                  ("narrow", one.narrow(0, 1, sizes[0] - 1), rows[1:])]
    if len(sizes) == 2 and many:
        turned = [list(column) for column in zip(*rows)]
        views += [("t", one.t(), turned), ("transpose", one.transpose(0, -1), turned),
                  ("narrow of columns", one.narrow(1, 1, sizes[1] - 1), [row[1:] for row in rows]),
                  ("select of a column", one.select(1, -1), [row[-1] for row in rows])]
    for name, view, numbers in views:
        assert view.tolist() == numbers, f"P9: {name} has other elements"

#: state_of: what an operation that raises must leave as it was
def state_of(tensor):
    storage = storage_of(tensor)
    return {"sizes": tensor.size(), "strides": tensor.stride(), "offset": tensor.storage_offset(),
            "type": tensor.dtype, "address": tensor.data_ptr(), "version": tensor._version,
            "requires_grad": tensor.requires_grad, ".grad": tensor.grad,
            "number of bytes": storage.nbytes(), "bytes": content_of(storage),
            "use count": tensor._use_count() if hasattr(tensor, "_use_count") else None}

#: every_refusal: calls that a tensor of few elements must refuse, with their names
def every_refusal():
    storage, other = T.UntypedStorage(8), T.ones(5, 7)
    return [
        ("resize_", lambda one: one.resize_(-1)),
        ("resize_ to too many", lambda one: one.resize_(1 << 40)),
        ("set_ with an offset", lambda one: one.set_(storage, -1, (1,), (1,))),
        ("set_ with sizes", lambda one: one.set_(storage, 0, (-1,), (1,))),
        ("set_ with strides", lambda one: one.set_(storage, 0, (1,), (-1,))),
        ("set_ beyond", lambda one: one.set_(storage, 1 << 40, (1,), (1,))),
        ("set_ to another type",
         lambda one: one.set_(T.ones(1, dtype=T.bool if one.dtype != T.bool else T.float32))),
        ("view", lambda one: one.view(one.numel() + 1)),
        ("view with two unknown sizes", lambda one: one.view(-1, -1)),
        ("narrow", lambda one: one.narrow(0, 0, 1 << 20)),
        ("narrow of a dimension", lambda one: one.narrow(9, 0, 1)),
        ("select", lambda one: one.select(0, 1 << 20)),
        ("transpose", lambda one: one.transpose(0, 9)),
        ("expand", lambda one: one.expand(-3, -1, -1, -1)),
        ("as_strided", lambda one: one.as_strided((1 << 30,), (1,))),
        ("as_strided with an offset", lambda one: one.as_strided((1,), (1,), -1)),
        ("grad of another size", lambda one: setattr(one, "grad", other)),
        ("grad of another class", lambda one: setattr(one, "grad", 3)),
        ("data of another class", lambda one: setattr(one, "data", 3)),
        ("add_", lambda one: one.add_(other)),
        ("mul_", lambda one: one.mul_(other)),
        ("copy_", lambda one: one.copy_(other)),
        ("fill_", lambda one: one.fill_("x")),
        ("add", lambda one: one.add("x")),
        ("requires_grad_", lambda one: one.requires_grad_("x")),
        ("item", lambda one: one.expand(3, *one.size()).item()),
        ("resize_ of the storage", lambda one: storage_of(one).resize_(-1)),
        ("resize_ of the storage to too much",
         lambda one: storage_of(one).resize_(1 << 60)),
        ("copy_ of the storage",
         lambda one: storage_of(one).copy_(T.UntypedStorage(4097))),
        ("an index of the storage", lambda one: storage_of(one).__setitem__(4097, 1)),
        ("a byte of the storage", lambda one: storage_of(one).fill_(256)),
    ]

#: refusals [slotcore]: all of them leave a tensor as it was
refusals = every_refusal

#: refusals [torch]: those that leave a plain tensor as it was; the others are findings in repro/
def keeps_all(call):
    one = like(T.ones(2, 3))
    before = state_of(one)
    try:
        call(one)
    except (*refused, OverflowError, MemoryError):
        after = state_of(one)
        return all(after[what] == before[what] for what in before.keys() - {".grad"})
    return True
kept_by_release = tuple(name for name, call in every_refusal() if keeps_all(call))
def refusals():
    return [(name, call) for name, call in every_refusal() if name in kept_by_release]

#: check_refusals: what raises has changed nothing (P8)
#> check_refusals: checks
def check_refusals(tensor):
    tensor = simple(tensor)
    if tensor is None:
        return
    for name, call in refusals():
        one = like(tensor)
        before = state_of(one)
        try:
            call(one)
        except (*refused, OverflowError, MemoryError):
            after = state_of(one)
            for what, value in before.items():
                same = after[what] is value if what == ".grad" else after[what] == value
                assert same, f"P8: {name} raised and changed the {what}"

#: check_exported: a failed resize_ of a tensor whose bytes are exported changes nothing (P8)
#> check_exported: checks
def check_exported(tensor):
    tensor = simple(tensor)
    if tensor is None or tensor.numel() == 0:
        return
    one = like(tensor)
    before, export = state_of(one), memoryview(storage_of(one))
    for name, call in (("resize_", lambda: one.resize_(5000)),
                       ("resize_ of the storage", lambda: storage_of(one).resize_(1)),
                       ("as_strided", lambda: one.as_strided((5000,), (1,)))):
        try:
            call()
        except (BufferError, *refused):
            after = state_of(one)
            for what, value in before.items():
                same = after[what] == value or what == ".grad"
                assert same, f"P8: {name} raised and changed the {what}"
        else:
            assert name == "as_strided", f"memory: {name} moved exported bytes"
    assert bytes(export) == before["bytes"], "memory: exported bytes have changed"
    export.release()
    storage_of(one).resize_(5000)
    assert storage_of(one).nbytes() == 5000, "P8: resize_ after an export did nothing"
