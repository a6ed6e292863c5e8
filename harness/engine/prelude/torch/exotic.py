"""What lines about PyTorch alone may call: the prelude goes on here, in the same form.

Of tensors that are made otherwise, and of what slotcore has not: transforms, tangents, futures.
"""

#: storage_ref [torch]: the weak reference of torch's own caches
def storage_ref(storage):
    if not isinstance(storage, T.UntypedStorage):
        raise TypeError("no storage")  # else it is made, and its __del__ raises
    return T.multiprocessing.reductions.StorageWeakRef(storage)

#: tensor_ref [torch]: the weak reference of torch's own dictionaries
def tensor_ref(tensor):
    if not isinstance(tensor, T.Tensor):
        raise TypeError("no tensor")  # torch asserts it, without words
    return T.utils.weak.TensorWeakRef(tensor)

#: recording, recording_at_start [torch]: what this thread records, with its excluded keys (A5e)
def recording():
    keys = T._C._dispatch_tls_local_exclude_set()
    return T.is_grad_enabled(), T.is_inference_mode_enabled(), str(keys)
recording_at_start = recording()

#: WeakTensor [torch]: a C++ weak reference to a tensor
class WeakTensor:
    def __init__(self, tensor):
        if not isinstance(tensor, T.Tensor):
            raise TypeError("no tensor")  # what torch makes of it is another line's matter
        self.weak, self.dead = T._C._WeakTensorRef(tensor), False
    def expired(self):
        dead = self.weak.expired()
        assert dead or not self.dead, "P4: expired() went from true to false"
        self.dead = dead
        return dead

#: in_inference [torch]: a tensor of which nothing will ever be recorded
#> in_inference: exotic
def in_inference():
    with T.inference_mode():
        return T.ones(1)

#: escaped [torch]: a tensor of a function transform, which is over
#> escaped: exotic
def escaped(transform):
    kept = []
    try:
        transform(lambda one: (kept.append(one), one.sum())[1])(T.ones(1))
    except RuntimeError:
        if not kept:
            raise
    return kept[0]

#: escaped_dual [torch]: a tensor with a tangent, of a level that is over
#> escaped_dual: exotic
def escaped_dual(one, tangent=None):
    with T.autograd.forward_ad.dual_level():
        return T.autograd.forward_ad.make_dual(one, T.ones(1) if tangent is None else tangent)

#: rebuilt [torch]: a tensor over a storage, as unpickling makes it
def rebuilt(storage):
    typed = T.storage.TypedStorage(wrap_storage=storage, dtype=T.uint8, _internal=True)
    return T._utils._rebuild_tensor(typed, 0, (1,), (1,))

#: check_future_kept [torch]: what a future of C++ owns (P1, P2)
#> check_future_kept: collects checks
def check_future_kept(tensor, cyclic=False):
    future, box = T.futures.Future(), [twin_of(tensor, TensorSub)]
    future.set_result(box[0])
    check_kept(box, future.value, cyclic)

#: check_list_kept [torch]: what a list of C++ owns (P1, P2)
#> check_list_kept: collects checks
def check_list_kept(tensor):
    box = [twin_of(tensor, TensorSub)]
    kept = T.jit.script([box[0]])
    check_kept(box, lambda: kept[0], False)

#: TensorDispatching [torch]: a tensor without memory that does its operations on another, `inner`
#> TensorDispatching: exotic
class TensorDispatching(T.Tensor):
    @staticmethod
    def __new__(cls, inner):
        one = T.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype)
        one.inner = inner
        return one
    def __init__(self, inner):
        pass
    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), keywords=None):
        inner = [one.inner if type(one) is cls else one for one in arguments]
        return function(*inner, **(keywords or {}))

#: warmed [torch]: from 2.0 on torch imports a thousand modules when something first needs them
# Nothing here may run a backward: from 2.0 on torch refuses every backward of a forked child then.
warmed = int(T.__version__.partition(".")[0]) >= 2
if warmed:
    T.func.vmap(T.sum)(T.ones(1))
    T.func.jvp(T.sum, (T.ones(1),), (T.ones(1),))
    T.ones(1, device="meta").add(1)
    TensorDispatching(T.ones(1)).add(1)

#: of_own_sizes [torch]: a tensor that asks its class for its sizes, which does not know them
#> of_own_sizes: exotic
def of_own_sizes():
    return T.Tensor._make_wrapper_subclass(
        TensorDispatching, (1,), dispatch_sizes_strides_policy="sizes")

#: TensorMute [torch]: the same, but operations give None
#> TensorMute: exotic
class TensorMute(TensorDispatching):
    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), keywords=None):
        return None

#: TensorRaising [torch]: a subclass whose operations raise; attributes are fetched and set
class TensorRaising(T.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), keywords=None):
        if getattr(function, "__name__", "") in ("__get__", "__set__", "__delete__"):
            return super().__torch_function__(function, types, arguments, keywords or {})
        raise RuntimeError("no operations")

#: emptying [torch]: a function of numbers that takes the memory of a tensor away as it is called
#> emptying: shrinks
def emptying(tensor):
    storage = getattr(tensor, "untyped_storage", None) or tensor._storage
    def callback(*numbers):
        storage().resize_(0)
        return numbers[0]
    return callback

