"""What calls give that are about wrappers: classes, exchange, hermetic mode, C++ owners."""

#: calls_of_classes: tensors of a class that the caller names, and Parameter
calls_of_classes = """
t = T.ones(2)
s = T.Tensor._make_subclass(TensorSub, t)
type(s) is TensorSub, s._base, s.is_leaf, s.requires_grad -> True, None, True, False
s.tolist() -> [1.0, 1.0]
s.untyped_storage() is t.untyped_storage(), s.fill_(4) is s, t._version -> True, True, 1
T.Tensor._make_subclass(TensorSub, t, True).requires_grad -> True
T.Tensor._make_subclass(TensorSub, t, False).requires_grad -> False
T.Tensor._make_subclass(cls=T.Tensor, data=t, require_grad=True).requires_grad -> True
T.Tensor._make_subclass(int, t) -> RuntimeError
T.Tensor._make_subclass(3, t) -> TypeError
T.Tensor._make_subclass(TensorSub, 3) -> TypeError
T.Tensor._make_subclass(TensorSub, t, 1) -> TypeError
T.Tensor._make_subclass(TensorSub, T.ones(1, dtype=T.int64), True) -> RuntimeError
v = t.as_subclass(TensorSub)
type(v) is TensorSub, v._base is t, v.tolist() -> True, True, [4.0, 4.0]
type(v.detach()) is T.Tensor, type(v + 1) is T.Tensor -> True, True
t.as_subclass(T.Tensor) is t, type(v.as_subclass(T.Tensor)) is T.Tensor -> False, True
v.zero_() is v -> True
t.as_subclass(int) -> RuntimeError
t.as_subclass(3) -> TypeError
type(TensorSub(2)) is TensorSub, TensorSub([1.0]).tolist() -> True, [1.0]
p = T.nn.Parameter(t)
type(p) is T.nn.Parameter, p.requires_grad, p.is_leaf, p._base -> True, True, True, None
p.untyped_storage() is t.untyped_storage(), T.nn.Parameter().shape -> True, (0,)
T.nn.Parameter(t, False).requires_grad -> False
T.nn.Parameter(data=t, requires_grad=False).is_leaf -> True
type(T.nn.Parameter(p)) is T.nn.Parameter -> True
T.nn.Parameter(T.ones(1, dtype=T.int64)) -> RuntimeError
T.nn.Parameter(T.ones(1, dtype=T.int64), False).dtype -> T.int64
T.nn.Parameter(3) -> AttributeError
T.nn.Parameter(t, 1) -> TypeError
T.nn.Parameter(v) -> RuntimeError
k = T.nn.Parameter(T.ones(1).as_subclass(KeepingSub))
type(k) is KeepingSub, k.requires_grad, k.is_leaf, k._is_param -> True, True, True, True
"""

#: KeepingSub: a subclass whose detach() keeps the class, as a Parameter of it needs
class KeepingSub(TensorSub):
    def detach(self):
        return super().detach().as_subclass(KeepingSub)

