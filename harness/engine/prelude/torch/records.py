"""What lines may call about copies, about arguments that are of no use, and about containers.

What PyTorch gives is held to the object of which it is a copy, to a list of Python's, or to an
error that leaves everything as it was.
"""

#: check_copies, untyped_of [torch]: a copy of PyTorch's equals its object, or is refused (P8)
#> check_copies: checks
import copy
import inspect
import io
import pickle
import sys
def within_depth(call, most=18):
    frame, depth, before = inspect.currentframe(), 0, sys.getrecursionlimit()
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    sys.setrecursionlimit(depth + most)  # else what calls itself twice at each depth takes ages
    try:
        return call()
    finally:
        sys.setrecursionlimit(before)
def untyped_of(tensor):
    if hasattr(tensor, "untyped_storage"):
        return tensor.untyped_storage()
    return tensor.storage().untyped()
def ended_future():
    future = T.futures.Future()
    future.set_result(1)
    return future
copied_objects = {
    "tensor": (lambda: T.ones(2), repr), "parameter": (lambda: T.nn.Parameter(T.ones(2)), repr),
    "uint16": (lambda: T.ones(2).to(T.uint16), lambda one: (str(one.dtype), one.tolist())),
    "bfloat16": (lambda: T.ones(2).to(T.bfloat16), repr),
    "quantized": (lambda: T.quantize_per_tensor(T.ones(2), 0.5, 3, T.quint8), repr),
    "sparse": (lambda: T.ones(2).to_sparse(), repr), "meta": (lambda: T.ones(2).to("meta"), repr),
    "csr": (lambda: T.ones(1, 2).to_sparse_csr(), repr),
    "storage": (lambda: untyped_of(T.ones(2)), list),
    "typed_storage": (lambda: T.ones(2).storage(), list),
    "generator": (lambda: T.Generator().manual_seed(5), lambda one: one.get_state().tolist()),
    "device": (lambda: T.device("cpu"), repr), "dtype": (lambda: T.uint8, repr),
    "layout": (lambda: T.sparse_coo, repr), "size": (lambda: T.Size([1, 2]), repr),
    "finfo": (lambda: T.finfo(T.float32), repr), "results": (lambda: T.ones(2).max(0), repr),
    "future": (ended_future, lambda one: one.value()),
    "operator": (lambda: T.ops.aten.add, repr), "overload": (lambda: T.ops.aten.add.Tensor, repr),
    "stream": (lambda: T.Stream("cpu"), repr), "node": (lambda: one_node(), lambda one: one.name()),
    "module": (lambda: T.nn.Linear(1, 1), lambda one: one(T.ones(1)).tolist()),
    "script": (lambda: T.jit.trace(T.nn.Identity(), T.ones(1)),
               lambda one: one(T.ones(1)).tolist()),
}
def one_node():
    with T.inference_mode(False), T.enable_grad():
        return (T.ones(1).requires_grad_() * 2).grad_fn
def saved_copy(one, protocol):
    file = io.BytesIO()
    T.save(one, file)
    file.seek(0)
    return T.load(file, weights_only=False)
def sent_copy(one, protocol):
    function, arguments = T.multiprocessing.reductions.reduce_tensor(one)
    return function(*arguments)
def shallow_copy(one, protocol):
    if isinstance(one, type(T.ops.aten.add)):
        return within_depth(lambda: copy.copy(one))
    return copy.copy(one)
copiers = {"copy": shallow_copy,
           "deepcopy": lambda one, protocol: copy.deepcopy(one),
           "pickle": lambda one, protocol: pickle.loads(pickle.dumps(one, protocol)),
           "save": saved_copy, "sent": sent_copy}
