"""Ends of wrappers: what watches them sees, an error that passes, and objects that resurrect."""

#: pairs_of_watched_ends [slotcore]: whatever learns of the end of an object finds it gone
#> pairs_of_watched_ends: finalizes in_hermetic starts_thread
import gc, itertools, slotcore_c10, weakref
class WatchedStorage(T.UntypedStorage):
    __slots__ = "tag", "box"
class WatchedTensor(T.Tensor):
    __slots__ = "tag", "box"
class WatchedDeep(type("WithoutSlots", (WatchedTensor,), {})):
    __slots__ = "more"
def makes_of_watched():
    return expressions_of("", """
        TensorSub(2)
        WatchedDeep(2)
        T.nn.Parameter(T.ones(2))
        T.ones(2)[1:]
        T.ones(2).requires_grad_() * 2
        T.frombuffer(bytearray(8), dtype=T.float32)
        WatchedStorage(2)
        T.UntypedStorage(4)[1:]""")
def watches_of_ends():
    """Each calls `act` when the end of its object is known, and gives what must live till then."""
    return expressions_of("one, act", """
        weakref.ref(one, lambda reference: act())
        [weakref.ref(one), weakref.ref(one, lambda reference: act()), weakref.ref(one)]
        weakref.finalize(one, act)
        [weakref.WeakSet([one]), weakref.ref(one, lambda reference: act())]
        setattr(one, "tag", ActsAtEnd(act))
        setattr(one, "more", [ActsAtEnd(act)])
        setattr(one, "other", {1: ActsAtEnd(act)})
        setattr(one, "__dict__", {"made": ActsAtEnd(act)})
        setattr(one, "note", with_end(T.ones(1), act))
        setattr(one, "note", own_by_handle(with_end(Sub(1), act)))""")
def ways_to_end():
    """Each drops the only reference to the object in BOX, which C++ may have owned meanwhile."""
    return expressions_of("box", """
        box.clear()
        call_in_hermetic(box.clear)
        [[own_by_handle(box[0]), box.clear()].pop(0).drop(), T._live_impls()]
        [[own_by_handle(box[0]), box.clear()].pop(0).drop_on_thread(), T._live_impls()]
        with_end(T.ones(1), box.clear).zero_()
        [own_by_handle(with_end(Sub(1), box.clear))].clear()
        weakref.ref(T.ones(1), lambda reference: box.clear()) and box.clear()
        in_death_by_graph(box.clear)""")
def seen_of_gone(reference, weak):
    """What Python and C++ still give of an object, where only None and errors are right."""
    kind = weak.kind
    return [reference() is not None, not weak.expired(),
            kind._new_with_weak_ptr(weak.handle) is not None,
            call_in_hermetic(kind._new_with_weak_ptr, weak.handle) is not None,
            class_raised(slotcore_c10.Owner, weak.handle) is not RuntimeError]
def check_watched_end(make, watch, end):
    box, seen = [make()], []
    reference, weak = weakref.ref(box[0]), CppWeak(box[0])
    watching = watch(box[0], lambda: seen.append(seen_of_gone(reference, weak)))
    where = f"of one = {make.__name__}, {watch.__name__}, after {end.__name__}"
    assert seen == [], f"P3: the end is known too early {where}"
    end(box)
    assert len(seen) == 1, f"P3: the end is noted {len(seen)} times {where}"
    assert not any(seen[0]), (
        f"P4: [weak reference, expired, wrap, hermetic wrap, owner] give {seen[0]} {where}")
    assert not any(seen_of_gone(reference, weak)), f"P4: it comes back after the end {where}"
    del watching
def pairs_of_watched_ends():
    states = itertools.product(makes_of_watched(), watches_of_ends(), ways_to_end())
    for make, watch, end in states:
        check_watched_end(make, watch, end)

#: pairs_of_ends_amid_errors, unraisable_noted [slotcore]: what dies leaves the error that passes
#> pairs_of_ends_amid_errors: finalizes in_hermetic
import contextlib, gc, itertools, slotcore_c10, sys
class ErrorThatPasses(Exception):
    """An error that has one argument, and no other error before it."""