#: calls_of_swaps: two tensors exchange all but their names
calls_of_swaps = """
a, b = T.ones(1), T.Tensor._make_subclass(TensorSub, T.zeros(2, dtype=T.int64))
a.tag, ca, cb = 7, a._cdata, b._cdata
T.utils.swap_tensors(a, b)
type(a) is TensorSub, a.tolist(), a._cdata == cb, hasattr(a, 'tag') -> True, [0, 0], True, False
type(b) is T.Tensor, b.tolist(), b._cdata == ca, b.tag -> True, [1.0], True, 7
a.zero_() is a, b.zero_() is b, a._use_count(), b._use_count() -> True, True, 1, 1
T.utils.swap_tensors(a, a)
a.tolist() -> [0, 0]
T.utils.swap_tensors(a, 3) -> AttributeError
T.utils.swap_tensors(a) -> TypeError
T.utils.swap_tensors(T.UntypedStorage(1), T.UntypedStorage(1)) -> AttributeError
x, y = TensorSlotted(1), TensorSlotted(2)
x.tag, y.box = 1, 2
T.utils.swap_tensors(x, y)
y.tag, x.box, hasattr(x, 'tag'), hasattr(y, 'box') -> 1, 2, False, False
type(y) is TensorSlotted -> True
T.utils.swap_tensors(x, a) -> RuntimeError
class Refuses(T.Tensor): __setattr__ = __getattribute__ = lambda self, *names: {}[names]
k, l = T.ones(1), Refuses(2)
T.utils.swap_tensors(k, l), type(l) is T.Tensor, l.shape -> None, True, (1,)
T.utils.swap_tensors(l, k), type(k) is T.Tensor, k.shape -> None, True, (1,)
class One(T.Tensor): __slots__ = 'x'
class Next(One): __slots__ = 'y'
class Both(T.Tensor): __slots__ = 'x', 'y'
e, f = Next([1.0]), Both([2.0, 3.0])
e.name, f.name = 'e', 'f'
T.utils.swap_tensors(e, f) -> TypeError
e.name, f.name, e.tolist() -> 'e', 'f', [1.0]
r = weakref.ref(a)
T.utils.swap_tensors(a, b) -> RuntimeError
T.utils.swap_tensors(b, a) -> RuntimeError
del r
v = b.view(-1)
T.utils.swap_tensors(a, b) -> RuntimeError
T.utils.swap_tensors(b, a) -> RuntimeError
del v
h = a._weak_ref()
T.utils.swap_tensors(a, b) -> RuntimeError
T.utils.swap_tensors(b, a) -> RuntimeError
T.Tensor._free_weak_ref(h)
type(a) is TensorSub, a.tolist(), type(b) is T.Tensor, b.tag -> True, [0, 0], True, 7
T._swap_tensor_impl(a, b)
a.tolist(), b.tolist(), type(a) is TensorSub, b.tag -> [0.0], [0, 0], True, 7
o, p = T.ones(1).requires_grad_(), T.ones(1).requires_grad_()
c, d = (o * 2).sum(), (p * 3).sum()
T.utils.swap_tensors(o, p)
c.backward() -> RuntimeError
d.backward() -> RuntimeError
o.grad, p.grad, o.is_leaf, p.is_leaf -> None, None, True, True
v, h = a.view(-1), b._weak_ref()
T._swap_tensor_impl(a, b) -> RuntimeError
T._swap_tensor_impl(b, a) -> RuntimeError
del v
T._swap_tensor_impl(a, b) -> RuntimeError
T._swap_tensor_impl(b, a) -> RuntimeError
T.Tensor._free_weak_ref(h)
with T.hermetic(): h = T.ones(1)
T._swap_tensor_impl(a, h) -> RuntimeError
T._swap_tensor_impl(h, a) -> RuntimeError
a.tolist(), b.tolist() -> [0.0], [0, 0]
o, p = T.ones(1).requires_grad_(), T.ones(1)
c = o * 1
o.detach_().copy_(T.ones(1).requires_grad_()) is o, o.is_leaf -> True, False
T.utils.swap_tensors(o, p) -> RuntimeError
T._swap_tensor_impl(a, 3) -> TypeError
T._swap_tensor_impl(3, a) -> TypeError
T._swap_tensor_impl(a, a)
T.utils.swap_tensors(a, b)
a.tolist(), b.tolist() -> [0, 0], [0.0]
"""

#: calls_of_hermetic_mode: entered and left, also one inside of another (H1, H4)
calls_of_hermetic_mode = """
T._is_hermetic() -> False
T.exit_hermetic() -> RuntimeError
T.hermetic().__exit__(None, None, None) -> RuntimeError
T.on_device(-1) -> ValueError
T.on_device(2) -> ValueError
h = T.hermetic()
h.__exit__(None, None, None) -> RuntimeError
h.__enter__() is h, T._is_hermetic() -> True, True
h.__enter__() -> RuntimeError
i = T.hermetic()
i.__enter__() is i, i.__exit__(None, None, None), T._is_hermetic() -> True, False, True
h.__exit__(None, None, None), T._is_hermetic() -> False, False
h.__exit__(None, None, None) -> RuntimeError
h.__enter__() is h, h.__exit__(None, None, None), T._is_hermetic() -> True, False, False
with T.hermetic(): T.ones(-1) -> RuntimeError
T._is_hermetic() -> False
T.enter_hermetic()
T.enter_hermetic()
with h: T._is_hermetic()
T._is_hermetic(), T.exit_hermetic(), T._is_hermetic() -> True, None, False
T.exit_hermetic() -> RuntimeError
t, o = T.Tensor._make_subclass(TensorSub, T.ones(1)), T.zeros(1)
o.grad, t.tag = t, 7
with h: f, g = o.grad, o.grad
f is t, f is g, type(f) is T.Tensor, hasattr(f, 'tag') -> False, False, True, False
f._cdata == t._cdata -> True
o.grad is t, t.tag, t._use_count() -> True, 7, 4
with h: f, z = t.zero_(), t.resolve_conj()
f is t, z is t, f._cdata == z._cdata == t._cdata -> False, False, True
f.zero_() is t, g.zero_() is t -> True, True
del f, g, z
t._use_count(), o.grad is t -> 2, True
with h: del t
type(o.grad) is TensorSub, o.grad.tag -> True, 7
"""

