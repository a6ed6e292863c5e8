"""What lines may call about what a process of PyTorch leaves alive when it ends."""

#: check_torch_ends [torch]: what PyTorch alone has, left at the end of a process (T8)
#> check_torch_ends: starts_thread checks
def leave_profiler(**options):
    cpu = T.profiler.ProfilerActivity.CPU
    scope = leave_entered(T.profiler.profile(activities=[cpu], **options))
    T.ones(2) * 2
    return scope
def leave_library():
    library = T.library.Library("slotfuzz_at_end", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CPU")
    T.ops.slotfuzz_at_end.twice(T.ones(2))
    return library
def leave_future():
    future = T.futures.Future()
    future.add_done_callback(lambda done: done.value())
    return future, future.then(lambda done: T.ones(2))
def leave_script():
    return T.jit.script([T.ones(2)]), T.jit.trace(lambda x: x * 2, T.ones(2))
def leave_monitor():
    return T.monitor.register_event_handler(lambda event: None)
class Passing(T.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, function, types, arguments=(), words=None):
        return function(*arguments, **(words or {}))
def leave_multi_hook():
    leaves = [T.ones(2).requires_grad_() for _ in range(2)]
    return T.autograd.graph.register_multi_grad_hook(leaves, lambda gradients: None)
def leave_dual():
    level = leave_entered(T.autograd.forward_ad.dual_level())
    return level, T.autograd.forward_ad.make_dual(T.ones(2), T.ones(2))
torch_leavings = {
    "profiler": leave_profiler, "profiler_with_stack": lambda: leave_profiler(with_stack=True),
    "library": leave_library, "future": leave_future, "script": leave_script,
    "monitor": leave_monitor, "dispatch_mode": lambda: leave_entered(Passing()),
    "multi_hook": leave_multi_hook, "dual": leave_dual,
    "anomaly": lambda: leave_entered(T.autograd.detect_anomaly(check_nan=False)),
    "inference": lambda: leave_entered(T.inference_mode()),
    "record": lambda: leave_entered(T.profiler.record_function("a part")),
    "module": lambda: T.nn.Linear(2, 2).register_forward_hook(lambda *given: None),
    "array": lambda: (T.ones(2).numpy(), T.utils.dlpack.to_dlpack(T.ones(2))),
    "generator": lambda: (T.Generator(), T.default_generator),
}
def check_torch_ends(name, other):
    assert_ends((name, other), {**leavings, **torch_leavings})
