"""Writes in place: what each of them counts, returns and keeps, and what no tensor accepts."""

#: pairs_of_every_write [slotcore]: a write counts once, returns its tensor, and respects its bits
import itertools
def plain_writes():
    """Writes that each tensor accepts, also a fake; they return it."""
    return expressions_of("t", """
        t.add_(1)
        t.mul_(t)
        t.fill_(2)
        t.zero_()
        t.copy_(t)
        t.relu_()
        t.copy_(3)
        t.__iadd__(1)
        t.__imul__(True)""")
def writes_of_tensors():
    """Writes of a real tensor, which a fake does not accept; they return what they write."""
    return expressions_of("t", """
        t.fill_(T.tensor(2))
        t.add_(T.tensor(1))""")
def writes_by_index():
    """Writes that return nothing; fakes accept the first two."""
    return expressions_of("t", """
        t.__setitem__(slice(None, 0), 1)
        t.__setitem__(slice(None, 1), 1)
        t.__setitem__(..., T.tensor([1]))
        t.__setitem__(slice(None, 1), T.tensor(1))
        t.__setitem__(slice(None, 1), T.ones(1, 1))""")
def changes_of_layout():
    """Calls that give a tensor other sizes or another storage, which is on cpu."""
    return expressions_of("t", """
        t.set_()
        t.resize_(3)
        t.set_(T.UntypedStorage(8))""")
def calls_without_write():
    """Calls that write nothing and return the tensor, as it is a leaf without bits."""
    return expressions_of("t", """
        t.requires_grad_(False)
        t.detach_()
        t.conj()
        t.resolve_conj()
        t.resolve_neg()""")
def check_adds_one(write, tensor, state):
    version = tensor._version
    write(tensor)
    added = tensor._version - version
    assert added == 1, f"P8: {write.__name__} adds {added}, not 1, to the version of {state}"
def check_versions_of_sizes():
    """Each write adds one to the version, whatever the size, the dtype and the place."""
    simple, by_index, changes = plain_writes(), writes_by_index(), changes_of_layout()
    everywhere = simple + writes_of_tensors() + by_index[:3] + changes[:2]
    mode = T._subclasses.FakeTensorMode()
    dtypes = T.uint8, T.int64, T.float32, T.float64
    for size, dtype, device in itertools.product((0, 1, 2), dtypes, ("cpu", "meta")):
        state = f"t of {size} elements of {dtype} on {device}"
        # One tensor after another write, also after set_() has taken its elements away.
        tensor = T.zeros(size, dtype=dtype, device=device)
        for write in everywhere:
            check_adds_one(write, tensor, f"{state}, after the writes that precede it")
        tensor = T.zeros(size, dtype=dtype, device=device)
        for write in by_index[3:] * size:
            check_adds_one(write, tensor, state)
        if device == "cpu":
            check_adds_one(changes[2], tensor, state)
            for write in simple + by_index[:2]:
                fake = mode.from_tensor(T.zeros(size, dtype=dtype))
                check_adds_one(write, fake, f"a fake of {state}")
def check_versions_of_aliases():
    """A tensor, its views and what detach() gives share a version; .data has one of its own."""
    every = plain_writes() + writes_of_tensors() + writes_by_index() + changes_of_layout()
    for write, name in itertools.product(every, ("t", "t[:]", "t.detach()", "t.data")):
        tensor = T.zeros(1)
        aliases = {"t": tensor, "t[:]": tensor[:], "t.detach()": tensor.detach(),
                   "t.data": tensor.data}
        write(aliases[name])
        for other, alias in aliases.items():
            expected = int((name == "t.data") == (other == "t.data"))
            assert alias._version == expected, (
                f"P8: {other} has the version {alias._version}, not {expected}, after"
                f" {write.__name__} for t = {name} of T.zeros(1)")
