"""Classes that replace methods: what C++ does with an object asks none of them."""

#: pairs_of_overrides [slotcore]: an instance of a class whose methods all raise is like any other
names_not_replaced = {
    "__class__", "__new__", "__init__", "__init_subclass__", "__subclasshook__", "__dict__",
    "__getattribute__", "__setattr__", "__delattr__", "__doc__", "__module__", "__weakref__"}
class ReplacedMethodRuns(Exception):
    """A method that a class has replaced was called."""
def class_that_replaces(base):
    """A class like BASE, all of whose methods and properties raise."""
    def raises(*given, **named):
        raise ReplacedMethodRuns
    names = {}
    for name in {*dir(base)} - names_not_replaced:
        is_method = callable(getattr(base, name))
        names[name] = raises if is_method else property(raises, raises, raises)
    return type("Replaces", (base,), names)
def calls_of_base_tensors():
    """x is an instance, y is a tensor of the base class like it."""
    return expressions_of("B, x, y", """
        B.tolist(x)
        B.add(x, 1).tolist()
        B.add(y, x).tolist()
        B.mul(x, x).tolist()
        B.add_(x, y) is x and B.tolist(x)
        B.copy_(y, x).tolist()
        B.copy_(x, y) is x and B.tolist(x)
        B.fill_(x, 7) is x and B.tolist(x)
        B.fill_(y, B.select(x, 0, 1)).tolist()
        B.__setitem__(y, ..., x) or y.tolist()
        B.__setitem__(x, 0, 9) or B.tolist(x)
        B.__getitem__(x, 1).tolist()
        B.__getitem__(x, slice(1, None)).tolist()
        B.view(x, -1, 1).tolist()
        B.view_as(y, x).tolist()
        B.expand(x, 2, -1).tolist()
        B.as_strided(x, (2,), (1,), 1).tolist()
        B.resize_(x, 2) is x and B.tolist(x)
        B.set_(y, x).tolist()
        B.set_(x, y) is x and B.tolist(x)
        B.set_(x, y.untyped_storage()) is x and len(B.tolist(x))
        B.is_set_to(y, x)
        B.shape.__get__(x)
        B.stride(x)
        B.size(x)
        B.numel(x)
        B.data.__get__(x).tolist()
        B.data.__set__(y, x) or y.tolist()
        B.data.__set__(x, y) or B.tolist(x)
        B.detach(x).tolist()
        B.grad.__set__(y, x) or y.grad is x
        B.grad.__set__(x, y) or B.grad.__get__(x) is y
        B.sum(x).item()
        T.tensor(x).tolist()
        T.tensor(x, dtype=T.int64).tolist()
        T.Tensor(x).tolist()
        T.tensor([1, B.select(x, 0, 2)]).tolist()
        MetaConverter().describer.describe_tensor(x).as_json().partition('"storage"')[0]
        MetaConverter()(x).shape
        FakeTensorMode().from_tensor(x).shape
        T._swap_tensor_impl(x, y) or (B.tolist(x), y.tolist())
        T.autograd.grad(B.mul(B.requires_grad_(x), y), x, y)[0].tolist()
        T.autograd.backward(B.mul(B.requires_grad_(x), y), y) or B.grad.__get__(x).tolist()
        T.autograd.backward(B.add(x, y.requires_grad_()), x) or y.grad.tolist()""")
def calls_of_base_storages():
    return expressions_of("B, x, y", """
        memoryview(x).nbytes
        memoryview(x).tolist()
        bytes(memoryview(x)[1:])
        T.frombuffer(x, dtype=T.uint8).tolist()
        T.frombuffer(x, dtype=T.uint8, offset=1, count=2).tolist()
        T.empty(0, dtype=T.uint8).set_(x).tolist()
        T.empty(0, dtype=T.uint8).set_(x, 1, (2,)).tolist()
        B.nbytes(x)
        B.tolist(x)
        B.fill_(x, 3) is x and B.tolist(x)
        B.copy_(x, y) is x and B.tolist(x)
        B.copy_(y, x).tolist()
        B.resize_(x, 6) is x and B.nbytes(x)
        B.__len__(x)
        B.__getitem__(x, 1)
        B.tolist(B.__getitem__(x, slice(1, 3)))
        B.__setitem__(x, 0, 9) or B.tolist(x)
        B.__setitem__(x, slice(0, 2), 9) or B.tolist(x)
        B.device.__get__(x)
        B._use_count(x)""")
def check_override(base, replacing, make, call):
    expected = call(base, make(base), make(base))
    found = []
    errors = class_raised(lambda: found.append(call(base, make(replacing), make(base))))
    where = f"{call.__name__} for B = {base.__name__} and x of a class that replaces all methods"
    assert errors is None, f"P8: {where} raises {errors}"
    assert found == [expected], f"P9: {where} gives {found[0]}, not {expected}"
def pairs_of_overrides():
    makes = {T.Tensor: lambda kind: T.Tensor._make_subclass(kind, T.tensor([2.0, 3.0, 5.0])),
             T.nn.Parameter: lambda kind: T.Tensor._make_subclass(
                 kind, T.tensor([2.0, 3.0, 5.0]), False),
             T.UntypedStorage: lambda kind: kind([1, 2, 3, 4])}
    for base, make in makes.items():
        replacing = class_that_replaces(base)
        calls = calls_of_base_storages if base is T.UntypedStorage else calls_of_base_tensors
        for call in calls():
            check_override(base, replacing, make, call)