#: check_slice [torch]: a slice of a storage keeps its bytes, or the storage cannot be resized
#> check_slice: grows checks
def check_slice(storage):
    if len(storage) == 0 or storage.device.type != "cpu":
        return
    storage.fill_(7)
    part = storage[:1]
    try:
        storage.resize_(1 << 16)
    except RuntimeError:
        return
    assert part[0] == 7, "memory: a slice of a resized storage has bytes of freed memory"

#: check_export [torch]: exported numbers stay, or the storage cannot be resized
#> check_export: grows checks
def check_export():
    tensor = T.ones(16)
    export = tensor.numpy()
    storage = getattr(tensor, "untyped_storage", None) or tensor._storage
    try:
        storage().resize_(1 << 16)
    except RuntimeError:
        return
    assert export[15] == 1, "memory: an export of a resized tensor has numbers of freed memory"

#: count_wrappers, wrappers_before, live_wrappers [torch]: what the collector knows of (P5)
def count_wrappers():
    return sum(issubclass(type(one), (T.Tensor, T.UntypedStorage)) for one in gc.get_objects())
wrappers_before = count_wrappers()
def live_wrappers():
    if count_wrappers() > wrappers_before:
        trivial_backward()
        gc.collect()
    return count_wrappers() - wrappers_before

#: trivial_backward [torch]: frees what a failed backward of this thread has left in its queue
def trivial_backward():
    with T.inference_mode(False), T.enable_grad():
        T.ones(1).requires_grad_().sum().backward()

#: check_torch_mode_again, torch_modes_again [torch]: modes of PyTorch, entered again (A5e)
#> check_torch_mode_again: checks
torch_modes_again = {
    "inference_mode": (lambda: T.inference_mode(), lambda: T.is_inference_mode_enabled()),
    "autocast": (lambda: T.autocast("cpu", dtype=T.bfloat16),
                 lambda: (T.is_autocast_cpu_enabled(), T.is_autocast_cache_enabled())),
    "set_grad_enabled": (lambda: T.set_grad_enabled(False), lambda: T.is_grad_enabled()),
    "set_detect_anomaly": (lambda: T.autograd.set_detect_anomaly(True),
                           lambda: T.is_anomaly_enabled()),
    "set_multithreading_enabled": (lambda: T.autograd.set_multithreading_enabled(False),
                                   lambda: T._C._is_multithreading_enabled()),
    "dual_level": (lambda: T.autograd.forward_ad.dual_level(),
                   lambda: T.autograd.forward_ad._current_level),
    "device": (lambda: T.device("meta"), lambda: T.empty(0).device.type),
    "skip_data": (lambda: T.serialization.skip_data(),
                  lambda: T.serialization._serialization_tls.skip_data),
    "DisableTorchFunction": (lambda: T._C.DisableTorchFunction(),
                             lambda: T._C._is_torch_function_enabled()),
    "DisableTorchFunctionSubclass": (lambda: T._C.DisableTorchFunctionSubclass(),
                                     lambda: T._C._is_torch_function_enabled()),
    "function mode": (lambda: T.overrides.BaseTorchFunctionMode(),
                      lambda: T._C._len_torch_function_stack()),
    "dispatch mode": (lambda: through(), lambda: T._C._len_torch_dispatch_stack()),
    "check_sparse_tensor_invariants": (
        lambda: T.sparse.check_sparse_tensor_invariants(),
        lambda: T.sparse.check_sparse_tensor_invariants.is_enabled()),
}
def check_torch_mode_again(name, entry):
    make, state = torch_modes_again[name]
    try:
        state()
    except AttributeError:  # a release that lacks it
        return
    assert_left(name, make, state, entry)

#: check_decorated_body [torch]: a mode holds in the body of what it decorates (A5e)
#> check_decorated_body: checks
def body_of_function(mode, state):
    return mode(state)()
def body_of_generator(mode, state):
    @mode
    def generate():
        yield state()
    return next(generate())
def body_of_coroutine(mode, state):
    @mode
    async def run():
        return state()
    try:
        run().send(None)
    except StopIteration as end:
        return end.value
def body_of_asynchronous_generator(mode, state):
    @mode
    async def generate():
        yield state()
    try:
        generate().__anext__().send(None)
    except StopIteration as end:
        return end.value
decorated_bodies = {"function": body_of_function, "generator": body_of_generator,
                    "coroutine": body_of_coroutine,
                    "asynchronous generator": body_of_asynchronous_generator}
def check_decorated_body(name, kind):
    make, state = modes_again.get(name) or torch_modes_again[name]
    with make():
        expected = state()
    found = decorated_bodies[kind](make(), state)
    assert found == expected, f"A5e: {name} that decorates a {kind} makes {found}, not {expected}"

#: check_default_device [torch]: a default device that is set within `with device` stays (A5e)
#> check_default_device: checks
def check_default_device(before, within):
    def device_now():
        return T.empty(0).device.type
    T.set_default_device(before)
    try:
        with T.device("meta"):
            T.set_default_device(within)
        found = device_now()
        T.set_default_device(None)
        found = found, device_now()
    except AssertionError:  # of a release
        found = "an error"
    T.set_default_device(None)
    assert found == (within or "cpu", "cpu"), (
        f"A5e: the default device was {before}, and {within} from within `with device` on; after"
        f" that, and after its reset, it is {found}")
