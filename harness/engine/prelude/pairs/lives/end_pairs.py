"""When tensors end: cycles through what they own, and finalizers that still ask them."""

#: pairs_of_cycles, MarkedBytes, collect_until_ended [slotcore]: dead cycles of what tensors own
import itertools
class MarkedBytes(bytearray):
    """Bytes that may have attributes and weak references."""
def leaf_like(tensor):
    return T.ones(tensor.shape).requires_grad_()
def over_bytes_that_hold(held):
    """A tensor over bytes that it borrows from an object which refers to HELD."""
    lender = MarkedBytes(8)
    lender.more = held
    return T.frombuffer(lender, dtype=T.float32)
def on_storage_that_holds(held):
    """A tensor whose storage has an attribute that refers to HELD."""
    tensor = TensorSub(2)
    tensor.untyped_storage().more = held
    return tensor
def with_hook_that_holds(held):
    """A leaf with a hook that refers to HELD."""
    leaf = leaf_like(held)
    leaf.register_hook(lambda gradient: held)
    return leaf
def links_of_cpp():
    """Each gives another tensor, which owns t in C++: by a base, a graph or .grad."""
    return expressions_of("t", """
        t[...]
        leaf_like(t) * t
        t.requires_grad_() * 2
        gradient_owner(t)""")
def links_of_python():
    """Each gives another tensor, which owns an object of Python that refers to t."""
    return expressions_of("t", """
        over_bytes_that_hold(t)
        on_storage_that_holds(t)
        with_hook_that_holds(t)""")
def places_that_close():
    """Each makes leaf own the tensor last, which closes the cycle."""
    return expressions_of("leaf, last", """
        setattr(leaf, "more", last)
        setattr(leaf, "box", last)
        leaf.register_hook(lambda gradient, held=last: held)
        setattr(leaf.untyped_storage(), "more", last)""")
def owners_outside():
    """Each gives an object that is not in the cycle, and that owns a tensor of it."""
    return expressions_of("leaf, middle, last", """
        leaf
        middle
        gradient_owner(last)
        [leaf.untyped_storage(), last]""")
def leave_tensor_cycle(inner, outer, close, own=None, keeps_middle=False):
    """Leaves the cycle leaf -> last -> middle -> leaf, and returns a weak reference to an
    attribute of leaf, which lives as long as leaf does, and what OWN gives."""
    leaf = TensorSlotted(2).requires_grad_()
    leaf.sign = MarkedBytes(1)
    middle = inner(leaf)
    middle.tag = [7]  # a wrapper with an attribute lives as long as C++ owns its tensor
    last = outer(middle)
    close(leaf, last)
    leaf.middle = middle if keeps_middle else None
    return weakref.ref(leaf.sign), own and own(leaf, middle, last)
def collect_until_ended(references):
    """An object that one collection frees may be what kept another cycle alive."""
    for _ in range(9):
        gc.collect()
        if all(reference() is None for reference in references):
            break
def pairs_of_cycles():
    python_links, closes, owns = links_of_python(), places_that_close(), owners_outside()
    links = links_of_cpp() + python_links
    dead, alive, owners = {}, {}, []
    for inner, outer in itertools.product(links, links):
        names = f"middle = ({inner.__name__} of leaf), last = ({outer.__name__} of middle)"
        for close in closes:
            state = f"{names}, {close.__name__}"
            dead[state], _ = leave_tensor_cycle(inner, outer, close)
            if outer in python_links:  # so that Python alone owns middle, by two references
                state = f"{state}, leaf.middle = middle"
                dead[state], _ = leave_tensor_cycle(inner, outer, close, keeps_middle=True)
        for own in owns:
            state = f"{names}, {closes[0].__name__}, owned by {own.__name__}"
            alive[state], owner = leave_tensor_cycle(inner, outer, closes[0], own)
            owners.append(owner)
    del owner
    collect_until_ended(dead.values())
    for state, reference in dead.items():
        assert reference() is None, f"P5: the collector leaves the cycle {state}"
    for state, reference in alive.items():
        assert reference() is not None, f"P5: the collector frees the cycle {state}"
    owners.clear()
    collect_until_ended(alive.values())
    for state, reference in alive.items():
        assert reference() is None, f"P5: the collector leaves the cycle {state}, which has ended"

#: pairs_of_finalizers [slotcore]: __del__ runs once, when nothing owns the tensor, which answers
import itertools
def run_at_end(tensor):
    tensor.at_end(tensor)
