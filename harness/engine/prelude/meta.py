"""What lines about descriptions and fakes may call, and checks with their own expectation.

A check compares by the public attributes of tensors, and shares nothing with the describer. Each
assert begins with the number of the contract's sentence.
"""

#: MetaConverter: torch's class that gives a tensor its fake
MetaConverter = T._subclasses.meta_utils.MetaConverter

#: FakeTensorMode: torch's class, in which operations take and give fakes only
FakeTensorMode = T._subclasses.FakeTensorMode

#: all_questions: what a description must get right, by public attributes
def is_leaf_of(tensor):
    try:
        return tensor.is_leaf
    except RuntimeError:  # a view that a custom Function returned, and that was written since
        return False
all_questions = {
    "size": lambda one: tuple(one.size()), "stride": lambda one: one.stride(),
    "offset": lambda one: one.storage_offset(), "type": lambda one: one.dtype,
    "bytes": lambda one: storage_of(one).nbytes(),
    "resizable": lambda one: storage_of(one).resizable(),
    "requires_grad": lambda one: one.requires_grad, "leaf": is_leaf_of,
    "conjugate bit": lambda one: one.is_conj(), "negative bit": lambda one: one.is_neg(),
    "version": lambda one: one._version, "view": lambda one: one._is_view()}

#: questions [slotcore]: all are promises, and so is what a description says of how a view was made
def creation_of(tensor):
    return MetaConverter().describer.describe_tensor(tensor).creation_meta
questions = {**all_questions, "creation": creation_of}

#: fields_of: the answers of a tensor, and of its base and gradients, which have places
def fields_of(tensor):
    found, rows, place = [tensor], [], {tensor._cdata: 0}
    for one in found:
        links = []
        for other in (one._base, one.grad):
            if other is not None and other._cdata not in place:
                place[other._cdata] = len(found)
                found.append(other)
            links.append(None if other is None else place[other._cdata])
        rows.append(([ask(one) for ask in questions.values()], links))
    return rows

#: promised [slotcore]: that a check holds
def promised(check, *operands):
    return check

#: fake_of, noted, check_can_note [slotcore]: a fake, which notes how it was made
def check_can_note():
    if in_hermetic():  # and a circle of grads would have no wrapper by which to break it
        raise RuntimeError("a hermetic wrapper notes nothing")
def noted(fake):
    found = [fake]
    for one in found:
        if "as_made" not in one.__dict__:
            one.as_made = fields_of(one)
            found += [other for other in (one._base, one.grad) if other is not None]
    return fake
def fake_of(converter, tensor):
    check_can_note()
    return noted(converter(tensor))

#: is_as_made [slotcore]: whether no line has changed a fake
def is_as_made(fake):
    return not in_hermetic() and fake.as_made == fields_of(fake)

#: described, described_with_data, converted [slotcore]: descriptions, and a fake from one
def described(*tensors):
    return T._meta.describe(MetaConverter().describer, *tensors)
def described_with_data(tensor):
    return T._meta.describe(MetaConverter().describer, tensor, copy_data=True)
def converted(converter, description):
    check_can_note()
    return [noted(fake) for fake in T._meta.convert(converter, description)][0]

#: check_exact [slotcore]: a new fake has all fields of its tensor, and a former one its layout (M4)
#> check_exact: checks
def check_exact(converter, tensor):
    if in_hermetic():
        return
    assert fields_of(MetaConverter()(tensor)) == fields_of(tensor), (
        "M4: a field of the fake is not that of the tensor")
    fake = fake_of(converter, tensor)
    if not is_as_made(fake):
        return
    # A line may have changed what this fake shares with others: bytes, version, base.
    layouts = [(one.size(), one.stride(), one.storage_offset(), one.dtype, one.is_conj(),
                one.is_neg(), one._is_view()) for one in (fake, tensor)]
    assert layouts[0] == layouts[1], "M4: the layout of the fake is not that of the tensor"
    is_parameter = converter.describer.describe_tensor(tensor).is_parameter
    assert (type(fake) is T.nn.Parameter) == is_parameter, (
        "M4: the fake of a Parameter has another class")

