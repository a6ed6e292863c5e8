"""Calls that raise: tensors, graphs, arguments and bytes that are lent stay as they were."""

#: pairs_of_refusals [slotcore]: a call that raises changes no tensor, and no graph of it
import itertools
class OtherSlots(T.Tensor):
    __slots__ = ("more", "another")
class BaseWithoutSlots(T.Tensor):
    __slots__ = ()
class EqualSlots(BaseWithoutSlots):
    """Python finds only late that an object of this class cannot become one of the other class."""
    __slots__ = TensorSlotted.__slots__
def hooked_leaf(leaf):
    leaf.register_hook(lambda gradient: gradient * 5)
    return leaf
def leaf_that_ran(leaf):
    (leaf * 1).sum().backward()
    leaf.grad = None
    return leaf
def weakly_referenced(tensor):
    tensor.reference = weakref.ref(tensor)
    return tensor
def tensors_of_graphs():
    """Tensors of two elements that lead to the leaf x, or are x."""
    return expressions_of("x", """
        x
        hooked_leaf(x)
        leaf_that_ran(x)
        x * 2
        x[...]
        (x * 1).mul_(2)
        x.expand(1, 2)[0]
        x.conj()
        (x * 1)._neg_view()
        fn().apply(x)""")
def calls_that_raise():
    return expressions_of("t", """
        T.utils.swap_tensors(t, OtherSlots(2))
        T.utils.swap_tensors(OtherSlots(2), t)
        T.utils.swap_tensors(t, EqualSlots(2))
        T.utils.swap_tensors(EqualSlots(2), t)
        T.utils.swap_tensors(t, weakly_referenced(TensorSub(2)))
        T.utils.swap_tensors(t, T.ones(2).untyped_storage())
        T._swap_tensor_impl(t, t.untyped_storage())
        t.resize_(99)
        t.set_(T.UntypedStorage(1), -1, (2,))
        t.copy_(T.ones(3, 3))
        t.add_(T.ones(5))
        t.mul_("text")
        t.fill_(T.ones(2))
        t.view(7)
        t.as_strided((9, 9), (9, 9))
        t.expand(5, 7)
        t.narrow(0, 1, 2)
        t.register_hook(7)
        t.requires_grad_("text", "text")
        t.backward(T.ones(9))
        t.backward(T.ones(2, dtype=T.complex64), inputs=[T.ones(2)])
        T.autograd.grad(t, T.ones(2).requires_grad_(), T.ones(2))
        T.autograd.backward([t, t], [T.ones(2), T.ones(3)])
        T.autograd.backward([t, T.ones(2)], [T.ones(2), T.ones(2)])
        setattr(t, "grad", T.ones(9))
        setattr(t, "grad", T.ones(2, dtype=T.complex64))
        setattr(t, "grad", t)
        setattr(t, "data", "text")
        setattr(t, "requires_grad", "text")
        t.__setitem__(7, 1)
        t.__setitem__(0, "text")
        t.__setitem__(0, T.ones(3))""")
def with_plain_hooks(tensor):
    """Python has no weak references to a plain dict, so no hook can get a handle."""
    tensor._backward_hooks = {}
    return tensor
def states_that_refuse():
    """Tensors like those above, and for each a call that raises for it and not for all."""
    states = expressions_of("x", """
        with_plain_hooks(x)
        with_plain_hooks(x * 2)
        x.detach()
        x
        x[...]
        x
        x[...]
        x * 2
        x[...]
        (x * 2)[...]
        x.detach()
        x.detach()""")
    calls = expressions_of("t", """
        t.register_hook(lambda gradient: gradient * 5)
        t.register_hook(lambda gradient: gradient * 5)
        t.register_hook(lambda gradient: gradient * 5)
        t.mul_(2)
        t.mul_(2)
        t.copy_(t * 2)
        t.fill_(5)
        t.requires_grad_(False)
        t.detach_()
        t.detach_()
        t.retain_grad()
        t.backward(T.ones(2))""")
    return list(zip(states, calls, strict=True))
def of_tensor(tensor):
    """What tells whether TENSOR has changed; without its number of references."""
    return (type(tensor), tensor._cdata, tensor._version, tensor.size(), tensor.stride(),
            tensor.dtype, tensor.tolist(), tensor.requires_grad, tensor.is_leaf,
            tensor.untyped_storage().data_ptr())