def check_copies(kind, copier, protocol):
    if in_hermetic():
        return
    make, content_of = copied_objects[kind]
    try:
        one = make()
    except (AttributeError, RuntimeError, TypeError):
        return
    if copier == "sent" and not isinstance(one, T.Tensor):
        return
    raised = ""
    try:
        found = copiers[copier](one, protocol)
    except (TypeError, pickle.PicklingError):
        return
    except Exception as error:
        raised = type(error).__name__
        if "INTERNAL ASSERT" in str(error):
            raised = "an internal assert"
        elif raised in ("RuntimeError", "NotImplementedError"):
            return
    assert not raised, f"P8: a copy of a {kind} by {copier} raises {raised}"
    try:
        content = content_of(found)
    except RuntimeError:
        content = "an error"
    assert content == content_of(one), f"P8: a copy of a {kind} by {copier} is not what it was"

#: check_impostor [torch]: what is of no class of PyTorch, but says so, is refused (P8)
#> check_impostor: checks
import unittest.mock
def impostor_by_property(kind):
    return type("Impostor", (), {"__class__": property(lambda self: kind)})()
def impostor_by_mock(kind):
    one = unittest.mock.Mock(spec=kind)
    if hasattr(one, "__torch_function__"):
        del one.__torch_function__
    return one
impostor_makers = {"property": impostor_by_property, "mock": impostor_by_mock}
def impostor_of_hook(one):
    x = T.ones(1).requires_grad_()
    y = x * 2
    y.register_hook(lambda gradient: one)
    y.backward()
def impostor_of_backward(one):
    class Impostors(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2
        @staticmethod
        def backward(ctx, gradient):
            return one
    Impostors.apply(T.ones(1).requires_grad_()).backward()
def impostor_of_unpack(one):
    x = T.ones(1).requires_grad_()
    with T.autograd.graph.saved_tensors_hooks(lambda saved: saved, lambda packed: one):
        y = x * x
    y.backward()
impostor_calls = {
    "add": lambda one: T.ones(1) + one, "stack": lambda one: T.stack([T.ones(1), one]),
    "out": lambda one: T.add(T.ones(1), 1, out=one), "index": lambda one: T.ones(1)[one],
    "grad": lambda one: setattr(T.ones(1), "grad", one),
    "data": lambda one: setattr(T.ones(1), "data", one),
    "hook": impostor_of_hook, "backward": impostor_of_backward, "unpack": impostor_of_unpack,
    "generator": lambda one: T.rand(1, generator=one), "storage": lambda one: T.ones(1).set_(one),
    "dtype": lambda one: T.ones(1, dtype=one), "device": lambda one: T.ones(1, device=one),
}
def check_impostor(kind, call, maker):
    if in_hermetic():
        return
    one = impostor_makers[maker](getattr(T, kind))
    raised = ""
    with T.inference_mode(False), T.enable_grad():
        try:
            impostor_calls[call](one)
        except Exception as error:
            raised = type(error).__name__
    assert raised not in ("", "SystemError"), (
        f"P8: {call} with what only says that it is a {kind} is no error")

#: check_odd_argument [torch]: a call with what it cannot take is an error and changes nothing (P8)
#> check_odd_argument: checks
import datetime
import functools
import tempfile
from contextlib import suppress
def fill_oddly():
    storage = untyped_of(T.zeros(1))
    for act in (storage.fill_, functools.partial(storage.__setitem__, 0)):
        with suppress(RuntimeError, OverflowError, SystemError):
            act(2**64)
    assert list(storage) == [0] * 4, "P8: a number that does not fit is written to a storage"
    raise OverflowError
def map_odd_size():
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(16))
        file.flush()
        return T.from_file(file.name, size=2**62 + 4)
