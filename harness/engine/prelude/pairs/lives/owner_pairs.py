"""Wrappers that Python drops, fetches and swaps while C++ owns their tensors and storages."""

#: call_in_hermetic [slotcore]: what FUNCTION returns when this thread calls it in hermetic mode
def call_in_hermetic(function, *given):
    with T.hermetic():
        return function(*given)

#: gradient_owner [slotcore]: another tensor that owns TENSOR as its gradient
def gradient_owner(tensor):
    owner = T.zeros(tensor.shape, dtype=tensor.dtype)
    owner.grad = tensor
    return owner

#: DoublesSaved [slotcore]: a Function that saves its argument
class DoublesSaved(T.autograd.Function):
    @staticmethod
    def forward(ctx, tensor):
        ctx.save_for_backward(tensor)
        return tensor * 2

#: fetch_by_gradient [slotcore]: another tensor owns TENSOR; what fetches it from there
def fetch_by_gradient(tensor):
    owner = T.ones(2)
    owner.grad = tensor
    return lambda: owner.grad

#: fetch_by_base [slotcore]: a view of a view owns TENSOR as its base; what fetches it from there
def fetch_by_base(tensor):
    view = tensor[1:].view(1)
    return lambda: view._base

#: fetch_by_saved [slotcore]: the node of a Function saves TENSOR; what fetches it from there
def fetch_by_saved(tensor):
    result = DoublesSaved.apply(tensor)
    return lambda: result.grad_fn.saved_tensors[0]

#: fetch_by_accumulator [slotcore]: a graph owns TENSOR as its leaf; what fetches it from there
def fetch_by_accumulator(tensor):
    node = (tensor * 2).grad_fn
    return lambda: node.next_functions[0][0].variable

#: fetch_by_tensor [slotcore]: a tensor owns STORAGE; what fetches it from there
def fetch_by_tensor(storage):
    tensor = T.zeros(1).set_(storage)[:1]
    return tensor.untyped_storage

#: functions_that_own [slotcore]: each makes C++ own a tensor, and returns what fetches it
def functions_that_own():
    return [fetch_by_gradient, fetch_by_base, fetch_by_saved, fetch_by_accumulator]

#: tagged_of_kind [slotcore]: a storage, or a leaf with requires_grad, of class KIND with a tag
def tagged_of_kind(kind):
    if issubclass(kind, T.UntypedStorage):
        one = kind(8)
    elif issubclass(kind, T.nn.Parameter):
        one = kind(T.ones(2))
    else:
        one = kind(2).requires_grad_()
    one.tag = 7
    return one

#: pairs_of_refetched, check_is_whole, drops_of_wrappers, fetch_by_handle [slotcore]: kept wrappers
#> pairs_of_refetched: finalizes
import itertools, slotcore_c10
def fetch_by_handle(one):
    """Makes an owner in C++ own ONE, and returns a function that fetches it by a weak reference."""
    kind, weak = type(one), CppWeak(one)
    owner = slotcore_c10.Owner(weak.handle)
    return lambda: owner and kind._new_with_weak_ptr(weak.handle)
def drops_of_wrappers():
    """Each drops the wrapper in BOX; some fetch it before or after that, some in hermetic mode."""
    return expressions_of("box, fetch", """
        box.clear()
        call_in_hermetic(box.clear)
        [box.append(call_in_hermetic(fetch)), box.clear()]
        fetch()
        [call_in_hermetic(fetch), box.clear()]
        [box.clear(), call_in_hermetic(lambda: [fetch()].clear())]
        [box.clear(), box.append(fetch()), call_in_hermetic(box.clear)]""")
def check_is_whole(one, kind, reference, ended, uses, where):
    """ONE must be what REFERENCE refers to, with what it had, and USES references own its impl."""
    assert one is reference(), f"P2: it is fetched as another object {where}"
    assert type(one) is kind, f"P2: it is fetched as a {type(one).__name__} {where}"
    tag = getattr(one, "tag", None)
    assert tag == 7, f"P2: its attribute is {tag}, not 7, {where}"
    assert one._use_count() == uses, f"P2: its use count is {one._use_count()}, not {uses}, {where}"
    assert not ended, f"P2: the callback of a weak reference ran {where}"
def check_hermetic_wrapper(hermetic_one, one, where):
    base = T.Tensor if isinstance(one, T.Tensor) else T.UntypedStorage
    assert hermetic_one is not one, f"P2: hermetic mode gives the same wrapper {where}"
    assert type(hermetic_one) is base, (
        f"P2: hermetic mode gives a {type(hermetic_one).__name__} {where}")
    assert hermetic_one._cdata == one._cdata, f"P2: hermetic mode gives another impl {where}"
