"""What lines about worlds may call: some tensors and their fakes, to which the same things happen.

A world does each change to its tensors, to fakes of a mode, and looks after each change whether the
fakes have the fields of the tensors, share what these share, and raise what these raise.
"""

#: changes: what may happen to the tensors of a world, of which the last one is x and the others y
def grad_of_other(x, y):
    x.grad = y
def circle_of_grads(x, y):
    x.grad = y
    y.grad = x
def data_of_other(x, y):
    x.data = y
def unrecorded_view(x, y):
    with T.no_grad():
        return x.view(-1)
class Viewing(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)
    @staticmethod
    def backward(ctx, gradient):
        return gradient
changes = {
    "nothing": lambda x, y: None, "ones": lambda x, y: T.ones(2, 3),
    "zeros": lambda x, y: T.zeros(2, 3), "on_meta": lambda x, y: T.ones(2, 2, device="meta"),
    "integers": lambda x, y: T.ones(3, dtype=T.int64),
    "booleans": lambda x, y: T.zeros(2, 1, dtype=T.bool),
    "complex": lambda x, y: T.ones(2, 2, dtype=T.complex64),
    "no_elements": lambda x, y: T.empty(0, 3), "number": lambda x, y: T.tensor(3.0),
    "flat": lambda x, y: x.view(-1), "turned": lambda x, y: x.t(), "rest": lambda x, y: x[1:],
    "row": lambda x, y: x[0], "wide": lambda x, y: x.expand(2, *x.size()),
    "overlapping": lambda x, y: x.as_strided((2, 2), (1, 1)),
    "later": lambda x, y: x.as_strided((2,), (1,), 2), "narrow": lambda x, y: x.narrow(-1, 1, 1),
    "detached": lambda x, y: x.detach(), "data": lambda x, y: x.data,
    "conjugate": lambda x, y: x.conj(), "negative": lambda x, y: x._neg_view(),
    "resolved": lambda x, y: x.resolve_conj(), "parts": lambda x, y: T.view_as_real(x),
    "unrecorded_view": unrecorded_view, "like": lambda x, y: x.view_as(x),
    "sum": lambda x, y: x.sum(), "clone": lambda x, y: x.clone(), "relu": lambda x, y: x.relu(),
    "plus": lambda x, y: x.add(y), "times": lambda x, y: y.mul(x), "by_true": lambda x, y: x * True,
    "by_one": lambda x, y: x * 1, "by_one_float": lambda x, y: x * 1.0,
    "by_two": lambda x, y: x * 2, "by_half": lambda x, y: x * 0.5, "by_i": lambda x, y: x * 1j,
    "plus_one": lambda x, y: x.add(1), "plus_half": lambda x, y: x.add(0.5),
    "plus_in_place": lambda x, y: x.add_(y), "times_in_place": lambda x, y: x.mul_(2),
    "by_half_in_place": lambda x, y: x.mul_(0.5), "copied": lambda x, y: x.copy_(y),
    "filled": lambda x, y: x.fill_(3), "zeroed": lambda x, y: x.zero_(),
    "relu_in_place": lambda x, y: x.relu_(), "part_written": lambda x, y: x.__setitem__(0, 2),
    "part_copied": lambda x, y: x.__setitem__(0, y),
    "resized": lambda x, y: x.resize_(3, 2), "emptied": lambda x, y: x.resize_(0),
    "set": lambda x, y: x.set_(y), "set_storage": lambda x, y: x.set_(storage_of(y), 1, (2,), (1,)),
    "storage_grown": lambda x, y: storage_of(x).resize_(64),
    "storage_emptied": lambda x, y: storage_of(x).resize_(0),
    "leaf": lambda x, y: x.requires_grad_(), "constant": lambda x, y: x.requires_grad_(False),
    "detached_in_place": lambda x, y: x.detach_(), "retained": lambda x, y: x.retain_grad(),
    "grad": grad_of_other, "grad_of_its_own": lambda x, y: setattr(x, "grad", x.detach()),
    "cleared_grad": lambda x, y: setattr(x, "grad", None),
    "circle_of_grads": circle_of_grads, "data_of_other": data_of_other,
    "parameter": lambda x, y: T.nn.Parameter(x),
    "other": lambda x, y: y, "base": lambda x, y: x._base, "gradient": lambda x, y: x.grad,
    "view_of_a_function": lambda x, y: Viewing.apply(x),
}

#: change_of: changes the last of some tensors, and gives the class of an error
def change_of(tensors, name):
    try:
        made = changes[name](tensors[-1], tensors[-2 % len(tensors)])
    except refused as error:
        return type(error)
    if isinstance(made, T.Tensor):
        tensors.append(made)
    return None

