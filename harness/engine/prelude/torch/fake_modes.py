"""Fake modes on PyTorch: what lines may call, and checks with their own expectation.

A mode that a check enters is left when the check ends.
"""

#: leave_modes, entered_mode [torch meta]: leaves all modes that this thread has entered
#> leave_modes: leaves_mode
def entered_mode():
    if hasattr(T._C, "_get_torch_dispatch_mode"):  # before 2.0 a thread has one mode
        return T._C._get_torch_dispatch_mode()
    return T.utils._python_dispatch._get_current_dispatch_mode()
def leave_modes():
    while entered_mode() is not None:
        entered_mode().__exit__(None, None, None)

#: TwoTensor, two_tensor [torch meta]: torch's own subclass that is made of two tensors
#> TwoTensor: exotic
#> two_tensor: exotic
from torch.testing._internal.two_tensor import TwoTensor
def two_tensor(one, other):
    parts = [(two.size(), two.stride(), two.storage_offset(), two.dtype) for two in (one, other)]
    if parts[0] != parts[1]:
        raise ValueError("two layouts")  # torch asserts it, without words
    return TwoTensor(one, other)

#: check_two_tensor [torch meta]: a tensor of two conjugates as each of them does (P9)
#> check_two_tensor: checks exotic
def check_two_tensor():
    one = T.tensor([1 + 2j, 3 - 1j])
    expected, both = (one.conj() * 2).tolist(), TwoTensor(one, one.clone()).conj() * 2
    assert both.a.tolist() == both.b.tolist() == expected, (
        f"P9: a tensor of two gives {both.a.tolist()}, and each by itself {expected}")

#: Unflattenable [torch meta]: the same, but nothing is made of the parts again
#> Unflattenable: exotic
class Unflattenable(TensorDispatching):
    def __tensor_flatten__(self):
        return ["inner"], None
    @staticmethod
    def __tensor_unflatten__(inner, meta, size, stride):
        raise ValueError("no parts")

#: ConvertingDel [torch meta]: an instance whose __del__ converts a tensor
#> ConvertingDel: finalizes
class ConvertingDel:
    def __init__(self, tensor, mode):
        self.tensor, self.mode = tensor, mode
    def __del__(self):
        try:
            self.mode.from_tensor(self.tensor)
        except (AssertionError, AttributeError, *refused):  # a line has made it unfit
            pass

#: convert_again [torch meta]: a weakref callback that converts a tensor
converted_again = []
def convert_again(mode):
    def callback(reference):
        try:
            converted_again.append(mode.from_tensor(T.ones(1)))
        except (AssertionError, *refused):  # in a mode the tensor is a fake
            pass
    return callback

#: check_mode [torch meta]: a mode gives one fake, inside and outside, which has the mode (M3, M7)
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
    assert (fake.device, made.device) == (tensor.device, T.device("cpu")), (
        "M4: a fake is on another device")

#: check_mode_left [torch meta]: an exception leaves a mode (M14)
#> check_mode_left: checks
def check_mode_left(mode):
    before = entered_mode()
    try:
        with mode:
            raise KeyError
    except KeyError:
        pass
    assert entered_mode() is before, "M14: an error leaves a mode entered"

#: check_mode_refuses [torch meta]: what cannot be mixed raises, and changes nothing (M7, M14)
#> check_mode_refuses: checks
def mixes_of(mode, real, fake, other):
    def add_inside(one):
        with mode:
            one.add_(one)
    return {"fake and real": lambda: fake.add(real), "real and fake": lambda: real.add(fake),
            "two modes": lambda: fake.add_(other), "a copy": lambda: real.copy_(fake),
            "a storage": lambda: real.set_(storage_of(fake)),
            "data": lambda: setattr(real, "data", fake),
            "a gradient": lambda: setattr(fake, "grad", real),
            "real inside": lambda: add_inside(real), "other inside": lambda: add_inside(other),
            "a list": lambda: fake.tolist(), "an item": lambda: fake[0].item(),
            "a truth": lambda: bool(fake[0])}
def new_mixes():
    mode, real = FakeTensorMode(), T.ones(2)
    return mixes_of(mode, real, mode.from_tensor(real), FakeTensorMode().from_tensor(real))
def is_allowed(name):
    try:
        new_mixes()[name]()
    except Exception:  # 1.13 raises no other class
        return False
    return True
mixes_of_release = tuple(name for name in new_mixes() if is_allowed(name))
def check_mode_refuses(mode, tensor):
    def seen(tensors):
        return [fields_of(one) for one in tensors], tensors[0].tolist()
    before = entered_mode()
    for name in [one for one in new_mixes() if one not in mixes_of_release]:
        real, other = T.ones(2), FakeTensorMode().from_tensor(T.ones(2))
        tensors = [real, mode.from_tensor(real), other]
        had = seen(tensors)
        try:
            mixes_of(mode, *tensors)[name]()
        except Exception:
            assert entered_mode() is before, f"M14: {name}: an error leaves a mode entered"
            assert seen(tensors) == had, f"M14: {name}: an error changes a tensor"
            continue
        assert False, f"M7: {name} is not refused"

#: check_mode_forgets [torch meta]: a mode lives as long as its object and its last fake (M8)
#> check_mode_forgets: checks
def check_mode_forgets(mode):
    if in_hermetic():
        return
    # A dispatch that is not in the cache may leave its mode in a cycle, which stays until the
    # collector runs. A release promises something only if that is so whatever the cache has.
    getattr(type(mode), "cache_clear", lambda: None)()
    for drops_mode_first in (True, False):
        made, tensor = type(mode)(), T.ones(2)
        fakes = [made.from_tensor(tensor.view(-1)), made.from_tensor(tensor)]
        kept = weakref.ref(made)
        if drops_mode_first:
            del made
            assert fakes[0].fake_mode is fakes[1].fake_mode, "M3: a mode has two objects"
            del fakes
        else:
            del fakes
            made.from_tensor(tensor)
            del made
        assert kept() is None, "M8: a mode outlives its object and its fakes"

#: check_made_in_mode [torch meta]: what is made in a mode is a fake of it, on each device (M7)
#> check_made_in_mode: checks
def check_made_in_mode(make, device):
    if in_hermetic():
        return
    with T.inference_mode(False), FakeTensorMode() as mode:
        made = make(device)
    assert getattr(made, "fake_mode", None) is mode, (
        f"M7: in a mode, {called_by(make)} on {device} gives no fake")
