"""Objects of classes of every shape, and what they are after an exchange of impls."""

#: pairs_of_class_shapes [slotcore]: each place of an object is kept, reported and freed
#> pairs_of_class_shapes: collects finalizes
import gc, itertools, slotcore_c10, weakref
class PlainMixin:
    """A class without slots that is no tensor."""
class SlotlessMixin:
    __slots__ = ()
def class_of_slots(*bases, **names):
    """A class with a slot for each of NAMES, and a metaclass of its own if these have one."""
    return type(bases[0])("Shape", bases, {"__slots__": tuple(names)})
def shapes_of_classes():
    return expressions_of("base", """
        class_of_slots(base)
        class_of_slots(base, a=1)
        class_of_slots(base, a=1, b=2, c=3)
        class_of_slots(class_of_slots(base, a=1), b=2)
        class_of_slots(class_of_slots(class_of_slots(base, a=1, b=2)), c=3)
        class_of_slots(type("Middle", (class_of_slots(base, a=1),), {}), b=2, c=3)
        type("Shape", (class_of_slots(base, a=1), PlainMixin), {})
        type("Shape", (base, PlainMixin), {})
        type("Shape", (PlainMixin, base), {})
        type("Shape", (PlainMixin, class_of_slots(base, a=1)), {})
        class_of_slots(SlotlessMixin, base, a=1)
        class_of_slots(base, SlotlessMixin, _Shape__a=1, b=2)
        type("Meta", (type(base),), {})("Shape", (base,), {"__slots__": {"a": "a text"}})""")
def places_of_class(made):
    """The names of the slots of MADE, and of what its instances have in their dicts."""
    slots = [name for one in made.__mro__ for name, member in vars(one).items()
             if type(member).__name__ == "member_descriptor" and name.isidentifier()]
    return [*slots, "in_dict", "also_in_dict"]
def filled_object(made):
    """An instance of MADE; each place has an object of its own; and weak references to these."""
    one = made(T.ones(2)) if issubclass(made, T.nn.Parameter) else made(2)
    for name in places_of_class(made):
        setattr(one, name, MarkedBytes(1))
    return one, {name: weakref.ref(getattr(one, name)) for name in places_of_class(made)}
def check_shown_and_freed(make, base):
    """gc.get_referents() calls what the collector calls."""
    made = make(base)
    one, references = filled_object(made)
    where = f"of an instance of {make.__name__}, base = {base.__name__}"
    shown = [*map(id, gc.get_referents(one)), *map(id, gc.get_referents(one.__dict__))]
    for name, reference in references.items():
        count = shown.count(id(reference()))
        assert count == 1, f"P5: {name} {where} is shown to the collector {count} times"
    assert shown.count(id(made)) == 1, f"P5: the class {where} is not shown to the collector once"
    owner = own_by_handle(one)
    del one
    lost = [name for name, reference in references.items() if reference() is None]
    assert not lost, f"P2: {lost} {where} are lost while C++ owns it"
    del owner
    left = [name for name, reference in references.items() if reference() is not None]
    assert not left, f"P5: {left} {where} live on after it"
def left_cycle(made, name, owned):
    """A cycle through place NAME of an instance, which C++ owns if OWNED, and no more of it."""
    one, references = filled_object(made)
    getattr(one, name).me = one
    return list(references.values()), own_by_handle(one) if owned else None
def pairs_of_class_shapes():
    bases = T.Tensor, T.nn.Parameter, T.UntypedStorage
    dead, alive, classes = {}, {}, {}
    for make, base in itertools.product(shapes_of_classes(), bases):
        check_shown_and_freed(make, base)
        made = make(base)
        classes[make.__name__, base.__name__] = weakref.ref(made)
        for name, owned in itertools.product(places_of_class(made), (False, True)):
            state = f"{name} of {make.__name__}, base = {base.__name__}"
            (alive if owned else dead)[state] = left_cycle(made, name, owned)
    del made
    collect_until_ended([one for references, _ in dead.values() for one in references])
    for state, (references, _) in dead.items():
        assert not any(one() for one in references), f"P5: a dead cycle stays through {state}"
    for state, kept in alive.items():
        assert all(one() for one in kept[0]), f"P2: what C++ owns lost a cycle through {state}"
    count, kept = len(alive), alive.clear()
    collect_until_ended([*classes.values()])
    left = [state for state, reference in classes.items() if reference() is not None]
    assert not left, f"P5: the classes {left} live on after their instances"
    assert len(dead) == count > 80, f"P5: only {len(dead)} places are asked"