#: World: tensors and their fakes
class World:
    def __init__(self):
        self.mode, self.converter = FakeTensorMode(), MetaConverter()
        self.tensors, self.fakes = [T.ones(4)], []
        with self.mode:
            self.fakes.append(T.ones(4))
    def change(self, name):
        real = change_of(self.tensors, name)
        with self.mode:
            return real, change_of(self.fakes, name)

#: check_world, shared_in [slotcore]: fakes are as tensors, after each of five changes (M15, M4, M2)
#> check_world: checks
def shared_in(tensors):
    # Where each storage and impl is first met. Fields that are equal say which bytes they share.
    storages, impls, rows = {}, {}, []
    for one in tensors:
        owned = [two for two in (one, one._base, one.grad) if two is not None]
        met = [storages.setdefault(storage_of(two)._cdata, len(storages)) for two in owned]
        rows.append((met, [impls.setdefault(two._cdata, len(impls)) for two in owned]))
    return rows
def check_world(*names):
    if in_hermetic():
        return
    world = World()
    for name in names:
        with T.enable_grad():
            real, fake = world.change(name)
        assert real == fake, f"M15: {name} gives a tensor {real}, and a fake {fake}"
        fields = [fields_of(one) for one in world.tensors]
        assert [fields_of(one) for one in world.fakes] == fields, (
            f"M15: {name} leaves fakes other fields than tensors")
        assert shared_in(world.fakes) == shared_in(world.tensors), (
            f"M15: {name} leaves fakes that share what their tensors do not share")
        made = [world.converter(one) for one in world.tensors]
        assert [fields_of(one) for one in made] == fields, (
            f"M9: after {name} a converter gives fakes other fields")
        assert shared_in(made) == shared_in(world.tensors), (
            f"M2: after {name} a converter gives fakes that share what their tensors do not share")
    text = T._meta.dumps(described(*world.tensors))
    made = T._meta.convert(MetaConverter(), T._meta.loads(text))
    assert [fields_of(one) for one in made] == fields, "M4: a text gives fakes other fields"
    assert shared_in(made) == shared_in(world.tensors), (
        "M2: a text gives fakes that share what their tensors do not share")

#: check_cached [slotcore]: an operation gives fakes of one mode what it gives tensors (M15)
#> check_cached: checks
def check_cached(name):
    if in_hermetic():
        return
    mode = FakeTensorMode()
    for _ in range(2):  # a mode may remember what the first round has found
        for start in ("nothing", "complex", "on_meta", "integers"):
            for look in changes:
                tensors, fakes = [T.ones(2, 2)], []
                with mode:
                    fakes.append(T.ones(2, 2))
                for change in (start, look, name):
                    with T.enable_grad():
                        real = change_of(tensors, change)
                        with mode:
                            fake = change_of(fakes, change)
                    assert real == fake, (
                        f"M15: {change} after {look} gives a tensor {real}, and a fake {fake}")
                assert fields_of(fakes[-1]) == fields_of(tensors[-1]), (
                    f"M15: {name} of {start}, {look} gives a fake other fields than a tensor")

#: check_described, described_starts [slotcore]: fakes are as what three changes made (M4, M2)
#> check_described: checks
described_starts = {
    "ones": (), "leaf": ("leaf",), "result": ("leaf", "by_two"), "view": ("leaf", "by_two", "rest"),
}
def check_described(*names):
    if in_hermetic():
        return
    for start, before in described_starts.items():
        for first in changes:
            tensors = [T.ones(2, 2)]
            with T.enable_grad():
                for name in (*before, first, *names):
                    change_of(tensors, name)
            made = MetaConverter()
            fakes = [made(one) for one in tensors]
            assert list(map(fields_of, fakes)) == list(map(fields_of, tensors)), (
                f"M4: after {first} of a {start} a fake has other fields than its tensor")
            assert shared_in(fakes) == shared_in(tensors), (
                f"M2: after {first} of a {start} fakes share what their tensors do not share")
            for one in (*tensors, *fakes):
                one.grad = None  # what owns itself by .grad is kept (A4a)

#: check_renamed [slotcore]: a fake has the sizes that its tensor has now (M9, M5)
#> check_renamed: collects checks
def layout_of(one):
    values = [*one.size(), *one.stride(), one.storage_offset()]
    return [getattr(value, "hint", value) for value in values]
def check_renamed(*names):
    if in_hermetic():
        return
    mode, tensors = FakeTensorMode(shape_env=ShapeEnv()), [T.ones(2, 2)]
    for name in ("nothing", *names):
        with T.enable_grad():
            change_of(tensors, name)
        for one in tensors:
            try:
                fake = mode.from_tensor(one)
            except refused:
                continue
            found, expected = layout_of(fake), layout_of(one)
            assert found == expected, f"M9: after {name} a fake has {found}, and not {expected}"
            del fake  # its tensor keeps its name
        gc.collect()