def check_returned_tensor(call, kind):
    """CALL returns its own tensor, in hermetic mode a new wrapper of it, and outside the own one
    again if it is given a wrapper from hermetic mode."""
    def make():
        return T.Tensor._make_subclass(kind, T.zeros(1))
    where = f"for t of class {kind.__name__}"
    tensor = make()
    assert call(tensor) is tensor, f"P8: {call.__name__} returns another object {where}"
    assert type(tensor) is kind, f"P8: {call.__name__} makes it a {type(tensor).__name__} {where}"
    tensor = make()
    result, name = call_in_hermetic(call, tensor), f"{call.__name__} in hermetic mode"
    assert result is not tensor, f"P8: {name} returns the usual wrapper {where}"
    assert type(result) is T.Tensor, f"P8: {name} returns a {type(result).__name__} {where}"
    assert result._cdata == tensor._cdata, f"P8: {name} returns another impl {where}"
    uses = tensor._use_count()
    assert uses == 2, f"P8: {name} leaves the use count {uses}, not 2, {where}"
    tensor = make()
    result, name = call(call_in_hermetic(T.Tensor.zero_, tensor)), (
        f"{call.__name__} of a wrapper from hermetic mode")
    assert result is tensor, f"P8: {name} returns another object than the usual wrapper {where}"
    uses = tensor._use_count()
    assert uses == 1, f"P8: {name} leaves the use count {uses}, not 1, {where}"
def check_written_bits(write, view, number, name):
    """A write to a view whose elements are conjugated or negated leaves what a write to a copy of
    the view leaves there."""
    base = T.tensor([1 + 1j])
    copy, written = T.tensor(view(base).tolist()), base.clone()
    write(view(written), number)
    write(copy, number)
    found, expected = written.tolist(), view(copy).tolist()
    assert found == expected, (
        f"P8: {write.__name__} leaves {found}, not {expected}, in x for t = {view.__name__},"
        f" x = T.tensor([1 + 1j]), n = {name}")
def pairs_of_every_write():
    check_versions_of_sizes()
    check_versions_of_aliases()
    calls = plain_writes() + writes_of_tensors() + changes_of_layout() + calls_without_write()
    kinds = T.Tensor, TensorSub, TensorSlotted, T.nn.Parameter
    for call, kind in itertools.product(calls, kinds):
        check_returned_tensor(call, kind)
    writes = expressions_of("t, n", """
        t.add_(n)
        t.mul_(n)
        t.fill_(n)
        t.copy_(n)
        t.__setitem__(0, n)""")
    views = expressions_of("x", """
        x
        x.conj()
        x._neg_view()
        x.conj()._neg_view()""")
    numbers = {str(number): number for number in (2j, 1 + 2j, 3j, 1 - 2j)}
    numbers |= {f"{view.__name__} of another x": view(T.tensor(2 + 3j)) for view in views}
    for write, view, (name, number) in itertools.product(writes, views, numbers.items()):
        check_written_bits(write, view, number, name)

#: pairs_of_three_places [slotcore]: what is refused on cpu is refused on meta and of fakes
import itertools
def views_to_refuse():
    """Calls that no tensor of sizes (2, 3) accepts: views that it cannot have."""
    return expressions_of("t", """
        t.view(5)
        t.view(-1, -1)
        t.view(9, 9, -1)
        t.view("x")
        t.expand(7, 7)
        t.expand(-1)
        t.narrow(0, 9, 0)
        t.narrow(0, 1, 9)
        t.narrow(3, 0, 0)
        t.narrow(0, 0)
        t.select(5, 0)
        t.select(0, -9)
        t[9]
        t["x"]
        t[::-1]
        t.transpose(0, 2)
        t.transpose(-3, 0)
        t.size(2)
        t.view(2, 3, 1).t()
        t.as_strided((7,), (1,))
        t.as_strided((1,), (-1,))
        t.as_strided((-1,), (1,))
        t.as_strided((1,), ())
        t.as_strided((1,), (1,), -1)
        t.view(T.int64)
        t._neg_view().view(T.uint8)
        t[0][0].view(T.uint8)
        T.view_as_real(t)
        t.as_subclass(int)
        t.view_as(t[0])""")
def reads_to_refuse():
    """Operations and conversions that it does not have, also because it is no number."""
    return expressions_of("t", """
        len(t[0][0])
        [0][t]
        t.add("x")
        t.add_(None)
        t.mul_("x")
        t.add(t.view(-1))
        t == t.t()
        (t == t).relu()
        (t == t)._neg_view().clone()
        t.item()
        bool(t)
        float(t)
        t.is_set_to(3)""")
