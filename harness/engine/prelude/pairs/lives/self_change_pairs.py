"""Finalizers that change their own object: all that it has had, and has got, ends with it."""

#: pairs_of_self_changes [slotcore]: what __del__ changes of its own object keeps nothing alive
#> pairs_of_self_changes: finalizes in_hermetic starts_thread
import itertools, sys, weakref
def changed_at_end(one):
    getattr(one, "change", type)(one)  # a slice has none
def classes_that_change(base, slots):
    """A class that changes its instances in __del__, and one like it that does not."""
    names = {"__slots__": slots}
    return (type("Changes", (base,), {**names, "__del__": changed_at_end}),
            type("Stays", (base,), names))
def own_changes_of_any():
    """What __del__ does to its object; k and o are its class and the other one, v is a value."""
    return expressions_of("one, k, o, v", """
        None
        setattr(one, "__class__", o)
        [setattr(one, "__class__", o), setattr(one, "__class__", k)]
        [setattr(one, "__class__", o), setattr(one, "tag", v)]
        setattr(one, "__dict__", {"v": v})
        [setattr(one, "v", v), setattr(one, "__dict__", {})]
        one.__dict__.clear()
        setattr(one, "tag", v)
        [setattr(one, "tag", v), delattr(one, "tag")]
        setattr(one, "other", [v])
        delattr(one, "tag")
        weakref.ref(one, lambda reference, v=v: None)
        own_by_handle(one)
        call_in_hermetic(wrapped_by_handle, one)
        owned_by_tensor_of(one)""")
def own_changes_of_tensors():
    return expressions_of("one, k, o, v", """
        setattr(one.untyped_storage(), "note", v)
        one.set_(T.ones(3))
        one.resize_(9)
        setattr(one, "data", T.ones(4))
        setattr(one, "grad", with_note(T.ones(2), v))
        setattr(one.detach(), "note", v)
        one.requires_grad_().register_hook(lambda gradient, v=v: None)
        one.requires_grad_().sum().backward()
        one.requires_grad_()[...].grad_fn.metadata.update(note=v)
        T._swap_tensor_impl(one, with_note(T.ones(5), v))""")
def own_changes_of_storages():
    return expressions_of("one, k, o, v", """
        one.resize_(9)
        setattr(one[1:], "note", v)
        memoryview(one)[1:]
        setattr(T.empty(0).set_(one), "note", v)""")
def with_note(tensor, value):
    tensor.note = value
    return tensor
def check_self_change(classes, change, end):
    """Counts of references of both classes, live impls, errors, and the value, are as before."""
    kind, other = classes
    value, former = MarkedBytes(1), MarkedBytes(2)
    references = weakref.ref(value), weakref.ref(former)
    before = sys.getrefcount(kind), sys.getrefcount(other), T._live_impls()
    made = kind(T.ones(2)) if issubclass(kind, T.nn.Parameter) else kind(2)
    box, ends = [made], []
    made.tag = former
    made.change = lambda one: ends.append(class_raised(change, one, kind, other, value))
    gone, weak = weakref.ref(made), CppWeak(made)
    del made, former
    with unraisable_noted() as noted:
        end(box)
        del value
    where = (f"of a {kind.__base__.__name__} with the slots {kind.__slots__}, whose __del__ does"
             f" {change.__name__}, after {end.__name__}")
    assert ends in ([None], [RuntimeError]), f"P3: __del__ has run, with {ends}, {where}"
    assert noted == [], f"P3: nobody can catch {noted} {where}"
    assert gone() is None and weak.expired(), f"P4: a weak reference gives an object {where}"
    del weak  # which keeps the memory of the impl
    left = [one() for one in references if one() is not None]
    assert not left, f"P5: {left} live on after the end {where}"
    after = sys.getrefcount(kind), sys.getrefcount(other), T._live_impls()
    assert after == before, (
        f"P5: references of classes, and impls, are {after}, not {before}, {where}")
    return ends == [None]
def pairs_of_self_changes():
    changed, bases, ends = 0, (T.Tensor, T.nn.Parameter, T.UntypedStorage), ways_to_end_first()
    for base, slots in itertools.product(bases, ((), ("tag",), ("tag", "box"))):
        classes = classes_that_change(base, slots)
        own = own_changes_of_storages() if base is T.UntypedStorage else own_changes_of_tensors()
        for number, change in enumerate(own_changes_of_any() + own):
            for end in ends[number % 2::2]:
                changed += check_self_change(classes, change, end)
    assert changed > 400, f"P3: only {changed} changes are not refused"