#: calls_of_referents: what objects report to the collector (A4)
calls_of_referents = """
s, t, x = Sub(1), TensorSlotted(1), T.ones(1).requires_grad_()
s.held, t.tag, t.held = [1], [2], [3]
h = x.register_hook(len)
e = fn().apply(x)
p = T.autograd.graph.saved_tensors_hooks(h.remove, len)
def reports(owner, one): return any(other is one for other in gc.get_referents(owner))
def owners(one): return [type(other).__name__ for other in gc.get_referrers(one)]
reports(s, s.__dict__), reports(s, Sub), reports(s, t) -> True, True, False
reports(t, t.__dict__), reports(t, TensorSlotted), reports(t, t.tag) -> True, True, True
reports(x, x._backward_hooks), reports(x, T.Tensor) -> True, True
m = [one for one in gc.get_referents(T) if isinstance(one, type)]
T.Tensor in m, T.device in m, T.autograd.Node in m, type(h) in m -> True, True, True, True
len(m), len(set(m)) -> 20, 20
values = (T.bool, T.uint8, T.int64, T.float32, T.float64, T.complex64)
[reports(T, one) for one in values] -> [True] * 6
[reports(T, T.device(one)) for one in ('cpu', 'meta')] -> [True] * 2
types = [one for one in (*m, *vars(T).values(), type(p), T.Tensor, Sub) if isinstance(one, type)]
[one.__name__ for one in types if one.__itemsize__ and not issubclass(one, type)] -> []
owners(s.__dict__), owners(t.__dict__) -> ['Sub'], ['TensorSlotted']
owners(t.tag), sorted(owners(x._backward_hooks)) -> ['TensorSlotted'], ['Tensor']
y = fn('save_both').apply(x)
c = y.grad_fn
c.held = [4]
reports(c, c.__dict__), reports(c, type(c)), reports(c, c.needs_input_grad) -> True, True, True
n = (x * 2).grad_fn
n.held = [5] -> AttributeError
reports(n, type(n)), reports(n, x) -> True, False
k, l, i = n.register_hook(len), n.register_prehook(len), n.register_prehook(repr)
[row[1] for row in n._owned_by_cpp()].count('hooks') -> 3
reports(p, len), reports(p, type(p)), len(gc.get_referents(p)) -> True, True, 3
def owned(one): return sorted(row[1] for row in one._owned_by_cpp() if row[1])
o, g = T.ones(1), T.ones(1)
owned(o), owned(T.UntypedStorage(1)) -> ['impl', 'storage'], ['impl']
o.grad = g
del g
owned(o) -> ['.grad', 'impl', 'storage', 'storage', 'wrapper']
"""

#: calls_of_modes: what a thread records, by scopes one inside of another
calls_of_modes = """
T.is_grad_enabled() -> True
with T.no_grad(): a, y = T.is_grad_enabled(), T.ones(1).requires_grad_() * 2
a, y.requires_grad, y.grad_fn, T.is_grad_enabled() -> False, False, None, True
n, e = T.no_grad(), T.enable_grad()
n.__exit__(None, None, None) -> RuntimeError
n.__enter__(), e.__enter__(), T.is_grad_enabled() -> None, None, True
e.__exit__(None, None, None), T.is_grad_enabled() -> False, False
e.__exit__(None, None, None) -> RuntimeError
n.__exit__(None, None, None), T.is_grad_enabled() -> False, True
with n: T.ones(-1) -> RuntimeError
T.is_grad_enabled() -> True
s = T.set_grad_enabled(False)
T.is_grad_enabled(), s.__enter__(), T.is_grad_enabled() -> False, None, False
s.__exit__(None, None, None) -> False
T.is_grad_enabled() -> True
with T.set_grad_enabled(False): b = T.is_grad_enabled()
with T.set_grad_enabled(True): c = T.is_grad_enabled()
b, c, T.is_grad_enabled() -> False, True, True
T.set_grad_enabled() -> TypeError
"""

