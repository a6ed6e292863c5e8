"""Checks of reference counts and of what calls leave, on objects that the checks make."""

#: looks: what only looks at a tensor, by names of methods without arguments
looks = ("size", "stride", "storage_offset", "numel", "dim", "data_ptr", "is_contiguous",
         "element_size", "untyped_storage", "detach", "clone", "view_as", "_is_view", "sum",
         "tolist", "__len__", "resolve_conj", "resolve_neg", "is_conj", "is_neg", "__repr__", "t")

#: attributes: what is read of a tensor
attributes = ("shape", "dtype", "device", "grad", "data", "requires_grad", "is_leaf", "_base",
              "_version", "grad_fn", "output_nr", "nbytes", "is_meta", "_backward_hooks",
              "retains_grad")

#: use_all: looks at a tensor in each way, and calls what raises
def use_all(tensor):
    for name in looks:
        if not hasattr(tensor, name):  # as untyped_storage() before 2.0
            continue
        try:
            getattr(tensor, name)(*[tensor] * (name == "view_as"))
        except refused:
            pass
    for name in attributes:
        getattr(tensor, name, None)
    for _, call in refusals():
        try:
            call(tensor)
        except (*refused, OverflowError, MemoryError):
            pass

#: check_shared_objects: calls leave the counts of None, of classes and of types of numbers (P7)
#> check_shared_objects: checks
import sys
def check_shared_objects(tensor):
    tensor = simple(tensor)
    if tensor is None:
        return
    one = like(tensor)
    watched = {"None": None, "True": True, "False": False, "T": T, "T.Tensor": T.Tensor,
               "T.UntypedStorage": T.UntypedStorage, "T.float32": T.float32,
               "the type of numbers": one.dtype, "the device": one.device, "an int": 1 << 20}
    use_all(one)  # the first use may make what is kept
    def drifting(names):
        before = {name: sys.getrefcount(watched[name]) for name in names}
        for _ in range(3):
            use_all(one)
        return [name for name in names if abs(sys.getrefcount(watched[name]) - before[name]) >= 3]
    names = list(watched)
    for _ in range(5):  # what other threads take and drop meanwhile does not add up
        names = names and drifting(names)
    assert not names, f"P7: the reference count of {names[0]} drifts"

#: check_classes_counted [slotcore]: an object that dies drops its class (P5)
#> check_classes_counted: in_hermetic collects checks
def some_of_each_class():
    tensor, mode = T.ones(2).requires_grad_(), FakeTensorMode(shape_env=ShapeEnv())
    for context in (hermetic(), T.no_grad(), T.enable_grad(), T.set_grad_enabled(True), mode,
                    T.autograd.graph.saved_tensors_hooks(abs, abs), T.on_device(1)):
        with context:
            T.ones(1).detach()
    result = fn("save_input", "y", "saved").apply(tensor)
    fake = mode.from_tensor(tensor, kind="dynamic")
    result.register_hook(abs).remove()
    storage = tensor.untyped_storage()
    description = MetaConverter().describer.describe_tensor(tensor)
    return (result.grad_fn.next_functions, (tensor * 2).grad_fn, fake.size(0) > 3, fake.numel(),
            T.nn.Parameter(T.ones(1)), Sub(1), storage[:1], description.dtype, description,
            T._meta.loads(description.as_json()))
def check_classes_counted():
    if in_hermetic() or T._meta.mode_count():
        return
    some_of_each_class()
    collect_all()
    classes = [one for one in gc.get_objects() if isinstance(one, type)
               and one.__module__.startswith(T.__name__)]
    def drifting(watched):
        before = [sys.getrefcount(one) for one in watched]
        for _ in range(3):
            some_of_each_class()
        collect_all()
        return [one for one, former in zip(watched, before)
                if sys.getrefcount(one) - former >= 3]
    for _ in range(5):  # what other threads take and drop meanwhile does not add up
        classes = classes and drifting(classes)
    names = sorted(one.__name__ for one in classes)
    assert not names, f"P5: objects that died keep their class {names[0]}"

#: check_use_counts: use counts are what the references add up to (P7)
#> check_use_counts: finalizes checks
def check_use_counts(tensor):
    tensor = simple(tensor)
    if tensor is None or in_hermetic():
        return
    base = tensor.clone()
    storage = base.untyped_storage()
    def own(setter):
        owner = base.clone()
        setter(owner)
        return owner
    for name, make, tensors, storages in (
            ("view_as", lambda: base.view_as(base), 1, 1),
            ("a view of a view", lambda: base.view_as(base).view_as(base), 1, 1),
            ("as_strided", lambda: base.as_strided((0,), (1,)), 1, 1),
            ("detach", lambda: base.detach(), 0, 1),
            ("data", lambda: base.data, 0, 1),
            ("clone", lambda: base.clone(), 0, 0),
            ("add", lambda: base.add(base), 0, 0),
            ("set_ of a storage", lambda: T.empty(0, dtype=base.dtype).set_(storage), 0, 1),
            ("set_ of a tensor", lambda: T.empty(0, dtype=base.dtype).set_(base), 0, 1),
            (".data =", lambda: own(lambda one: setattr(one, "data", base)), 0, 1),
            (".grad =", lambda: own(lambda one: setattr(one, "grad", base)), 1, 0),
            ("wrapping", lambda: [base.untyped_storage() for _ in range(3)], 0, 0),
            ("a weak reference", lambda: weakref.ref(base), 0, 0),
            ("a C++ weak reference", lambda: CppWeak(base), 0, 0)):
        before = base._use_count(), storage._use_count()
        made = make()
        during = base._use_count(), storage._use_count()
        del made
        after = base._use_count(), storage._use_count()
        assert during == (before[0] + tensors, before[1] + storages), (
            f"P7: {name} adds {during[0] - before[0]} and {during[1] - before[1]}")
        assert after == before, f"P7: the use count drifts: {name}"

