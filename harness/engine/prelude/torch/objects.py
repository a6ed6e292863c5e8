"""What lines may call about PyTorch's containers, futures, monitors, libraries, files, profilers.

Each makes what it needs, and holds what PyTorch gives to what Python's own objects give, to an
error, or to what the same call gives by itself.
"""

#: check_script_container [torch]: an iterator of TorchScript's gives what its container holds (P8)
#> check_script_container: checks
def places_in(held):
    return list(range(len(held)) if hasattr(held, "append") else held)
def grow_container(held):
    for place in places_in(held):
        held[place] = -1
    for number in range(4, 1000):
        if hasattr(held, "append"):
            held.append(number)
        else:
            held[number] = number
def empty_container(held):
    while len(held):
        del held[places_in(held)[0]]
def shorten_container(held):
    for place in places_in(held)[1:2]:
        del held[place]
container_acts = {"nothing": len, "grow": grow_container, "empty": empty_container,
                  "shorten": shorten_container}
script_containers = {"list": (list, iter), "dictionary": (lambda a: dict(zip(a, a)), iter),
                     "items": (lambda a: dict(zip(a, a)), lambda held: iter(held.items()))}
def check_script_container(kind, *acts):
    make, values_of = script_containers[kind]
    model, held, others = make((1, 2, 3)), T.jit.script(make((1, 2, 3))), []
    values = values_of(held)
    for act in acts:
        if act == "free":
            held = None  # and others take its memory
            others += [T.jit.script(make((-4, -5, -6))) for _ in range(50)]
        elif held is not None:
            container_acts[act](model)
            container_acts[act](held)
        try:
            value = next(values)
        except (StopIteration, RuntimeError):
            return
        assert value in (model.items() if kind == "items" else model), (
            f"P8: after {acts}, an iterator of TorchScript's {kind} gives what is not there")

#: check_future_freed [torch]: a future that nothing refers to keeps no callback (P5)
#> check_future_freed: collects checks
future_ends = {"pending": lambda future: None, "result": lambda future: future.set_result(1),
               "error": lambda future: future.set_exception(ValueError("an error"))}
def check_future_freed(call, end):
    future = T.futures.Future()
    def callback(done):
        return 1
    reference = weakref.ref(callback)
    getattr(future, call)(callback)
    future_ends[end](future)
    del future, callback
    collect_all()
    assert reference() is None, f"P5: a future that was freed ({end}) keeps a callback of {call}()"

#: check_monitor [torch]: each handler of events that is registered gets each event once (P8)
#> check_monitor: checks
import datetime
import torch.monitor
def check_monitor(*acts):
    seen, expected, is_registered = [], 0, True
    handler = T.monitor.register_event_handler(seen.append)
    for act in (*acts, "unregister"):
        if act == "log":
            T.monitor.log_event(T.monitor.Event("an event", datetime.datetime(2020, 1, 1), {}))
            expected += is_registered
        elif act == "unregister again" or is_registered:
            T.monitor.unregister_event_handler(handler)
            is_registered = False
    assert len(seen) == expected, f"P8: after {acts}, a handler has got {len(seen)} events"

#: check_library [torch]: an operator gives what its library has registered, or an error (P8)
#> check_library: checks
import itertools
library_numbers = itertools.count()
class LibraryOfOne:
    def __init__(self):
        self.namespace = f"slotfuzz_{next(library_numbers)}"
        self.in_call = lambda: None
        self.register(2)
        self.look_up()
    def register(self, factor):
        self.library, self.factor, self.is_looked_up = None, factor, False
        self.library = T.library.Library(self.namespace, "DEF")
        self.library.define("multiply(Tensor x) -> Tensor")
        def implementation(x):
            self.in_call()
            return x * factor
        self.library.impl("multiply", implementation, "CPU")
    def look_up(self):
        self.operator = getattr(T.ops, self.namespace).multiply
        self.is_looked_up = self.library is not None
    def free(self):
        self.library, self.factor, self.is_looked_up = None, None, False
        gc.collect()
    def free_in_call(self):
        self.in_call = self.free
        self.call()
        self.in_call = lambda: None
    def call(self, name=None):
        factor = self.factor
        called = getattr(self.operator, name) if name else self.operator
        found = called(T.ones(1)).tolist()
        assert found == [factor], (
            "P8: an operator gives a result that is not what its library's implementation gives")