@contextlib.contextmanager
def unraisable_noted():
    """What nobody can catch is noted here alone, and not by the prelude."""
    former, noted = sys.unraisablehook, []
    sys.unraisablehook = lambda hook: noted.append(type(hook.exc_value))
    try:
        yield noted
    finally:
        sys.unraisablehook = former
def raise_now(error):
    raise error
def ways_to_die_amid():
    """Each raises `error` while only a stack, a list or a frame has what `make` makes."""
    return expressions_of("make, error", """
        len(make(), raise_now(error))
        T.ones(2).add_(make(), raise_now(error))
        [*(raise_now(error) if i else make() for i in range(2))]
        tuple(map(lambda call: call(), [lambda: make(), lambda: raise_now(error)]))
        dict([(0, make()), raise_now(error)])
        fn().apply(make(), raise_now(error))
        contextlib.ExitStack().__exit__(make(), raise_now(error))
        call_in_hermetic(lambda: [make(), raise_now(error)])
        in_hook(lambda: [make(), raise_now(error)])
        (lambda one: raise_now(error))(own_by_handle(make()))
        [own_by_handle(make()), make(), raise_now(error)]""")
def acts_amid_errors():
    """What runs at the end, and the errors that it leaves to nobody."""
    return expression_rows("seen", """
        seen.append(sys.exc_info()[1]) -> []
        seen.append(class_raised(T.ones, -1)) -> []
        seen.append(class_raised(T.ones(2).view, 7)) -> []
        seen.append(T.ones(2).sum().tolist()) -> []
        seen.append(gc.collect(0)) -> []
        seen.append(in_death(lambda: None)) -> []
        [seen.append(7), {}[7]] -> [KeyError]
        [seen.append(7), T.ones(-1)] -> [RuntimeError]
        [seen.append(7), raise_now(KeyboardInterrupt())] -> [KeyboardInterrupt]""")
def ends_that_act():
    return expressions_of("act", """
        dying(act)
        with_end(T.ones(2), act)
        with_end(T.UntypedStorage(2), act)
        with_end(TensorSlotted(2), act)
        gradient_owner(dying(act))
        dying(act)[1:]
        over_ending_bytes(act)
        saved_as_packs(act)
        with_ending_hook(T.ones(2).requires_grad_(), act)""")
def check_end_amid_error(place, die, act, expected):
    seen, error, caught = [], ErrorThatPasses(7), None
    where = f"where {act.__name__} runs at the end of {place.__name__} in {die.__name__}"
    with unraisable_noted() as noted:
        try:
            die(lambda: place(lambda: act(seen)), error)
        except BaseException as found:
            caught = found.with_traceback(None)  # whose frames own what has not ended
        T._live_impls()
    assert caught is error, f"P3: {caught!r} comes out {where}"
    assert error.args == (7,), f"P3: the error has the arguments {error.args} {where}"
    assert error.__context__ is None, f"P3: the error follows {error.__context__!r} {where}"
    count = die.__name__.count("make()")
    assert len(seen) == count, f"P3: {len(seen)} ends of {count} have run {where}"
    assert noted == count * expected(None), f"P3: nobody can catch {noted} {where}"
def pairs_of_ends_amid_errors():
    for place, die, (act, expected) in itertools.product(
            ends_that_act(), ways_to_die_amid(), acts_amid_errors()):
        check_end_amid_error(place, die, act, expected)
    assert not T._is_hermetic(), "H4: an error that passes leaves the thread in hermetic mode"

#: pairs_of_second_ends, owned_by_tensor_of, ways_to_end_first, wrapped_by_handle [slotcore]: ends
#> pairs_of_second_ends: finalizes in_hermetic starts_thread
import gc, itertools, slotcore_c10, weakref
def wrapped_by_handle(one):
    return type(one)._new_with_weak_ptr(CppWeak(one).handle)