class EndingTensor(TensorSub):
    __del__ = run_at_end
class EndingSlotted(TensorSlotted):
    __del__ = run_at_end
class EndingParameter(T.nn.Parameter):
    __del__ = run_at_end
def leaf_with_gradient(kind, numbers):
    leaf = T.Tensor._make_subclass(kind, numbers, True)
    leaf.grad = leaf.detach()
    return leaf
def address_of(tensor):
    return tensor is not None and tensor._cdata
def makes_of_ending():
    """Each gives a tensor of class KIND over the same numbers, with what a tensor may have."""
    return expressions_of("kind, numbers", """
        leaf_with_gradient(kind, numbers)
        leaf_with_gradient(kind, numbers[1:].conj())
        kind(numbers.detach())
        numbers._neg_view().as_subclass(kind)""")
def questions_to_ending():
    return expressions_of("t", """
        t.tolist()
        t.shape
        address_of(t._base)
        address_of(t.grad)
        t._version
        t._use_count()
        t.tag
        t.is_conj()
        type(t)
        id(t)
        t.untyped_storage().tolist()
        t.detach().tolist()
        t.requires_grad
        t.is_leaf
        t.grad_fn
        t._cdata
        (t + 1).tolist()
        t[...].tolist()""")
def drops_of_ending():
    """What drops the last reference from Python, and what makes C++ own the tensor before."""
    owns = expressions_of("t", """
        gradient_owner(t)
        gradient_owner(t) if t._is_view() else t[...]
        2 * t if t.requires_grad else gradient_owner(t)""")
    outside, inside = expressions_of("box", """
        box.clear()
        call_in_hermetic(box.clear)""")
    return [(outside, None), (inside, None), *((outside, own) for own in owns)]
def acts_of_finalizers():
    """What __del__ does with its tensor, and what fetches a tensor that it has resurrected."""
    acts = expressions_of("t, kept", """
        len(t)
        call_in_hermetic(lambda: [t.sum()].clear())
        kept.append(t)
        kept.append(gradient_owner(t))""")
    return list(zip(acts, (None, None, lambda kept: kept, lambda kept: kept.grad)))
def check_answers(questions, answers, expected, where):
    for question, answer, right in zip(questions, answers, expected):
        assert answer == right, f"P3: {question.__name__} gives {answer}, not {right}, {where}"
def check_finalizer(make, kind, numbers, drop, own, act, fetch, questions):
    owned = f" and then the end of its owner {own.__name__}" if own else ""
    where = (f"for t = {make.__name__}, kind = {kind.__name__}, whose __del__ calls "
             f"{act.__name__}, after {drop.__name__}{owned}")
    ends, kept = [], []
    def note_end(tensor):
        ends.append([question(tensor) for question in questions])
        act(tensor, kept)
    box = [make(kind, numbers)]
    box[0].tag, box[0].at_end = 7, note_end
    expected = [question(box[0]) for question in questions]
    reference, owner = weakref.ref(box[0]), own and own(box[0])
    drop(box)
    assert own is None or not ends, f"P3: __del__ runs too early {where}"
    del owner
    assert len(ends) == 1, f"P3: __del__ runs {len(ends)} times {where}"
    check_answers(questions, ends[0], expected, f"in __del__ {where}")
    if fetch is not None:
        tensor = fetch(kept.pop())
        assert tensor is reference(), f"P3: another object is resurrected {where}"
        again = [question(tensor) for question in questions]
        check_answers(questions, again, expected, f"when resurrected {where}")
        del tensor
    assert reference() is None, f"P3: a weak reference gives what has ended {where}"
    assert len(ends) == 1, f"P3: __del__ runs {len(ends)} times {where}"
    assert not kept, f"P3: __del__ keeps {kept} {where}"
def check_late_reference(make, kind, numbers, drop, own):
    """The first weak reference to a tensor is one that its __del__ makes."""
    where = (f"that __del__ makes of t = {make.__name__}, kind = {kind.__name__}, after"
             f" {drop.__name__}{f' and the end of {own.__name__}' if own else ''}")
    references, called = [], []
    box = [make(kind, numbers)]
    box[0].at_end = lambda tensor: references.append(weakref.ref(tensor, called.append))
    owner = own and own(box[0])
    drop(box)
    del owner
    assert [one() for one in references] == [None], f"P4: a weak reference is not cleared {where}"
    assert called == references, f"P4: the callback of a weak reference does not run {where}"