library_acts = {
    "call": LibraryOfOne.call, "call overload": lambda one: one.call("default"),
    "look up": LibraryOfOne.look_up, "free": LibraryOfOne.free,
    "register": lambda one: one.register(3), "free in call": LibraryOfOne.free_in_call,
    "schema": lambda one: str(one.operator.default._schema),
}
def check_library(*acts):
    if in_hermetic():
        return
    one = LibraryOfOne()
    for act in acts:
        try:
            library_acts[act](one)
        except (RuntimeError, AttributeError) as error:
            assert not one.is_looked_up, (
                f"P8: an operator of a library that is there raises {type(error).__name__}")

#: check_failing_file [torch]: a call whose file raises OSError raises an error for it (P8)
#> check_failing_file: checks
import io
class FileOfOwn(io.BytesIO):
    pass
def fail_later(file, method, calls_before):
    called, failures = getattr(file, method), []
    left = iter(range(calls_before))
    def failing(*arguments):
        if next(left, None) is None:
            failures.append(method)
            raise OSError(5, "the file fails")
        return called(*arguments)
    setattr(file, method, failing)
    return failures
def traced_identity():
    return T.jit.trace(T.nn.Identity(), T.ones(3))
file_calls = {"save": lambda file: T.save(T.ones(3), file), "load": T.load,
              "save script": lambda file: T.jit.save(traced_identity(), file),
              "load script": lambda file: T.jit.load(file)(T.ones(3))}
def check_failing_file(call, method, calls_before):
    if in_hermetic():
        return
    file = FileOfOwn()
    if call.startswith("load"):
        file_calls[call.replace("load", "save")](file)
        file.seek(0)
    failures, raised = fail_later(file, method, calls_before), None
    try:
        found = file_calls[call](file)
    except (OSError, RuntimeError, EOFError, ValueError):
        return
    except Exception as error:
        raised = type(error).__name__
    assert raised is None, f"P8: {call} with a file whose {method}() raises OSError raises {raised}"
    if call.startswith("load"):
        assert T.equal(found, T.ones(3)), f"P8: {call} gives other numbers if {method}() fails"
    else:
        assert method != "write" or not failures, f"P8: {call} returns though write() failed"

#: check_profiled, under_profiler [torch]: a profiler changes no result (A10)
#> check_profiled: checks
import threading
def profile_module():
    with T.no_grad():
        return T.nn.Identity()(T.ones(2)).tolist()
def profile_optimizer():
    weight = T.ones(2).requires_grad_()
    weight.grad = T.ones(2)
    T.optim.SGD([weight], lr=0.5).step()
    return weight.tolist()
def profile_backward():
    x = T.ones(2).requires_grad_()
    (x * x).sum().backward()
    return x.grad.tolist()
def profile_swap():
    both = T.ones(2), T.ones(3)
    both[0].mul(2)
    T.utils.swap_tensors(*both)
    return both[0].tolist()
def profile_freed():
    x = T.ones(2)
    reference = weakref.ref(x)
    x.mul(2)
    del x
    return reference() is None
def profile_within():
    with T.profiler.profile(activities=[T.profiler.ProfilerActivity.CPU], with_stack=True):
        return T.ones(2).tolist()
def profile_thread():
    found = []
    def work():
        found.append((T.ones(2) * 2).tolist())
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found
def profile_generator():
    def generate():
        with T.profiler.record_function("a part"):
            yield T.ones(2).tolist()
    return next(generate())
def profile_error():
    T.ones(2).view(3)
profiled_functions = {
    "module": profile_module, "optimizer": profile_optimizer, "backward": profile_backward,
    "swap": profile_swap, "freed": profile_freed, "within": profile_within,
    "thread": profile_thread, "generator": profile_generator, "error": profile_error,
}
def what_it_gives(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__
def under_profiler(function, options):
    with T.profiler.profile(activities=[T.profiler.ProfilerActivity.CPU],
                            **dict.fromkeys(options, True)):
        found = what_it_gives(function)
        T.ones(1).add(1)
    return found
def check_profiled(name, *options):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        expected = what_it_gives(profiled_functions[name])
        found = under_profiler(profiled_functions[name], options)
    is_refused = name == "within" and found == "RuntimeError"
    assert found == expected or is_refused, (
        f"A10: under a profiler, {name} gives {found}, and {expected} without it")

#: check_profiler_references [torch]: a profiler changes no reference count (A9)
#> check_profiler_references: checks
import sys
def check_profiler_references(*options):
    if in_hermetic():
        return
    def function(number=257):
        return T.ones(2).add(number)
    def counts():
        return [sys.getrefcount(one) for one in (None, True, function, function.__code__, T.ones)]
    under_profiler(function, options)
    before = counts()
    for _ in range(20):
        under_profiler(function, options)
    grown = any(after - one > 15 for one, after in zip(before, counts()))
    assert not grown, "A9: 20 profilers leave references to None, to True or to a function"
