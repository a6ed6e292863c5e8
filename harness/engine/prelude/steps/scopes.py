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