#: calls_of_slots: an impl's slot by itself, and the flag of the mode (T1, T3, H4)
calls_of_slots = """
i, j = c10.PyInterpreter('one'), c10.PyInterpreter('other')
i.name(), i.is_armed() -> 'one', True
s, o = c10.PyObjectSlot(), [7]
s.tagged(), s.owns(), s.check(i) -> False, False, None
s.set_owns(True) -> RuntimeError
s.init(i, o, c10.PyInterpreterStatus.DEFINITELY_UNINITIALIZED)
s.tagged(), s.owns(), s.check(i) is o -> True, False, True
s.check(j) -> RuntimeError
s.init(j, o, c10.PyInterpreterStatus.TAGGED_BY_OTHER) -> RuntimeError
s.init(j, o, c10.PyInterpreterStatus.MAYBE_UNINITIALIZED) -> RuntimeError
s.init(i, [8], c10.PyInterpreterStatus.TAGGED_BY_US)
s.check(i), s.set_owns(True), s.owns(), s.check(i) -> [8], None, True, [8]
s.set_owns(False), s.owns(), s.clear(), s.tagged(), s.check(i) -> None, False, None, True, None
s.set_owns(True), s.owns() -> RuntimeError
r = c10.PyObjectSlot()
r.init(j, o, c10.PyInterpreterStatus.MAYBE_UNINITIALIZED)
r.check(j) is o -> True
r.check(i) -> RuntimeError
j.disarm(), j.is_armed(), j.name() == 'other' -> None, False, False
g, state = c10.HermeticGuard(), c10.HermeticPyObjectTLS.get_state
with g: a, b = state(), T._is_hermetic()
a, b, state(), T._is_hermetic() -> True, True, False, False
g.__enter__(), state() -> None, True
g.__enter__() -> RuntimeError
with T.hermetic(): c = state()
c, state(), g.__exit__(None, None, None), state() -> True, True, None, False
with T.hermetic(): g.__enter__(); g.__exit__(); d = state()
d, state(), c10.live_tensors() >= 0, c10.trace_is_on() -> True, False, True, c10.trace_is_on()
c10.Owner(0) -> RuntimeError
"""

#: calls_of_owners: C++ owners; a release without the GIL may wait for the next count (T6)
calls_of_owners = """
t = T.ones(1)
h = t._weak_ref()
o = c10.Owner(h)
o.use_count(), o._cdata == t._cdata, t._use_count() -> 2, True, 2
o.start_copying()
o.use_count() >= 3, o.join(), o.use_count() -> True, None, 2
o.start_locking()
o.join(), o.use_count(), o.join() -> None, 2, None
o.drop_on_thread(), o.use_count(), o._cdata, t._use_count() -> None, 0, 0, 1
o.start_copying(), o.start_locking(), o.join(), o.drop() -> None, None, None, None
o.drop_under_lock() -> None
o = c10.Owner(h)
t._use_count(), o.drop(), o.use_count(), t._use_count() -> 2, None, 0, 1
o = c10.Owner(h)
o.drop_under_lock(), o.use_count(), t._use_count() -> None, 0, 1
o = c10.Owner(h)
o.start_copying()
o.drop(), t._use_count() -> None, 1
o = c10.Owner(h)
a = t._cdata
del t
T.Tensor._new_with_weak_ptr(h)._cdata == a, o.use_count() >= 1 -> True, True
o.drop(), T._live_impls() >= 0, T.Tensor._expired(h) -> None, True, True
c10.Owner(h) -> RuntimeError
T.Tensor._free_weak_ref(h)
"""

#: check_class_calls [slotcore]: the calls about wrappers (P1, H1, P8)
#> check_class_calls: checks in_hermetic swaps
def check_class_calls():
    with T.enable_grad():
        for number, text in (("P8", calls_of_classes), ("P8", calls_of_swaps),
                             ("H1", calls_of_hermetic_mode), ("P8", calls_of_modes),
                             ("A4", calls_of_referents), ("T3", calls_of_slots),
                             ("P5", calls_of_ledgers), ("P2", calls_of_more_classes)):
            assert_calls(number, text)
    ask_pairs(pairs_of_every_write)

#: check_owner_calls [slotcore]: the calls of C++ owners (T6)
#> check_owner_calls: starts_thread checks
def check_owner_calls():
    assert_calls("T6", calls_of_owners)
    assert_calls("T6", calls_of_owners_beside)