#: pairs_of_made_parameters [slotcore]: a Parameter has what its arguments say, and shares the data
import itertools
class ParameterSub(T.nn.Parameter):
    """A Parameter's class with nothing of its own."""
def data_of_parameters():
    return expressions_of("", """
        T.ones(2)
        T.ones(3, 2).t()
        T.ones(4)[1:]
        T.tensor([3j]).conj()
        T.ones(2)._neg_view()
        T.tensor([1, 2])
        T.tensor(True)
        T.ones(2, device="meta")
        FakeTensorMode().from_tensor(T.ones(2))
        T.ones(2).requires_grad_()
        T.ones(2).requires_grad_() * 2
        T.nn.Parameter(T.ones(2))
        T.nn.Parameter(T.ones(2), False)
        ParameterSub(T.ones(2))
        T.ones(2).as_subclass(KeepingSub)
        T.Tensor._make_subclass(KeepingSub, T.ones(2), True)
        (T.ones(2).requires_grad_() * 2).as_subclass(KeepingSub)""")
def makers_of_parameters():
    """What makes a Parameter of d; and whether it requires a gradient, by the argument r."""
    return expression_rows("d, r", """
        T.nn.Parameter(d) -> True
        T.nn.Parameter(d, r) -> r
        T.nn.Parameter(data=d, requires_grad=r) -> r
        ParameterSub(d, r) -> r
        ParameterSub(requires_grad=r, data=d) -> r
        T.Tensor._make_subclass(T.nn.Parameter, d) -> False
        T.Tensor._make_subclass(T.nn.Parameter, d, r) -> r
        T.Tensor._make_subclass(ParameterSub, d, r) -> r""")
def check_made_parameter(make_data, make, requires):
    data, made = make_data(), []
    before = data.requires_grad, data.is_leaf, data._version, type(data)
    where = f"of {make.__name__} with d = {make_data.__name__}, r = {requires}"
    wanted = make.requires(data, requires)
    raised = class_raised(lambda: made.append(make(data, requires)))
    can_require = data.dtype in (T.float32, T.float64, T.complex64)
    # Parameter() takes detach(), which gives a plain tensor of an instance of ParameterSub.
    is_refused = type(data) is ParameterSub and "_make" not in make.__name__
    expected = RuntimeError if is_refused or wanted and not can_require else None
    assert raised is expected, f"P9: the call {where} raises {raised}, and not {expected}"
    after = data.requires_grad, data.is_leaf, data._version, type(data)
    assert after == before, f"P9: the call {where} makes {after} of {before} of d"
    for one in made:
        found = one.requires_grad, one.is_leaf, one.grad_fn, one.grad, one.shape, one.stride()
        right = wanted, True, None, None, data.shape, data.stride()
        assert found == right, f"P9: the result {where} has {found}, and not {right}"
        is_one = isinstance(one, T.nn.Parameter) or getattr(one, "_is_param", False)
        assert is_one, f"P9: the result {where} is no Parameter"
        assert one.untyped_storage() is data.untyped_storage(), f"P9: the result {where} is a copy"
        with T.no_grad():
            one.detach().zero_()
        assert data._version == before[2] + 1, f"P8: d does not count a write of the result {where}"
def pairs_of_made_parameters():
    for make, requires in makers_of_parameters():
        make.requires = requires
        for make_data, flag in itertools.product(data_of_parameters(), (False, True)):
            check_made_parameter(make_data, make, flag)