def owned_by_tensor(tensor):
    return tensor.grad_fn, tensor.grad, tensor._base
def gradient_through(make, call):
    """The gradient of the leaf after CALL, or the error of the backward; the error of CALL; and
    what has changed at once."""
    leaf = TensorSlotted(2).requires_grad_()
    with T.no_grad():
        leaf.fill_(2)
    tensor = make(leaf)
    result, before, owned = tensor * 3, of_tensor(tensor), owned_by_tensor(tensor)
    raised = class_raised(call, tensor)
    changed = [new for old, new in zip(before, of_tensor(tensor)) if old != new]
    changed += [new for old, new in zip(owned, owned_by_tensor(tensor)) if old is not new]
    error = class_raised(result.sum().backward)
    return error or leaf.grad.tolist(), raised, changed
def pairs_of_refusals():
    pairs = itertools.product(tensors_of_graphs(), calls_that_raise())
    for make, call in [*pairs, *states_that_refuse()]:
        expected, _, _ = gradient_through(make, lambda tensor: None)
        gradient, raised, changed = gradient_through(make, call)
        where = f"{call.__name__} with t = {make.__name__}"
        assert raised is not None, f"P8: {where} does not raise"
        assert not changed, f"P8: {where} raises {raised} and makes it have {changed}"
        assert gradient == expected, (
            f"P8: after {where}, which raises {raised}, the gradient of x is {gradient},"
            f" not {expected}")

#: pairs_of_odd_arguments [slotcore]: a call that refuses an argument has no reference to it left
import itertools, sys
def odd_arguments():
    """By name: objects that a call may begin to read before it finds that they do not fit."""
    return {
        "numbers and a text": (2, "x"), "objects": [object(), object()],
        "unequal rows": [[1, 2], [3]], "too many": (1,) * 70,
        "a function": lambda *given: object(), "a tensor": T.ones(2),
    }
def callables_of(owner):
    """The functions and methods of OWNER by name, without those of any object."""
    return {name: getattr(owner, name) for name in dir(owner)
            if name not in dir(object) and callable(getattr(owner, name, None))}
def asked_callables():
    """By name: what makes the function anew, since a call may change the object of a method."""
    # These change the thread's modes, or take the addresses of C++ objects as numbers.
    left_out = {"enter_hermetic", "exit_hermetic", "set_grad_enabled", "leave_modes",
                "_new_with_weak_ptr", "_free_weak_ref", "_fix_weakref", "_expired"}
    makes = {f"{module.__name__}.{name}": lambda found=found: found
             for module in (T, T._meta, T.autograd) for name, found in callables_of(module).items()
             if name not in left_out}
    leaf = T.ones(2).requires_grad_()
    for text, make in (("leaf * 2", lambda: leaf * 2),
                       ("T.UntypedStorage(3)", lambda: T.UntypedStorage(3)),
                       ("(leaf * 2).grad_fn", lambda: (leaf * 2).grad_fn)):
        makes.update({f"({text}).{name}": lambda name=name, make=make: getattr(make(), name)
                      for name in callables_of(make()) if name not in left_out})
    return makes
def counts_of(argument):
    """The reference counts of ARGUMENT and of the objects in it that nothing else has."""
    parts = argument if isinstance(argument, (tuple, list)) else ()
    return [sys.getrefcount(one) for one in (argument, *parts) if type(one) not in (int, str)]
def call_with_odd(make, argument):
    """The errors of calls in which ARGUMENT is first, second, or has a name."""
    def call(*given, **named):
        return class_raised(lambda: make()(*given, **named))
    return {call(argument), call((1, 2), argument), call(2, dtype=argument)}
def pairs_of_odd_arguments():
    for (name, make), (kind, argument) in itertools.product(
            asked_callables().items(), odd_arguments().items()):
        before = counts_of(argument)
        errors = call_with_odd(make, argument)
        assert SystemError not in errors, f"P8: {name} with {kind} raises a SystemError"
        after = counts_of(argument)
        assert after == before, (
            f"P5: {name} with {kind}, {argument}, leaves the reference counts {after},"
            f" and found {before}")

#: pairs_of_exports, borrow, set_on [slotcore]: only a call that would move lent bytes raises
import itertools
def borrow(lender, **part):
    return T.frombuffer(lender, dtype=T.uint8, **part)
def set_on(storage):
    return T.zeros(0, dtype=T.uint8).set_(storage)
