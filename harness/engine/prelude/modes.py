"""What lines about fake modes may call: fakes of a mode, and checks with their own expectation.

A mode that a check enters is left when the check ends.
"""

#: leave_modes [slotcore]: leaves all modes that this thread has entered
#> leave_modes: leaves_mode
leave_modes = T._meta.leave_modes

#: fake_in [slotcore]: the fake of a tensor in a mode, which notes how it was made
def fake_in(mode, tensor, **options):
    check_can_note()
    return noted(mode.from_tensor(tensor, **options))

#: check_mode [slotcore]: a mode gives one fake, inside and outside, which has the mode (M3, M7)
#> check_mode: collects checks
def check_mode(mode, tensor):
    if in_hermetic():
        return
    gc.collect()  # finalizers, which may change the tensor, run now
    fake = fake_in(mode, tensor)
    with mode:
        inside = mode.from_tensor(tensor)
        made = T.ones(2)
        derived = made.view(-1).add(1)
    gc.collect()
    assert inside is fake and mode.from_tensor(tensor) is fake, "M3: a mode has two fakes"
    for one in (fake, made, derived):
        assert one.fake_mode is mode, "M7: a fake has another mode"
        assert one.untyped_storage().data_ptr() == 0, "M7: a fake has a byte"
    assert (fake.device, made.device) == (tensor.device, T.device("cpu")), (
        "M4: a fake is on another device")

#: check_mode_refuses [slotcore]: fakes, real tensors and fakes of another mode do not mix (M7, M14)
#> check_mode_refuses: checks
def check_mode_refuses(mode, tensor):
    if in_hermetic():
        return
    real, other = T.ones(2), FakeTensorMode().from_tensor(T.ones(2))
    fake = mode.from_tensor(real)
    def seen():
        return [fields_of(one) for one in (real, other, fake)]
    before, real_before = seen(), real.tolist()
    def add_inside(one):
        with mode:
            one.add_(one)
    for mix in (lambda: fake.add(real), lambda: real.add(fake), lambda: fake.add_(other),
                lambda: real.copy_(fake), lambda: real.set_(fake.untyped_storage()),
                lambda: setattr(real, "data", fake), lambda: setattr(fake, "grad", real),
                lambda: add_inside(real), lambda: add_inside(other), lambda: fake.tolist(),
                lambda: fake[0].item(), lambda: bool(fake[0]), lambda: fake.data_ptr()):
        try:
            mix()
        except RuntimeError:  # torch's NotImplementedError is one
            continue
        assert False, "M7: a fake meets a real tensor, another mode, or has numbers"
    assert seen() == before and real.tolist() == real_before, "M14: an error changes a tensor"
    assert type(T.ones(1).add(1).item()) is float, "M14: an error leaves a mode entered"

#: check_twice: an operation gives a fake what it gave an equal one (M15, M2)
#> check_twice: checks
def shared_after(function, fake):
    try:
        result = function(fake)
    except (RuntimeError, IndexError, TypeError, NotImplementedError) as error:
        return type(error)
    layout = result.size(), result.stride(), result.storage_offset(), result.dtype
    bits = result.is_conj(), result.is_neg(), result._is_view(), result._base is fake
    shares = storage_of(result)._cdata == storage_of(fake)._cdata
    before = result._version
    fake.zero_()
    return layout, bits, storage_of(result).nbytes(), shares, result._version - before
def check_twice(function):
    mode = FakeTensorMode()
    for made in (lambda: T.ones(2, 3), lambda: T.ones(2, 3).t(), lambda: T.ones(2, 3)[1:],
                 lambda: T.ones(0, 8), lambda: T.ones(2, 3, dtype=T.int64),
                 lambda: T.ones(2, 3, dtype=T.complex64).conj()):
        with mode:
            outcomes = [shared_after(function, made()) for _ in range(2)]
        assert outcomes[0] == outcomes[1], "M15: an operation gives equal fakes what differs"

#: check_mode_forgets [slotcore]: a mode lives as long as its object and its last fake (M8)
#> check_mode_forgets: checks
def check_mode_forgets(mode):
    alone()  # the count is that of the process
    before = T._live_modes()
    for drops_mode_first in (True, False):
        made, tensor = FakeTensorMode(), T.ones(2)
        fakes = [made.from_tensor(tensor.view(-1)), made.from_tensor(tensor)]
        if drops_mode_first:
            del made
            made = fakes[0].fake_mode
            assert made is fakes[1].fake_mode, "M3: a mode has two objects"
            del made, fakes
        else:
            del fakes
            made.from_tensor(tensor)
            del made
        assert T._live_modes() == before, "M8: a mode outlives its object and its fakes"

#: check_like_calls: calls whose numbers read alike are two calls for the cache of a mode (M15)
#> check_like_calls: checks
like_calls = (
    lambda one: one.narrow(0, 1, 11), lambda one: one.narrow(0, 11, 1),
    lambda one: one.as_strided((1,), (1,), 11), lambda one: one.as_strided((1,), (11,), 1),
    lambda one: one.as_strided((1, 1), (1, 1)), lambda one: one.as_strided((11,), (1,)),
    lambda one: one.as_strided((1,), (11,)), lambda one: one.as_strided((1, 11), (1, 1)),
    lambda one: one.as_strided((11, 1), (1, 1)), lambda one: one.as_strided((1, 1), (11, 1)),
    lambda one: one.view(1, 12), lambda one: one.view(1, 1, 2, 6), lambda one: one.view(12, 1),
    lambda one: one.view(1, 2, 6), lambda one: one.expand(11, 12), lambda one: one.expand(1, 1, 12),
    lambda one: one.expand(1, 12), lambda one: one[1:11], lambda one: one[11:],
    lambda one: T.ones(1, 11), lambda one: T.ones(11, 1), lambda one: T.ones(111),
    lambda one: T.ones(1, 1, 1), lambda one: T.zeros(11, 1), lambda one: T.zeros(1, 11),
)
def sizes_in(one):
    return tuple(one.size()), one.stride(), one.storage_offset()
def check_like_calls():
    if in_hermetic():
        return
    one = T.ones(12)
    mode = FakeTensorMode()
    fake = mode.from_tensor(one)
    for place, call in enumerate(like_calls):
        expected = sizes_in(call(one))
        with mode:
            found = sizes_in(call(fake))
        assert found == expected, f"M15: call {place} gives a fake {found}, and a tensor {expected}"