#: pairs_of_lives_after_swaps [slotcore]: exchanged tensors are kept, fetched and end like others
#> pairs_of_lives_after_swaps: swaps finalizes in_hermetic
import itertools, slotcore_c10, weakref
class EndNotedEqually(TensorSub):
    """A class whose instances may become those of EndNoted."""
    __del__ = note_own_end
def fetched_anew(pair):
    """C++ keeps each tensor of PAIR, which Python drops and fetches again."""
    fetches = [fetch_by_handle(one) for one in pair]
    pair.clear()
    pair += [fetch() for fetch in fetches]
def acts_before_swaps():
    """What happens to two tensors before their exchange, and how often it exchanges them."""
    return expression_rows("pair, swap", """
        len(pair) -> 0
        swap(*pair) -> 1
        [swap(*pair), swap(*pair[::-1])] -> 2
        [swap(pair[0], pair[0]), swap(pair[1], pair[1])] -> 0
        [class_raised(swap, *pair) for view in [pair[0][...]]] -> 0
        [class_raised(swap, *pair[::-1]) for owner in [gradient_owner(pair[0])]] -> 0
        [call_in_hermetic(one.conj) for one in pair].clear() -> 0
        fetched_anew(pair) -> 0
        [fetched_anew(pair), swap(*pair), fetched_anew(pair)] -> 1
        [run_and_keep(one) for one in pair].clear() -> 0
        call_in_hermetic(swap, *pair) -> 1
        [MetaConverter()(one) for one in pair].clear() -> 0""")
def leaf_noting_end(kind, numbers, ends):
    leaf = T.Tensor._make_subclass(kind, T.tensor(numbers), True)
    leaf.tag, leaf.ends = 7, ends
    return leaf
def check_life_after_swap(swap, act, times, kinds, index, own, drop):
    all_ends, all_fallen, numbers = ([], []), [], ([1.0, 2.0], [3.0, 4.0])
    pair = [*map(leaf_noting_end, kinds, numbers, all_ends)]
    act(pair, swap)
    swap(*pair)
    is_swapped = (times + 1) % 2 == 1
    source = 1 - index if is_swapped else index  # of the elements, and maybe of the object
    former = source if swap is T.utils.swap_tensors else index
    where = (f"for {'ab'[index]} of a, b of {[kind.__name__ for kind in kinds]} after"
             f" {act.__name__}, {swap.__name__}, {own.__name__}() and {drop.__name__}")
    box, other = [pair.pop(index)], pair.pop()
    reference, fetch = weakref.ref(box[0], all_fallen.append), own(box[0])
    uses = box[0]._use_count()
    drop(box, fetch)
    box.clear()
    one = fetch()
    check_is_whole(one, kinds[former], reference, all_fallen, uses, where)
    found = one.tolist(), other.tolist()
    assert found == (numbers[source], numbers[1 - source]), f"P9: a and b have {found} {where}"
    assert all_ends == ([], []), f"P3: __del__ has run {where}"
    del one, fetch
    found = reference(), len(all_fallen), all_ends[former], all_ends[1 - former], type(other)
    assert found == (None, 1, [7], [], kinds[1 - former]), (
        f"P3: [weak reference, callbacks, own ends, the other's, its class] end as {found} {where}")
    del other
    assert all_ends == ([7], [7]), f"P3: __del__ of the other has not run once {where}"
def pairs_of_lives_after_swaps():
    swaps = T.utils.swap_tensors, T._swap_tensor_impl
    kinds = ((EndNoted, EndNotedEqually), (EndNotedSlotted, EndNotedSlotted),
             (EndNotedParameter, EndNoted))
    owns = [fetch_by_handle, *functions_that_own()]
    states = itertools.product(swaps, acts_before_swaps(), owns, drops_of_wrappers())
    for number, (swap, (act, times), own, drop) in enumerate(states):
        check_life_after_swap(
            swap, act, times(None, None), kinds[number % 3], number // 3 % 2, own, drop)