odd_calls = {
    "wait event": lambda: T.Stream("cpu").wait_event(None),
    "wait stream": lambda: T.Stream("cpu").wait_stream(None),
    "record event": lambda: T.Stream("cpu").record_event(1),
    "event record": lambda: T.Event("cpu").record(1),
    "event wait": lambda: T.Event("cpu").wait(1),
    "elapsed time": lambda: T.Event("cpu").elapsed_time(1),
    "generator": lambda: T.Generator().__setstate__(()),
    "device 256": lambda: T.device("cuda:256"), "device and 257": lambda: T.device("cuda", 257),
    "device and -1": lambda: T.device("cuda", -1), "fill": fill_oddly,
    "from_file": map_odd_size,
    "gloo": lambda: T.distributed.ProcessGroupGloo(None, 0, 1, datetime.timedelta(seconds=3)),
    "prefix": lambda: T.distributed.PrefixStore("a", None).get("a"),
}
def check_odd_argument(name):
    if in_hermetic():
        return
    raised = ""
    try:
        odd_calls[name]()
    except AssertionError:
        raise
    except Exception as error:
        raised = type(error).__name__
    assert raised not in ("", "SystemError"), (
        f"P8: {name} with what it cannot take raises {raised or 'nothing'}")

#: check_future_refused [torch]: a call that a future refuses leaves its result (P8)
#> check_future_refused: checks
future_settings = {"result": lambda future: future.set_result(2),
                   "exception": lambda future: future.set_exception(ValueError("late"))}
def future_value(future):
    try:
        return future.value()
    except Exception as error:
        return type(error).__name__
def check_future_refused(first, second):
    future = T.futures.Future()
    future_settings[first](future)
    expected = future_value(future)
    try:
        future_settings[second](future)
    except RuntimeError:
        found = future_value(future)
        assert found == expected, (
            f"P8: a future with a {first} gives {found} once it has refused the {second}")

#: check_module_list [torch]: a list of modules does what a list does, or refuses (P8)
#> check_module_list: checks
module_list_acts = {
    "insert": lambda held, place, new: held.insert(place, new),
    "pop": lambda held, place, new: held.pop(place),
    "delete": lambda held, place, new: held.__delitem__(place),
    "set": lambda held, place, new: held.__setitem__(place, new),
    "delete slice": lambda held, place, new: held.__delitem__(slice(place, None)),
    "extend": lambda held, place, new: held.extend([new] * 2),
}
def check_module_list(*acts_and_places):
    model = [T.nn.ReLU(), T.nn.Tanh()]
    held = T.nn.ModuleList(model)
    for act, place in zip(acts_and_places[::2], acts_and_places[1::2]):
        before, new = list(model), T.nn.GELU()
        try:
            module_list_acts[act](held, place, new)
            module_list_acts[act](model, place, new)
        except (IndexError, KeyError, TypeError, ValueError, AttributeError):
            model = before
        try:
            found = list(held) == model == [held[at] for at in range(len(model))]
        except (KeyError, IndexError):
            found = False
        assert found, f"P8: after {act} at {place} a list of modules has not what a list has"

#: check_load_view [torch]: what torch.load gives to a file's readinto() does not dangle (P5)
#> check_load_view: checks
import io
class KeepingFile(io.BytesIO):
    def readinto(self, buffer):
        self.kept = buffer
        return super().readinto(buffer)
def check_load_view():
    if in_hermetic():
        return
    file = KeepingFile()
    file.kept = None
    T.save(T.ones(3), file)
    file.seek(0)
    T.load(file)
    try:
        owner = file if file.kept is None else memoryview(file.kept).obj
    except ValueError:  # it was released
        return
    assert owner is not None, "P5: after load(), a file has a view of memory that nothing keeps"

#: check_python_store [torch]: a store in Python that another store has goes on (P5)
#> check_python_store: checks
def check_python_store():
    class StoreOfPython(T.distributed.Store):
        def __init__(self):
            super().__init__()
            self.kept = {}
        def set(self, key, value):
            self.kept[key] = value
        def get(self, key):
            return self.kept[key]
    store = T.distributed.PrefixStore("prefix", StoreOfPython())
    raised = ""
    try:
        store.set("a", "b")
        raised = "" if store.get("a") == b"b" else "another value"
    except (RuntimeError, TypeError) as error:
        raised = type(error).__name__
    assert not raised, f"P5: a store in Python that a PrefixStore alone has gives {raised}"