def owned_by_tensor_of(one):
    """What in C++ owns ONE: a tensor, or a tensor on a storage."""
    return gradient_owner(one) if isinstance(one, T.Tensor) else T.zeros(1).set_(one)
def ways_to_keep():
    """What __del__ keeps, and how many references of C++ that is, inside the mode or not."""
    return expression_rows("one, inside", """
        one -> 0
        [one, one] -> 0
        wrapped_by_handle(one) -> inside
        own_by_handle(one) -> 1
        [own_by_handle(one), own_by_handle(one)] -> 2
        call_in_hermetic(wrapped_by_handle, one) -> 1
        [one, call_in_hermetic(wrapped_by_handle, one)] -> 1
        [call_in_hermetic(own_by_handle, one), call_in_hermetic(wrapped_by_handle, one)] -> 2
        owned_by_tensor_of(one) -> 1
        [one, owned_by_tensor_of(one)] -> 1
        on_thread_of_python(own_by_handle, one) -> 1""")
class EndsThatKeep(list):
    """A list that calls `keep` when an item is appended."""
    def append(self, item):
        super().append(item)
        self.keep()
def on_thread_of_python(function, one):
    kept = []
    assert errors_on_thread(lambda: kept.append(function(one))) == [], "P3: a thread raises"
    return kept
def ways_to_end_first():
    return expressions_of("box", """
        box.clear()
        call_in_hermetic(box.clear)
        [[own_by_handle(box[0]), box.clear()].pop(0).drop(), T._live_impls()]
        [[own_by_handle(box[0]), box.clear()].pop(0).drop_on_thread(), T._live_impls()]
        with_end(T.ones(1), box.clear).zero_()""")
def ways_to_end_again():
    """KEPT is what __del__ has kept, and LOCK wraps it again."""
    return expressions_of("kept, lock", """
        kept.clear()
        call_in_hermetic(kept.clear)
        [lock(), kept.clear()].clear()
        [[own_by_handle(lock()), kept.clear()].pop(0).drop(), T._live_impls()]
        [[own_by_handle(lock()), kept.clear()].pop(0).drop_on_thread(), T._live_impls()]""")
def kinds_kept_by_finalizers():
    return EndNoted, EndNotedStorage, EndNotedSlotted, EndNotedParameter
def check_second_end(kind, end, keep, count, again):
    where = f"for a {kind.__name__} whose __del__ keeps {keep.__name__}, after {end.__name__}"
    kept, ends, fallen = [], EndsThatKeep(), []
    box = [kind(T.ones(2)) if kind is EndNotedParameter else kind(2)]
    box[0].tag, box[0].ends = [7], ends
    ends.keep = lambda: kept.append(keep(reference(), None))
    reference, weak = weakref.ref(box[0], fallen.append), CppWeak(box[0])
    end(box)
    assert ends == [7], f"P3: __del__ runs {len(ends)} times {where}"
    one = weak.lock()
    assert one is reference() is not None, f"P3: {one!r} is locked, another is resurrected {where}"
    found = type(one), one.tag, one._use_count(), fallen
    assert found == (kind, [7], 1 + count, []), (
        f"P3: type, attribute, use count, callbacks are {found}, not those of a {kind.__name__}"
        f" with {count} owners {where}")
    del one
    again(kept, weak.lock)
    found = reference(), weak.expired(), weak.lock(), ends, len(fallen)
    assert found == (None, True, None, [7], 1), (
        f"P3: weak reference, expired, lock, ends, callbacks are {found} {where} and then"
        f" {again.__name__}")
def pairs_of_second_ends():
    kinds, agains = kinds_kept_by_finalizers(), ways_to_end_again()
    states = itertools.product(ways_to_end_first(), ways_to_keep(), agains)
    for number, (end, (keep, count), again) in list(enumerate(states))[::3]:
        owners = int(count(None, "hermetic(" in end.__name__))
        for kind in kinds[number % 2::2]:
            check_second_end(kind, end, keep, owners, again)
