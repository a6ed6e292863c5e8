"""What lines about interrupts may call: an act on an object while a call works on it.

CPython runs the collector when it allocates an object, and the collector runs Python code. A call
that has looked at its object before holds addresses, sizes and modes that are no longer true.
"""

#: Interrupt: an object in a dead cycle, which acts when the collector comes
class Interrupt:
    def __init__(self, act):
        self.me, self.act, self.error, self.ran = self, act, [], []
    def __del__(self):
        self.ran.append(True)
        try:
            self.act()
        except (BufferError, *refused):
            pass
        except Exception as error:
            self.error.append(error)

#: Subject: a leaf that has a gradient, a hook, an attribute and a result; its view can be written
class Subject:
    def __init__(self):
        self.tensor = T.tensor([[1.0, 2.0], [3.0, 4.0]])
        self.storage, self.view = storage_of(self.tensor), self.tensor.detach().view(-1)
        self.tensor.requires_grad_()
        self.tensor.grad, self.tensor.note = T.ones(2, 2), [7]
        self.handle = self.tensor.register_hook(lambda gradient: gradient)
        self.result, self.wrapped = self.tensor * self.tensor, []
    def look(self):
        grad, base = self.tensor.grad, self.view._base
        return (looked_at(self.tensor), looked_at(self.view), looked_at(self.storage),
                *[None if one is None else looked_at(one) for one in (grad, base)],
                sorted(self.tensor.__dict__), self.result is None or self.result.requires_grad)

#: interrupted_calls, changing_calls: calls on a Subject, and those that change it or what it allows
interrupted_calls = {
    "tolist": lambda one: one.tensor.tolist(), "bytes": lambda one: one.storage.tolist(),
    "numbers_of_view": lambda one: one.view.tolist(), "view": lambda one: one.tensor.view(-1),
    "row": lambda one: one.tensor[0], "rest": lambda one: one.tensor[1:],
    "strided": lambda one: one.tensor.as_strided((2,), (2,)),
    "detached": lambda one: one.tensor.detach(), "data": lambda one: one.tensor.data,
    "clone": lambda one: one.tensor.clone(), "sum": lambda one: one.tensor.sum().item(),
    "plus": lambda one: one.tensor.add(one.view.view(2, 2)), "size": lambda one: one.tensor.size(),
    "stride": lambda one: one.tensor.stride(), "grad": lambda one: one.tensor.grad.tolist(),
    "storage": lambda one: one.tensor.untyped_storage(), "base": lambda one: one.view._base,
    "slice": lambda one: one.storage[4:12], "exported": lambda one: bytes(memoryview(one.storage)),
    "node": lambda one: one.result.grad_fn, "next": lambda one: one.result.grad_fn.next_functions,
    "gradients": lambda one: T.autograd.grad(one.result.sum(), one.tensor, retain_graph=True),
    "hooks": lambda one: dict(one.tensor._backward_hooks or ()),
    "subclass": lambda one: one.tensor.as_subclass(TensorSub),
    "parameter": lambda one: T.nn.Parameter(one.tensor), "attributes": lambda one: vars(one.tensor),
    "fake": lambda one: FakeTensorMode().from_tensor(one.tensor),
    "described": lambda one: T._meta.dumps(described(one.tensor, one.view)),
    "ones": lambda one: T.ones(2), "made": lambda one: T.tensor([[1, 2], [3, 4]]),
    "made_storage": lambda one: T.UntypedStorage([1, 2, 3]), "class": lambda one: type(
        "Made", (T.Tensor,), {"__slots__": ("mark",)}),
    "write": lambda one: one.view.fill_(5), "copy": lambda one: one.view.copy_(T.ones(4)),
    "set": lambda one: one.view.set_(one.storage, 0, (2,), (1,)),
    "resize": lambda one: one.storage.resize_(64), "new_grad": lambda one: setattr(
        one.tensor, "grad", T.zeros(2, 2)),
    "hook": lambda one: one.tensor.register_hook(lambda gradient: None),
    "backward": lambda one: one.result.sum().backward(),
    "swap": lambda one: T.utils.swap_tensors(one.view, T.ones(3)),
}
changing_calls = ("write", "copy", "set", "resize", "new_grad", "hook", "backward", "swap",
                  "exported", "gradients")  # a pin forbids to resize; a backward records nothing

#: interrupting_acts: what happens to a Subject meanwhile
def wrap_all(one):
    one.wrapped += [one.tensor.grad, one.view._base, one.tensor.untyped_storage(),
                    one.result.grad_fn]
interrupting_acts = {
    "fills": lambda one: one.storage.fill_(9), "grows": lambda one: one.storage.resize_(1 << 16),
    "empties": lambda one: one.storage.resize_(0), "shrinks": lambda one: one.storage.resize_(5),
    "takes_data": lambda one: setattr(one.tensor, "data", T.ones(1)),
    "sets_view": lambda one: one.view.set_(T.ones(3)),
    "swaps": lambda one: T.utils.swap_tensors(one.view, T.ones(3)),
    "detaches": lambda one: one.result.detach_(), "drops_grad": lambda one: setattr(
        one.tensor, "grad", None),
    "drops_graph": lambda one: setattr(one, "result", None),
    "runs_graph": lambda one: one.result.sum().backward(),
    "removes_hook": lambda one: one.handle.remove(),
    "adds_hook": lambda one: one.tensor.register_hook(lambda gradient: None),
    "clears": lambda one: one.tensor.__dict__.clear(), "wraps": wrap_all,
    "collects": lambda one: gc.collect(), "enters_hermetic": lambda one: T.enter_hermetic(),
    "leaves_hermetic": lambda one: T.exit_hermetic(),
}

#: check_interrupted [slotcore]: an interrupted call leaves what the interrupt alone leaves (P8)
#> check_interrupted: collects finalizes checks
def check_interrupted(name, act, after):
    if in_hermetic():
        return
    alone()  # another thread might run the interrupt
    before, was_enabled = gc.get_threshold(), gc.isenabled()
    with T.enable_grad():
        one, other = Subject(), None if name in changing_calls else Subject()
        if other and act not in ("enters_hermetic", "leaves_hermetic"):
            try:
                interrupting_acts[act](other)
            except refused:
                pass
        gc.collect()
        gc.disable()
        interrupt = Interrupt(lambda: interrupting_acts[act](one))
        errors, ran, made = interrupt.error, interrupt.ran, None
        if act == "leaves_hermetic":
            T.enter_hermetic()
        del interrupt
        gc.set_threshold(gc.get_count()[0] + after)
        gc.enable()
        try:
            made = interrupted_calls[name](one)
        except (AttributeError, TypeError, *refused):
            pass  # of what the interrupt has dropped
        finally:
            gc.disable()
            gc.set_threshold(*before)
            if not ran:  # the call allocates less
                gc.collect()
            if in_hermetic():
                T.exit_hermetic()
            if was_enabled:
                gc.enable()
    del made
    if errors:
        raise errors[0]
    if other:
        found, expected = one.look(), other.look()
        assert found == expected, f"P8: {name} leaves {found}, where {act} alone leaves {expected}"
