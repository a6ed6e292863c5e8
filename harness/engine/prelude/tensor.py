"""What lines about tensors may call: subclasses, copies, keepers, hooks and callbacks."""

#: TensorSub: a subclass of tensors; what operations give is of the base class
class TensorSub(T.Tensor):
    if hasattr(T, "_C"):
        __torch_function__ = T._C._disabled_torch_function_impl

#: TensorSlotted: a subclass of tensors with slots
class TensorSlotted(TensorSub):
    __slots__ = ("tag", "box", "me")

#: TensorOdd: a subclass of tensors whose metaclass denies every instance
class OddType(type(T.Tensor)):
    def __instancecheck__(cls, one):
        return False
class TensorOdd(TensorSub, metaclass=OddType):
    pass

#: TensorOverriding [torch]: a subclass that converts what operations give to itself
class TensorOverriding(T.Tensor):
    pass

#: TensorFinalized: as Finalized; what was never born, such as a copy, is not noted
#> TensorFinalized: finalizes
class TensorFinalized(TensorSub):
    def __new__(cls, size):
        return T.ones(size).as_subclass(cls)
    def __init__(self, size):
        self.serial = Serial(len(born))
        born.append(self.serial)
    def __del__(self):
        note_finalized(self)

#: TensorResurrecting: __del__ resurrects the tensor
#> TensorResurrecting: finalizes resurrects
class TensorResurrecting(TensorFinalized):
    def __del__(self):
        super().__del__()
        resurrected.append(self)

#: TensorLeaksSelf: __del__ makes another tensor own it
#> TensorLeaksSelf: finalizes resurrects
class TensorLeaksSelf(TensorFinalized):
    def __del__(self):
        super().__del__()
        try:
            owner = T.ones(self.size())
            owner.grad = self
        except (RuntimeError, TypeError):  # lines have made it another type or size of numbers
            return
        leaked_self.append(owner)

#: copy, pickle, copied, deep_copied, pickled: copies, which do not take part in counting finalizers
import copy, pickle
def copied(one, copy=copy.copy):
    twin = copy(one)
    serial = getattr(one, "serial", None)
    if twin is not one and serial is not None and getattr(twin, "serial", None) is serial:
        twin.serial = -1
    return twin
def deep_copied(one):
    return copied(one, copy.deepcopy)
def pickled(one):
    return copied(one, lambda one: pickle.loads(pickle.dumps(one)))

#: keep_default: a function whose default argument keeps `held` alive
def keep_default(held):
    return lambda one=held: one

#: kept_by_finalizer, Keeper: an instance that holds `held`; its __del__ keeps `held`, not itself
#> Keeper: finalizes resurrects
kept_by_finalizer = []
class Keeper:
    held = None  # of a copy that was not finished
    def __init__(self, held):
        self.held = held
    def __del__(self):
        kept_by_finalizer.append(self.held)

#: Resurrector: an instance that holds `held`; its __del__ resurrects it
#> Resurrector: finalizes resurrects
class Resurrector(Keeper):
    def __del__(self):
        kept_by_finalizer.append(self)

#: Dropper: an instance whose __del__ drops what an owner has as .grad
#> Dropper: finalizes
class Dropper:
    owner = None  # of a copy that was not finished
    def __init__(self, owner):
        self.owner = owner
    def __del__(self):
        if isinstance(self.owner, T.Tensor):
            self.owner.grad = None

#: hook_of: a hook that holds `held`
def hook_of(held):
    return lambda gradient, held=held: None

#: clearing_hook: a hook that drops the hooks of a tensor, its own perhaps
def clearing_hook(tensor):
    def hook(gradient):
        tensor._backward_hooks = None
    return hook

#: fetched, fetch_grad_again, fetch_base_again: weakref callbacks that wrap a tensor
fetched = []
def fetch_grad_again(owner):
    fetch = type(owner).grad.__get__
    return lambda reference: fetched.append(fetch(owner))
def fetch_base_again(view):
    fetch = type(view)._base.__get__
    return lambda reference: fetched.append(fetch(view))

#: write_again: a weakref callback that writes to a tensor, if that can be written to
def write_again(tensor):
    write = tensor.zero_
    def callback(reference):
        try:
            write()
        except Exception as error:
            # In a mode, torch asserts that a tensor is a fake; 1.13 raises a bare Exception then.
            if type(error) is not Exception and not isinstance(error, (AssertionError, *refused)):
                raise error
    return callback