def writes_to_refuse():
    """Writes of what does not fit: sizes, numbers, and elements that share memory."""
    return expressions_of("t", """
        t.add_(t.view(6, 1))
        t.copy_(t.t())
        t.copy_("x")
        t.fill_(1j)
        t.fill_(1e300)
        t.fill_(t)
        t.fill_("x")
        t.expand(2, 2, 3).add_(1)
        t.view(-1)[1:].add_(t.view(-1)[:5])
        t.add_(t[0][0])
        t.view(-1)[1:].copy_(t.view(-1)[:5])
        t.mul_(1j)
        t.__setitem__(9, 1)
        t.__setitem__(0, 1j)
        t.__setitem__(0, "x")
        t.__setitem__(0, t)
        t.__delitem__(0)""")
def storages_to_refuse():
    """Other sizes and storages that it cannot get."""
    return expressions_of("t", """
        t.resize_(-1)
        t.resize_(1 << 61)
        t.resize_()
        t.set_(t, 0)
        t.set_(t, -7, (1,))
        t.set_(t, 0, (1,), (1, 1))
        t.set_(t.t(), 0, (1,))
        t.set_(t.view(T.uint8))
        t.set_(3)
        t.untyped_storage().resize_(-1)
        t.untyped_storage().__setitem__(99, 1)""")
def attributes_to_refuse():
    """Attributes that cannot be assigned, and calls about gradients, of which it has none."""
    return expressions_of("t", """
        setattr(t, "data", 3)
        setattr(t, "requires_grad", 1)
        setattr(t, "grad", 1)
        setattr(t, "grad", t)
        setattr(t, "grad", t[0])
        setattr(t, "grad", t == t)
        (t == t).requires_grad_()
        t.view(-1).detach_()
        t.backward()
        t.register_hook(3)
        t.retain_grad()""")
def numbers_or_error(tensor):
    """Its numbers, or the class of the error that says that it has no bytes."""
    numbers = []
    return class_raised(lambda: numbers.append(tensor.tolist())) or numbers[0]
def questions_to_refusing():
    """What a refused call must not change. Other threads may change the last answer."""
    return expressions_of("t", """
        numbers_or_error(t)
        t.shape
        t.stride()
        t._version
        t.is_leaf
        t.grad
        t.requires_grad
        t._use_count()
        t.untyped_storage()._use_count()
        t.untyped_storage().nbytes()
        T._live_impls()""")
def error_and_changes(call, tensor, questions):
    """The class of the error of CALL, and (question, answer before, answer after) of changes."""
    before = [question(tensor) for question in questions]
    error = class_raised(call, tensor)
    rows = zip(questions, before, [question(tensor) for question in questions])
    return error, [(question.__name__, old, new) for question, old, new in rows if old != new]
def check_refused(call, makes, questions):
    """CALL raises the same error everywhere, which the first place gives, and changes nothing."""
    expected = None
    for place, make in makes.items():
        for _ in range(9):  # what other threads change is not changed each time
            error, changes = error_and_changes(call, make(), questions)
            if not changes:
                break
        where = f"{call.__name__} for t = {place}"
        assert error is not None, f"M15: {where} raises nothing"
        expected = expected or error
        assert error is expected, f"M15: {where} raises {error}, not {expected} as on cpu"
        assert not changes, (
            f"M15: {where} is refused and changes (question, before, after) {changes}")
def pairs_of_three_places():
    new_mode, env = T._subclasses.FakeTensorMode, T.fx.experimental.symbolic_shapes.ShapeEnv
    mode, mode_with_env = new_mode(), new_mode(shape_env=env())
    makes = {"T.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])":
                 lambda: T.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
             "T.zeros(2, 3, device='meta')": lambda: T.zeros(2, 3, device="meta"),
             "a fake of T.zeros(2, 3)": lambda: mode.from_tensor(T.zeros(2, 3)),
             "a fake of T.zeros(2, 3) in a mode with an environment":
                 lambda: mode_with_env.from_tensor(T.zeros(2, 3), static_shapes=True)}
    questions = questions_to_refusing()
    for calls in (views_to_refuse(), reads_to_refuse(), writes_to_refuse(), storages_to_refuse(),
                  attributes_to_refuse()):
        for call in calls:
            check_refused(call, makes, questions)
