"""What lines about scopes may call: `with` blocks, one in the other, which an exception leaves.

The model of a scope is what it changes of the thread's state. Inside, the state is what the outer
scopes and this one make of it; afterwards it is what it was.
"""

#: packed_by, packing, scopes: each scope with what it changes of a thread's state
import contextlib
packed_by = []
def packing(name):
    return T.autograd.graph.saved_tensors_hooks(
        lambda saved: (packed_by.append(name), saved)[1], lambda packed: packed)
scopes = {
    "nothing": (contextlib.nullcontext, {}), "hermetic_mode": (hermetic, {"hermetic": True}),
    "no_grad": (T.no_grad, {"records": False}),
    "enable_grad": (T.enable_grad, {"records": True}),
    "grad_disabled": (lambda: T.set_grad_enabled(False), {"records": False}),
    "grad_enabled": (lambda: T.set_grad_enabled(True), {"records": True}),
    "packs": (lambda: packing("packs"), {"packs": "packs"}),
    "packs_otherwise": (lambda: packing("packs_otherwise"), {"packs": "packs_otherwise"}),
    "fake_mode": (FakeTensorMode, {"makes_fakes": True}),
    "device": (lambda: T.on_device(1), {}),
    "hook": (lambda: T.ones(1).requires_grad_().register_hook(print), {}),
}

#: check_scopes [slotcore]: scopes change the state of a thread, and put it back (H4)
#> check_scopes: in_hermetic checks
class LeavesScope(Exception):
    pass
def check_scopes(*names):
    tensor, leaf = T.ones(1), T.ones(1).requires_grad_()
    storage, states, kept = tensor.untyped_storage(), [], []
    def state():
        makes_fakes = hasattr(T.empty(0), "fake_mode")
        packed_by.clear()
        if not makes_fakes:  # a fake mode refuses the leaf
            with T.enable_grad():
                leaf * leaf
        return {"hermetic": tensor.untyped_storage() is not storage, "makes_fakes": makes_fakes,
                "records": T.is_grad_enabled(), "packs": packed_by[0] if packed_by else None}
    def enter(expected, name, *inner):
        scope, changed = scopes[name]
        try:
            with scope():
                within = {**expected, **changed}
                states.append((f"in {name}", state(), within))
                if inner:
                    enter(within, *inner)
                raise LeavesScope
            kept.append(name)
        except LeavesScope:
            states.append((f"after {name}", state(), expected))
    enter(state(), *names)
    assert not kept, f"H4: {kept[0]} keeps an exception"
    for when, found, expected in states:
        if found["makes_fakes"]:
            expected = {**expected, "packs": None}
        assert found == expected, f"H4: {when} the state of the thread is {found}"

#: entered_again, assert_left: a mode that was entered within itself leaves what it found (A5e)
#> assert_left: checks
def enter_later(mode):
    with mode:
        pass
    with mode:
        pass
def enter_within(mode):
    with mode, mode:
        pass
def enter_and_raise(mode):
    try:
        with mode, mode:
            raise KeyError("leaves the mode")
    except KeyError:
        pass
def enter_by_recursion(mode):
    if not callable(mode):
        return enter_later(mode)  # one that is set at once is not left otherwise
    @mode
    def call(depth):
        return depth and call(depth - 1)
    call(2)
entered_again = {"within": enter_within, "later": enter_later, "by an error": enter_and_raise,
                 "by recursion": enter_by_recursion}
def assert_left(name, make, state, entry):
    before = state()
    try:
        entered_again[entry](make())
    except (AttributeError, RuntimeError, TypeError):  # it may refuse
        pass
    after = state()
    assert after == before, f"A5e: {name} that is entered again leaves {after}, and found {before}"

#: check_mode_again, modes_again: modes of recording that are entered again (A5e)
#> check_mode_again: checks
def hooks_now():
    packed_by.clear()
    with T.enable_grad():
        leaf = T.ones(1).requires_grad_()
        leaf * leaf
    return packed_by[:1]
modes_again = {"no_grad": (T.no_grad, T.is_grad_enabled),
               "enable_grad": (T.enable_grad, T.is_grad_enabled),
               "hooks for saved tensors": (lambda: packing("packs"), hooks_now)}
def check_mode_again(name, entry):
    assert_left(name, *modes_again[name], entry)