def ask_too_much(lender):
    """Asks for bytes that LENDER lacks: each error must leave nothing lent."""
    return [class_raised(lambda: borrow(lender, **part))
            for part in ({"count": 99}, {"offset": 99})]
def over_released_view(lender):
    """A tensor over a view that was released, so that only the tensor borrows."""
    view = memoryview(lender)
    borrower = borrow(view[2:])
    view.release()
    return borrower
def view_after_errors(lender):
    view = memoryview(lender)
    ask_too_much(view), ask_too_much(lender), borrow(lender)
    return view
def state_of_bytes(storage, tensor):
    return (bytes(storage), storage._use_count(), tensor.tolist(), tensor.stride(),
            tensor._version, tensor._use_count())
def storages_to_lend():
    return expressions_of("", """
        T.UntypedStorage(range(8))
        Sub(range(8))
        T.zeros(2).untyped_storage().copy_(T.UntypedStorage(range(8)))
        T.UntypedStorage(2).resize_(8).copy_(T.UntypedStorage(range(8)))""")
def calls_that_move():
    return expressions_of("s, t", """
        s.resize_(8)
        s.resize_(0)
        s.resize_(99)
        t.resize_(9)
        t.set_(s, 1, (8,))""")
def calls_that_move_nothing():
    return expressions_of("s, t", """
        t.resize_(3)
        t.set_(s, 2, (2, 2))
        s.fill_(7)
        t.add_(1)
        s[1:].fill_(5)
        t.set_(s)
        t.set_(s, 6)
        t.zero_()
        s.copy_(T.UntypedStorage(range(8)))
        t.set_()
        t.resize_(9)""")
def check_lent(make, lend, moves, others):
    """A storage with a borrower, beside another from which nobody borrows."""
    storage, other = make(), make()
    tensor, other_tensor = set_on(storage), set_on(other)
    borrower = lend(storage)
    where = f"while {lend.__name__} borrows from s = {make.__name__}"
    for move in moves:
        before = storage.data_ptr(), state_of_bytes(storage, tensor)
        assert class_raised(move, storage, tensor) is BufferError, (
            f"P8: {move.__name__} moves bytes {where}")
        assert (storage.data_ptr(), state_of_bytes(storage, tensor)) == before, (
            f"P8: {move.__name__} raises and changes something {where}")
    for call in others:
        assert class_raised(call, storage, tensor) is class_raised(call, other, other_tensor), (
            f"P8: {call.__name__} raises something else {where}")
        assert state_of_bytes(storage, tensor) == state_of_bytes(other, other_tensor), (
            f"P8: {call.__name__} does something else {where}")
    del borrower
    assert class_raised(storage.resize_, 99) is None, (
        f"P8: s = {make.__name__} stays lent after {lend.__name__} has ended")
def pairs_of_exports():
    lends = expressions_of("s", """
        memoryview(s)
        memoryview(s)[3:5]
        memoryview(s).cast("I")
        memoryview(memoryview(s))
        borrow(s)
        borrow(s, offset=2, count=3)
        borrow(memoryview(s)[4:])
        borrow(s)[2:].detach()
        borrow(borrow(s).untyped_storage())
        [memoryview(s), borrow(s)]
        view_after_errors(s)
        borrow(s).view(2, 4).t()
        set_on(borrow(s))
        memoryview(borrow(s).untyped_storage())
        borrow(s, offset=2).untyped_storage()[1:]
        over_released_view(s)""")
    lends_nothing = expressions_of("s", """
        memoryview(s).release()
        ask_too_much(s)
        ask_too_much(memoryview(s))
        [*memoryview(s)]
        memoryview(s[1:])
        borrow(s[1:])
        s.clone()
        set_on(s)
        borrow(s).clone()
        [borrow(s), memoryview(s), over_released_view(s)][:0]
        memoryview(borrow(s[2:]).untyped_storage())
        s[:]""")
    makes, moves, others = storages_to_lend(), calls_that_move(), calls_that_move_nothing()
    for make, lend in itertools.product(makes, lends):
        check_lent(make, lend, moves, others)
    for make, lend, move in itertools.product(makes, lends_nothing, moves):
        storage = make()
        kept = lend(storage)
        assert class_raised(move, storage, set_on(storage)) is None, (
            f"P8: {move.__name__} raises, though {lend.__name__} borrows nothing")
