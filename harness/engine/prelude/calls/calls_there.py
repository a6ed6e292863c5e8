"""What lines about calls in another interpreter may call.

A class, a singleton or a cache that a process has once is of the wrong interpreter in the second.
"""

#: calls_of_module: the classes of what a module gives are its own
calls_of_module = """
t = T.ones(2).requires_grad_()
type(t) is T.Tensor, type(t.untyped_storage()) is T.UntypedStorage -> True, True
type(t.device) is T.device, type(t.dtype) is type(T.float32) -> True, True
type(T.ones(1, device='meta').device) is T.device -> True
T.zeros(1, device=t.device).tolist(), T.zeros(1, dtype=t.dtype).dtype is t.dtype -> [0.0], True
isinstance((t * 1).grad_fn, T.autograd.Node) -> True
e = T.fx.experimental.symbolic_shapes.ShapeEnv()
type(e.create_symint(7, 'x', 'dynamic')) is T.SymInt -> True
"""

#: check_there [slotcore]: calls give in a second interpreter what they give here (T2, P8, P5)
#> check_there: starts_thread enters_interpreter checks
calls_there = """
import weakref
names = {{"T": T, "gc": gc, "weakref": weakref}}
def outcome(call):
    try:
        code = compile(call, call, "eval")
    except SyntaxError:
        code = compile(call, call, "exec")
    try:
        return "", eval(code, names)
    except Exception as raised:
        return repr(raised), type(raised)
def compare():
    for line in {lines!r}:
        call, _, result = line.partition(" -> ")
        error, found = outcome(call)
        wrong = error
        if result:
            expected = eval(result, names)
            said = error if isinstance(expected, Exception) else repr(found)
            wrong = said != repr(expected)
        assert not wrong, f"P8: there, {{line}}; it gives {{error or repr(found)}}"
compare()
known = weakref.ref(T.Tensor)
names.clear()
held.clear()
del sys.modules[T.__name__], T, mail
gc.collect()
assert not known(), "P5: a module that nobody has any more stays"
"""
def check_there(text):
    if in_hermetic():
        return
    assert_calls("P8", text)
    lines = [line for line, _, _ in parsed_calls(text)]
    for place in (Lane, Visit):
        other = Other(place)
        try:
            other.there(calls_there.format(lines=lines))
        finally:
            other.end()

#: check_hooks_there [slotcore]: hooks for saved tensors are those of their interpreter (A2e)
#> check_hooks_there: starts_thread enters_interpreter checks
backward_there = """
x = T.ones(2).requires_grad_()
(x * x).sum().backward()
assert x.grad.tolist() == [2.0, 2.0], "A2e: a backward there has other hooks"
del x
"""
def check_hooks_there():
    if in_hermetic():
        return
    for place in (Lane, Visit):
        other = Other(place)
        def run():
            with T.autograd.graph.saved_tensors_hooks(id, id):
                other.there(backward_there)
        error = raised_by(run)
        other.end()
        assert error is None, "A2e: a backward has the hooks of another interpreter"

#: check_context_there [slotcore]: a ctx is an object of its interpreter (T2)
#> check_context_there: starts_thread enters_interpreter in_hermetic checks
asks_for_context = """
result = T.Tensor._new_with_weak_ptr({handle})
try:
    result.grad_fn
except RuntimeError:
    del result
else:
    raise AssertionError("T2: another interpreter gets the ctx of this one")
"""
def check_context_there():
    for place in (Lane, Visit):
        other = Other(place)
        with T.enable_grad(), hermetic():  # a hermetic wrapper claims nothing
            result = fn().apply(T.ones(1).requires_grad_())
            handle = result._weak_ref()
        try:
            other.there(asks_for_context.format(handle=handle))
        finally:
            result._free_weak_ref(handle)
            other.end()
        assert isinstance(result.grad_fn, fn()._backward_cls), "T2: a ctx is no longer given here"

#: check_counts_there [slotcore]: what another interpreter had of a storage ends with it (P7)
#> check_counts_there: starts_thread enters_interpreter checks
def storages_to_offer():
    return expressions_of("", """
        T.UntypedStorage(4)
        T.UntypedStorage(4)[1:]
        Sub(4)
        T.ones(1).untyped_storage()
        T.frombuffer(bytearray(4), dtype=T.uint8).untyped_storage()""")
def check_counts_there():
    if T._is_hermetic():
        return
    for place, makes in ((Lane, storages_to_offer()), (Visit, storages_to_offer()[::-1])):
        other, storages = Other(place), [make() for make in makes]
        before = [storage._use_count() for storage in storages]
        for _ in range(2):
            for storage in storages:
                other.share(storage)
            other.keep()
        other.drop()
        other.end()
        for make, storage, uses in zip(makes, storages, before):
            now = storage._use_count()
            assert now == uses, (
                f"P7: {make.__name__} has {now} uses, not {uses}, after another interpreter that"
                " wrapped it twice has ended")