#: bytes_of: the bytes of a storage that a tensor has
def bytes_of(tensor):
    places = [tensor.storage_offset()]
    for size, stride in zip(tensor.size(), tensor.stride()):
        places = [place + i * stride for place in places for i in range(min(size, 64))][:4096]
    width = tensor.element_size()
    return {place * width + i for place in places for i in range(width)}

#: sharing_of: what two tensors share
def sharing_of(one, other):
    storages = [storage_of(two)._cdata for two in (one, other)]
    bases = [two if two._base is None else two._base for two in (one, other)]
    # By impls: a line may have a hermetic wrapper.
    return (storages[0] == storages[1], bytes_of(one) & bytes_of(other),
            bases[0]._cdata == bases[1]._cdata, one._cdata == other._cdata,
            [storage_of(base)._cdata == storage for base, storage in zip(bases, storages)])

#: check_shared [slotcore]: storages, bytes, bases and versions that two fakes share (M2)
#> check_shared: checks
def check_shared(converter, one, other):
    if in_hermetic():
        return
    fresh = MetaConverter()  # no line has changed its fakes
    assert sharing_of(fresh(one), fresh(other)) == sharing_of(one, other), (
        "M2: the fakes do not share what the tensors share")
    base = T.ones(4)
    fakes = [converter(two) for two in (base.detach(), base, base.view(2, 2), T.ones(4))]
    before = [fake._version for fake in fakes]
    fakes[0].zero_()
    counted = [fake._version - version for fake, version in zip(fakes, before)]
    assert counted == [1, 1, 1, 0], "M2: a write to a fake is counted elsewhere"

#: check_same [slotcore]: one id and one fake, as long as both live (M3)
#> check_same: collects checks
def check_same(converter, tensor):
    if in_hermetic():
        return
    gc.collect()  # finalizers, which may change the tensor, run now
    number = converter.describer.describe_tensor(tensor).id
    fake = fake_of(converter, tensor)
    gc.collect()
    converter.sweep()
    assert converter.describer.describe_tensor(tensor).id == number, "M3: an id has changed"
    assert converter(tensor) is fake, "M3: a tensor has two fakes"

#: check_changed [slotcore]: each change of a tensor gives a new fake, and the old one stays (M9)
#> check_changed: checks
def check_changed(converter, tensor):
    if in_hermetic():
        return
    changes = (lambda one: one.resize_(one.numel() + 1), lambda one: one.set_(T.ones(5)),
               lambda one: one.requires_grad_(), lambda one: one.zero_(),
               lambda one: setattr(one, "grad", T.ones(tuple(one.size()))),
               lambda one: one.untyped_storage().resize_(one.untyped_storage().nbytes() + 4))
    for change in changes:
        changed = T.ones(tuple(tensor.size()))
        former = converter(changed)
        before = fields_of(former)
        with T.no_grad():
            change(changed)
        fake = converter(changed)
        assert fake is not former, "M9: a changed tensor has its former fake"
        assert fields_of(fake) == fields_of(changed), "M9: the new fake has another field"
        assert fields_of(former) == before, "M9: the former fake has changed"

#: check_unseen [slotcore]: describing changes nothing that can be asked of a tensor (M10)
#> check_unseen: checks swaps
def check_unseen(converter, tensor):
    def seen():
        return (tensor._use_count(), tensor._version, weakref.getweakrefcount(tensor),
                T._live_impls(), T._live_wrappers(), sorted(tensor.__dict__))
    alone()  # the counts are those of the process
    converter.sweep()  # else describing might, which frees what is left of dead impls
    before = seen()
    converter.describer.describe_tensor(tensor)
    assert seen() == before, "M10: describing has changed the tensor"
    if in_hermetic():
        return
    one, other = T.ones(2), T.ones(3)
    fake = converter(one)
    try:
        T.utils.swap_tensors(one, other)
    except RuntimeError:
        assert False, "M10: describing forbids an exchange of the tensor"
    assert converter(other) is fake, "M10: a fake does not follow its tensor"