#: check_bytes: the bytes of a storage are those that its methods have written (P9)
#> check_bytes: checks
def check_bytes(storage):
    if storage.device.type != "cpu" or len(storage) > 256:
        return
    # len(), because a line may have set an attribute nbytes.
    length, held = len(storage), content_of(storage)
    one = T.UntypedStorage(length).copy_(storage)
    assert content_of(one) == held and len(one) == length, "P9: copy_() of a storage"
    other = one.clone()
    assert content_of(other) == held, "P9: clone() of a storage"
    assert not length or other.data_ptr() != one.data_ptr(), "P9: a clone shares its bytes"
    other.fill_(7)
    assert content_of(one) == held, "P9: a write to a clone shows in its original"
    assert content_of(other) == b"\7" * length, "P9: fill_() of a storage"
    if length:
        other[length - 1] = 9
        assert content_of(other) == b"\7" * (length - 1) + b"\11", "P9: an item of a storage"
        assert other[length - 1] == other[-1] == 9, "P9: an item of a storage"
    one.resize_(length + 64)
    assert content_of(one)[:length] == held and len(one) == length + 64, "P9: resize_() loses bytes"
    one.resize_(length // 2)
    assert content_of(one) == held[:length // 2], "P9: resize_() to fewer bytes"
    one.resize_(0)
    assert len(one) == 0 and one.data_ptr() == 0, "P9: resize_(0) keeps bytes"

#: check_part: a slice of a storage has its bytes, whatever becomes of the storage (P9)
#> check_part: checks
def check_part(storage):
    if storage.device.type != "cpu" or not 2 <= len(storage) <= 256:
        return
    one = T.UntypedStorage(len(storage)).copy_(storage)
    part = one[1:]
    assert content_of(part) == content_of(one)[1:], "P9: a slice has other bytes"
    one.fill_(7)
    assert part[0] == 7, "P9: a write does not show in a slice"
    part[0] = 9
    assert one[1] == 9, "P9: a write to a slice does not show"
    try:
        one.resize_(5000)
    except RuntimeError:
        pass
    assert part[0] == 9, "memory: a slice of a resized storage has other bytes"
    del one
    assert part[0] == 9, "memory: a slice of a freed storage has other bytes"

#: check_returns: what returns without an error has done what it says (P8)
#> check_returns: finalizes locks checks
def check_returns(tensor):
    tensor = simple(tensor)
    if tensor is None or in_hermetic():
        return
    one, twin = tensor.clone(), tensor.clone()
    one.grad = twin
    assert one.grad is twin, "P8: .grad was set and is another"
    one.grad = None
    assert one.grad is None, "P8: .grad was dropped and is there"
    one.data = twin
    assert one.data_ptr() == twin.data_ptr(), "P8: .data was set and is another"
    one.set_(tensor)
    assert one.data_ptr() == tensor.data_ptr(), "P8: set_() has done nothing"
    one.set_()
    assert one.numel() == 0, "P8: set_() has kept elements"
    twin.resize_(3, 5)
    assert tuple(twin.size()) == (3, 5) and twin.numel() == 15, "P8: resize_() has done nothing"
    weak, reference = CppWeak(twin), weakref.ref(twin)
    assert not weak.expired() and weak.lock() is twin, "P4: a weak reference to a tensor is dead"
    del twin
    assert weak.expired() and weak.lock() is None, "P4: a weak reference to a dead tensor lives"
    assert reference() is None, "P4: a weak reference to a dead tensor lives"
    if tensor.dtype in (T.float32, T.float64, T.complex64):
        one = tensor.clone().requires_grad_()
        assert one.requires_grad and one.is_leaf, "P8: requires_grad_() has done nothing"
        one.requires_grad = False
        assert not one.requires_grad, "P8: requires_grad = False has done nothing"
        one.requires_grad = True
        result = one.mul(2)
        assert result.requires_grad == T.is_grad_enabled(), "P8: an operation was not recorded"
        result.detach_()
        assert not result.requires_grad and result.grad_fn is None, "P8: detach_() has done nothing"