def check_refetched(kind, own, drop):
    where = f"for a {kind.__name__} owned as in {own.__name__}() after {drop.__name__}"
    box, ended = [tagged_of_kind(kind)], []
    reference, fetch = weakref.ref(box[0], ended.append), own(box[0])
    uses = box[0]._use_count()
    drop(box, fetch)
    box.clear()
    one, hermetic_one = fetch(), call_in_hermetic(fetch)
    check_is_whole(one, kind, reference, ended, uses + 1, where)  # 1 for the hermetic wrapper
    check_hermetic_wrapper(hermetic_one, one, where)
    del hermetic_one, fetch
    where = f"{where} and the end of its owner"
    check_is_whole(one, kind, reference, ended, 1, where)
    del one
    assert reference() is None, f"P2: it lives on {where}"
    assert len(ended) == 1, f"P2: the callback of a weak reference ran {len(ended)} times {where}"
def pairs_of_refetched():
    tensor_kinds = T.Tensor, TensorSub, TensorSlotted, T.nn.Parameter
    states = [*itertools.product(tensor_kinds, [fetch_by_handle, *functions_that_own()]),
              *itertools.product((T.UntypedStorage, Sub), (fetch_by_handle, fetch_by_tensor))]
    for (kind, own), drop in itertools.product(states, drops_of_wrappers()):
        check_refetched(kind, own, drop)

#: pairs_of_wrapped_in_modes [slotcore]: hermetic mode gives fresh wrappers, and keeps the other one
import itertools
def own_new_gradient(tensor):
    """A backward makes a gradient that has no wrapper yet. It has nothing to do with TENSOR."""
    leaf = T.ones(2).requires_grad_()
    leaf.sum().backward()
    return lambda: leaf.grad
def own_new_storage(storage):
    """A tensor makes a storage that has no wrapper yet. It has nothing to do with STORAGE."""
    return T.ones(2)[1:].untyped_storage
def drop_first(wrappers, drop_inside, where):
    """Drops the first hermetic wrapper, which must end then, in hermetic mode or not."""
    reference = weakref.ref(wrappers[0])
    if drop_inside:
        call_in_hermetic(wrappers.__delitem__, 0)
    else:
        del wrappers[0]
    assert reference() is None, f"H1: a hermetic wrapper lives when it was dropped {where}"
def check_two_hermetic(one, other, base, where):
    for wrapper in (one, other):
        assert type(wrapper) is base, (
            f"H1: hermetic mode gives a {type(wrapper).__name__}, not a {base.__name__}, {where}")
        assert not hasattr(wrapper, "tag"), f"H1: a hermetic wrapper has an attribute {where}"
    assert one is not other, f"H1: hermetic mode gives the same wrapper twice {where}"
    assert one._cdata == other._cdata, f"H1: hermetic mode gives two impls {where}"
def check_wrapper_outside(fetch, hermetic_one, kind, tag, where):
    """The wrapper out of the mode is as it was before, and what HERMETIC_ONE returns is it."""
    one = fetch()
    assert type(one) is kind, f"H1: it is now a {type(one).__name__} {where}"
    assert fetch() is one, f"H1: two wrappers outside hermetic mode {where}"
    if isinstance(one, T.Tensor):  # conj() of a tensor of real numbers returns the tensor itself
        assert hermetic_one.conj() is one, f"H1: conj() of the hermetic wrapper wraps anew {where}"
    assert one._cdata == hermetic_one._cdata, f"H1: the wrappers have two impls {where}"
    assert getattr(one, "tag", 0) == tag, f"H1: the attribute is lost {where}"
def check_wrapped_in_modes(kind, base, own, is_new, keep, drop_inside):
    where = (f"for a {kind.__name__} owned as in {own.__name__}(), with its wrapper "
             + ("not made before" if is_new else "kept" if keep else "dropped")
             + ", hermetic wrappers dropped " + ("inside" if drop_inside else "outside"))
    one = tagged_of_kind(kind)
    fetch = own(one)
    if not keep:
        del one
    uses = call_in_hermetic(fetch)._use_count()
    wrappers = call_in_hermetic(lambda: [fetch(), fetch()])
    check_two_hermetic(*wrappers, base, where)
    drop_first(wrappers, drop_inside, where)
    check_wrapper_outside(fetch, wrappers[0], kind, 0 if is_new else 7, where)
    drop_first(wrappers, drop_inside, where)
    # With this protocol the wrapper stays, once it is made, and owns a reference.
    uses += is_new and T._preservation == "refcount-bit"
    now = call_in_hermetic(fetch)._use_count()
    assert now == uses, f"H1: the use count is {now}, not {uses}, {where}"
def pairs_of_wrapped_in_modes():
    tensor_kinds = T.Tensor, TensorSub, TensorSlotted, T.nn.Parameter
    states = [(kind, T.Tensor, own, False) for kind in tensor_kinds for own in functions_that_own()]
    states += [(T.Tensor, T.Tensor, own_new_gradient, True)]
    states += [(kind, T.UntypedStorage, fetch_by_tensor, False)
               for kind in (T.UntypedStorage, Sub)]
    states += [(T.UntypedStorage, T.UntypedStorage, own_new_storage, True)]
    for state, keep, drop_inside in itertools.product(states, (True, False), (False, True)):
        check_wrapped_in_modes(*state, keep, drop_inside)