#: check_forgets [slotcore]: tables keep no fake and no tensor, and give no id twice (M8, M3)
#> check_forgets: checks
def check_forgets(converter):
    numbers = [converter.describer.describe_tensor(T.ones(2)).id for _ in range(3)]
    assert len(set(numbers)) == 3, "M3: an id is given twice"
    if in_hermetic():
        return
    converter.sweep()
    before = T._meta.memo_sizes(converter)
    for drops_fake_first in (True, False):
        tensor = T.ones(2)
        fake = converter(tensor)
        handle = (fake if drops_fake_first else tensor)._weak_ref()
        if drops_fake_first:
            del fake
        else:
            del tensor
        expired = T.Tensor._expired(handle)
        T.Tensor._free_weak_ref(handle)
        tensor = fake = None
        assert expired, "M8: a table keeps a fake or a tensor"
        converter.sweep()
        assert T._meta.memo_sizes(converter) == before, "M3: an entry outlives what it is for"

#: check_ids [slotcore]: no id comes back, and addresses do (M3)
#> check_ids: checks
TENSORS_OF_CHECK = 400  # more than the blocks that a quarantine of freed memory holds back
def check_ids(converter):
    describe = converter.describer.describe_tensor
    numbers = {describe(T.ones(1)).id for _ in range(TENSORS_OF_CHECK)}
    assert len(numbers) == TENSORS_OF_CHECK, "M3: an id came back with an address"

#: check_circle [slotcore]: a circle of grads needs no recursion (M17)
#> check_circle: checks
def check_circle(converter):
    if in_hermetic():
        return
    one, other = T.ones(1), T.ones(1)
    one.grad, other.grad = other, one
    fake = converter(one)
    is_circle = fake.grad.grad is fake
    one.grad = fake.grad = None  # C++ owns a circle, which only the user can break
    assert is_circle, "M17: the fakes of a circle are no circle"

#: check_no_data [slotcore]: a fake has no byte, and what needs one raises (M7)
#> check_no_data: checks
def check_no_data(tensor):
    if in_hermetic():
        return
    try:
        fake = MetaConverter()(tensor)
    except RuntimeError:  # only the data decides its size, so it has no description
        return
    assert fake.data_ptr() == 0 and fake.untyped_storage().data_ptr() == 0, "M7: a fake has a byte"
    for read in (lambda: fake.item(), lambda: fake.tolist(), lambda: bool(fake)):
        try:
            read()
        except RuntimeError:  # torch's NotImplementedError is one
            continue
        assert False, "M7: a fake has a number"

#: outcome_of [slotcore]: what an operation gives, and what it leaves of its tensor
def outcome_of(function, tensor):
    try:
        result = fields_of(function(tensor))
    except (RuntimeError, IndexError, TypeError) as error:
        result = type(error)
    return result, fields_of(tensor)

#: check_propagates [slotcore]: an operation gives a fake what it gives a tensor (M15)
#> check_propagates: checks
def check_propagates(function, tensor):
    if in_hermetic():
        return
    try:
        tensor.is_leaf
    except RuntimeError:  # its history is unknown, which is an error for the tensor alone
        return
    mode = FakeTensorMode()
    fake, fake_in_mode = MetaConverter()(tensor), mode.from_tensor(tensor)
    try:
        expected = outcome_of(function, tensor)
    except BufferError:  # the bytes are exported; a fake has none
        return
    assert outcome_of(function, fake) == expected, (
        "M15: an operation gives a tensor on meta what it does not give the tensor")
    with mode:
        outcome = outcome_of(function, fake_in_mode)
    assert outcome == expected, "M15: an operation gives a fake what it does not give the tensor"