def pairs_of_finalizers():
    numbers = T.tensor([[1 + 2j, 3], [5j, 7]])
    kinds = EndingTensor, EndingSlotted, EndingParameter
    questions = questions_to_ending()
    states = itertools.product(makes_of_ending(), kinds, drops_of_ending(), acts_of_finalizers())
    for make, kind, (drop, own), (act, fetch) in states:
        check_finalizer(make, kind, numbers, drop, own, act, fetch, questions)
    for make, kind, (drop, own) in itertools.product(makes_of_ending(), kinds, drops_of_ending()):
        check_late_reference(make, kind, numbers, drop, own)

#: ActsAtEnd, over_ending_bytes, saved_as_packs, with_end, with_ending_hook [slotcore]: call at ends
class ActsAtEnd:
    """Calls ACT when it dies."""
    def __init__(self, act):
        self.act = act
    def __del__(self):
        self.act()
class BytesAtEnd(ActsAtEnd, bytearray):
    __init__ = bytearray.__init__
class PacksTensor:
    """What a pack hook gives for a tensor; HELD dies with it."""
    def __init__(self, tensor, held):
        self.tensor, self.held = tensor, held
def over_ending_bytes(act):
    lender = BytesAtEnd(8)
    lender.act = act
    return T.frombuffer(lender, dtype=T.float32)
def with_end(tensor, act):
    tensor.tag = ActsAtEnd(act)
    return tensor
def saved_as_packs(act):
    leaf = T.ones(2).requires_grad_()
    held = ActsAtEnd(act)
    with T.autograd.graph.saved_tensors_hooks(
            lambda tensor: PacksTensor(tensor, held), lambda packs: packs.tensor):
        return leaf * leaf
def with_ending_hook(tensor, act):
    held = ActsAtEnd(act)
    tensor.register_hook(lambda gradient: held)
    return tensor

#: pairs_of_ends_within [slotcore]: what Python drops while C++ frees an object dies at once
#> pairs_of_ends_within: finalizes
import itertools
def with_weak_callback(tensor, act):
    reference = weakref.ref(tensor, lambda reference: act())
    return [reference, tensor]
def places_that_act():
    """Each gives an object that calls `act` when C++ frees what it owns."""
    return expressions_of("act", """
        over_ending_bytes(act)
        over_ending_bytes(act)[1:]
        over_ending_bytes(act).untyped_storage()[4:]
        with_end(T.ones(2), act)
        with_end(T.UntypedStorage(2), act)
        with_end(TensorSlotted(2), act)
        gradient_owner(with_end(T.ones(2), act))
        with_end(T.ones(2), act)[...]
        with_end(T.ones(2).requires_grad_(), act) * 2
        with_end(fn().apply(T.ones(2).requires_grad_()).grad_fn, act)
        saved_as_packs(act)
        with_ending_hook(T.ones(2).requires_grad_(), act)
        with_ending_hook(T.ones(2).requires_grad_(), act) * 2
        with_ending_hook(T.ones(2).requires_grad_() * 2, act)
        with_weak_callback(T.ones(2), act)
        with_weak_callback(T.UntypedStorage(2), act)""")
def objects_that_end():
    """Each makes t, and gives what nothing but t owns."""
    return expression_rows("t", """
        T.ones(2) -> t
        T.ones(2) -> t.untyped_storage()
        T.ones(2)[1:] -> t._base
        T.ones(2)[1:] -> t._base.untyped_storage()
        T.ones(2).requires_grad_() * 2 -> t.untyped_storage()
        with_end(T.ones(2), list) -> t
        T.UntypedStorage(2) -> t
        T.UntypedStorage(2)[1:] -> t
        gradient_owner(T.ones(2)) -> t.grad
        gradient_owner(T.ones(2)) -> t.grad.untyped_storage()""")
def check_end_within(place, make, part, drop):
    box, seen = [make(None)], []
    weak = CppWeak(part(box[0]))
    def act():
        box.clear()
        seen.append(weak.expired())
    holder = [place(act)]
    drop(holder)
    assert seen == [True], (
        f"P4: whether {part.__name__} of t = {make.__name__} is expired where {drop.__name__} ends"
        f" {place.__name__}, and act drops t: {seen}")
def pairs_of_ends_within():
    drops = expressions_of("box", """
        box.clear()
        call_in_hermetic(box.clear)""")
    for place, (make, part), drop in itertools.product(places_that_act(), objects_that_end(),
                                                       drops):
        check_end_within(place, make, part, drop)