#: pairs_of_swapped_after, run_and_keep [slotcore]: a reference forbids a swap while it lives
import itertools, slotcore_c10
def run_and_keep(tensor):
    """The graph of a backward that has run, and that left TENSOR a gradient."""
    result = tensor * 2
    result.sum().backward(retain_graph=True)
    tensor.grad.tag = 7
    return result
def holders_of_both():
    """What owns the impl of t, or has a weak reference of C++ to it: nothing swaps it."""
    return expressions_of("t", """
        t[...]
        t * t
        gradient_owner(t)
        CppWeak(t)
        slotcore_c10.Owner(CppWeak(t).handle)
        call_in_hermetic(t.conj)
        DoublesSaved.apply(t)""")
def holders_of_accumulator():
    """What owns only the AccumulateGrad of t: swap_tensors() does it, and _swap_tensor_impl()
    refuses."""
    return expressions_of("t", """
        2 * t
        (t + 1).grad_fn
        t.sum()
        (t * 3).grad_fn.next_functions[0][0]
        run_and_keep(t)""")
def holders_of_weak_references():
    """What refers to the object: swap_tensors(), which exchanges types and attributes, refuses,
    and _swap_tensor_impl(), which leaves them, does it."""
    return expressions_of("t", """
        weakref.ref(t)
        weakref.proxy(t)
        weakref.WeakKeyDictionary({t: 1})""")
def holders_of_neither():
    """What shares bytes with t, has ended its use of t, or owns only its wrapper: both do it."""
    return expressions_of("t", """
        t.detach()
        t.data
        memoryview(t.untyped_storage())
        class_raised(t.add_, 1)
        t.add_""")
def questions_to_impl():
    return expressions_of("t", """
        t.tolist()
        t._cdata
        t._version
        t._backward_hooks
        getattr(t.grad, "tag", 0)""")
def leaf_of_kind(kind, size):
    leaf = T.Tensor._make_subclass(kind, T.ones(size), True)
    leaf.tag = size
    leaf.register_hook(lambda gradient: None)
    return leaf
def asked_of_both(questions, tensors):
    """By question, what the two TENSORS answer; type and attribute belong to the object."""
    answers = {question.__name__: [question(tensor) for tensor in tensors]
               for question in questions}
    of_object = {"type(t)": [type(tensor) for tensor in tensors],
                 "t.tag": [tensor.tag for tensor in tensors]}
    return answers, of_object
def check_refused_swap(swap, tensors, questions, where):
    before = asked_of_both(questions, tensors)
    assert class_raised(swap, *tensors) is RuntimeError, f"P8: {where} is not refused"
    for now, former in zip(asked_of_both(questions, tensors), before):
        for question in now:
            assert now[question] == former[question], (
                f"P8: {where} is refused, but {question} gives {now[question]} for a and b, "
                f"and gave {former[question]}")
def check_done_swap(swap, tensors, questions, where):
    before, before_of_object = asked_of_both(questions, tensors)
    assert class_raised(swap, *tensors) is None, f"P8: {where} is refused"
    now, now_of_object = asked_of_both(questions, tensors)
    if swap is T.utils.swap_tensors:  # it exchanges also the types and the attributes
        now, before = {**now, **now_of_object}, {**before, **before_of_object}
    else:
        assert now_of_object == before_of_object, (
            f"P8: after {where}: the objects have {now_of_object}, and had {before_of_object}")
    for question in now:
        assert now[question] == before[question][::-1], (
            f"P8: after {where}: {question} gives {now[question]} for the two, "
            f"and gave {before[question]}")
def check_swapped_after(swap, hold, is_refused, index, kinds, questions):
    names = f"a ({kinds[0].__name__}) and b ({kinds[1].__name__})"
    where = f"{swap.__name__} of {names} while {hold.__name__} of t = {'ab'[index]} is kept"
    tensors = [leaf_of_kind(kind, size) for kind, size in zip(kinds, (2, 3))]
    held = hold(tensors[index])
    check = check_refused_swap if is_refused else check_done_swap
    check(swap, tensors, questions, where)
    del held
    where = f"{where} and again, in the other order, when that is dropped"
    check_done_swap(swap, tensors[::-1], questions, where)
    for tensor in tensors:
        assert tensor[...]._base is tensor, f"P8: a view has another base after {where}"
        assert gradient_owner(tensor).grad is tensor, f"P8: .grad is another object after {where}"
        uses = tensor._use_count()
        assert uses == 1, f"P8: the use count is {uses}, not 1, after {where}"
def pairs_of_swapped_after():
    both, accumulator = holders_of_both(), holders_of_accumulator()
    weak, neither = holders_of_weak_references(), holders_of_neither()
    kinds = (T.Tensor, TensorSub), (TensorSlotted, TensorSlotted), (T.nn.Parameter, T.Tensor)
    questions = questions_to_impl()
    for swap, refused_for, done_for in (
            (T.utils.swap_tensors, both + weak, accumulator + neither),
            (T._swap_tensor_impl, both + accumulator, weak + neither)):
        for hold, index, pair in itertools.product(refused_for + done_for, (0, 1), kinds):
            check_swapped_after(swap, hold, hold in refused_for, index, pair, questions)
