"""What lines may call about scopes, operators that write, edges of graphs, and their arguments.

A scope is held to the state before it and to what calls give outside of it; what a call gives, to
what it was given.
"""

#: check_scope_state [torch]: a scope leaves the state as it was when it began (A10)
#> check_scope_state: checks
scope_makers = {
    "no_grad": lambda: T.no_grad(), "enable_grad": lambda: T.enable_grad(),
    "inference": lambda: T.inference_mode(), "anomaly": lambda: T.autograd.detect_anomaly(),
    "autocast": lambda: T.autocast("cpu", dtype=T.bfloat16),
    "fork_rng": lambda: T.random.fork_rng(), "device": lambda: T.device("meta"),
}
def scope_state():
    with_nan = getattr(T, "is_anomaly_check_nan_enabled", lambda: None)
    return (T.is_grad_enabled(), T.is_inference_mode_enabled(), T.is_anomaly_enabled(), with_nan(),
            T.is_autocast_cpu_enabled(), str(T.get_autocast_cpu_dtype()), T.initial_seed(),
            str(T.empty(0).device))
def check_scope_state(name, *uses):
    if in_hermetic():
        return
    was_enabled, had_anomaly = T.is_grad_enabled(), T.is_anomaly_enabled()
    try:
        scope = scope_makers[name]()
        for use in uses:
            if use == "change":
                T.set_grad_enabled(not T.is_grad_enabled())
                T.autograd.set_detect_anomaly(not T.is_anomaly_enabled())
                continue
            before = scope_state()
            try:
                with scope:
                    if use == "error":
                        raise ValueError("an error")
            except (ValueError, AttributeError, RuntimeError, TypeError):
                pass  # some may be entered once
            assert scope_state() == before, f"A10: a scope of {name} leaves another state"
    finally:
        T.set_grad_enabled(was_enabled)
        T.autograd.set_detect_anomaly(had_anomaly)

#: check_allow_mutation [torch]: allow_mutation_on_saved_tensors changes no result (A10)
#> check_allow_mutation: checks starts_thread
import threading
def written_results(calls):
    given = T.tensor([[2., 1.], [3., 4.]])
    found = []
    for call in calls:
        results = T.zeros(2), T.zeros(2, dtype=T.long)
        call(given, results)
        found += [one.tolist() for one in results]
    return found
written_calls = {
    "one": [lambda x, results: T.add(x[0], x[1], out=results[0])],
    "several": [lambda x, results: T.sort(x[0], out=results),
                lambda x, results: T.max(x, 0, out=results),
                lambda x, results: T.topk(x[0], 2, out=results)],
}
def saved_and_written(write):
    x = T.ones(2).requires_grad_()
    saved = x.clone()
    y = saved * saved
    write(saved)
    y.sum().backward()
    return x.grad.tolist()
def write_in_thread(saved):
    thread = threading.Thread(target=saved.detach().zero_)
    thread.start()
    thread.join()
def enter_refused(saved):
    try:
        with T.autograd.graph.allow_mutation_on_saved_tensors():
            pass
    except RuntimeError:
        pass
saved_writes = {"nothing": lambda saved: None, "write": lambda saved: saved.zero_(),
                "thread": write_in_thread, "nested": enter_refused,
                "out": lambda saved: T.zeros(2, out=saved.detach())}
def check_allow_mutation(call):
    if in_hermetic():
        return
    raised, found = "", None
    with T.inference_mode(False), T.enable_grad():
        if call in written_calls:
            function = lambda: written_results(written_calls[call])
            expected = function()
        else:
            function, expected = lambda: saved_and_written(saved_writes[call]), [2., 2.]
        try:
            with T.autograd.graph.allow_mutation_on_saved_tensors():
                found = function()
        except RuntimeError:
            return
        except (KeyError, AssertionError, AttributeError, TypeError) as error:
            found = type(error).__name__
    assert found == expected, (
        f"A10: under allow_mutation_on_saved_tensors, {call} gives {found}, else {expected}")

#: check_safe_globals [torch]: what is safe to load after a scope is what was before (P8)
#> check_safe_globals: checks
class SafeOne:
    pass
class SafeOther:
    pass
def check_safe_globals(*acts):
    if in_hermetic():
        return
    T.serialization.clear_safe_globals()
    try:
        for act in acts:
            if act == "add":
                T.serialization.add_safe_globals([SafeOne])
            before = T.serialization.get_safe_globals()
            with T.serialization.safe_globals([SafeOther] if act == "other" else [SafeOne]):
                if act == "nested":
                    with T.serialization.safe_globals([SafeOne]):
                        pass
                    assert set(T.serialization.get_safe_globals()) == {*before, SafeOne}, (
                        "P8: a scope of safe_globals leaves other globals")
            assert set(T.serialization.get_safe_globals()) == set(before), (
                "P8: a scope of safe_globals leaves other globals")
    finally:
        T.serialization.clear_safe_globals()

#: check_cached_weights [torch]: within parametrize.cached() a weight is that of its module (P8)
#> check_cached_weights: checks
def multiply_weight(module, value, factor):
    class Multiplied(T.nn.Module):
        def forward(self, x):
            return x * factor
    with T.no_grad():
        module.weight.fill_(value)
    T.nn.utils.parametrize.register_parametrization(module, "weight", Multiplied())
def multiplied_module(value, factor):
    module = T.nn.Linear(1, 1)
    multiply_weight(module, value, factor)
    return module
def check_cached_weights(act):
    if in_hermetic():
        return
    with T.inference_mode(False), T.nn.utils.parametrize.cached():
        module, kept = None, []
        for number in range(1, 30):
            if act in ("free", "keep") or module is None:
                module = None  # before another one takes its memory
                module = multiplied_module(float(number), 2)
            else:
                T.nn.utils.parametrize.remove_parametrizations(module, "weight", False)
                multiply_weight(module, float(number), 2)
            if act == "keep":
                kept.append(module)
            weight = module.weight.item()
            assert weight == 2 * number, (
                f"P8: within parametrize.cached(), a weight is not that of its module ({act})")

#: check_mutating_op [torch]: a custom operator that writes its argument is derived, or refused (A7)
#> check_mutating_op: checks
made_operators = {}
def writing_operator():
    if not made_operators:
        def double(x: T.Tensor) -> None:
            x.mul_(2)
        made_operators["double"] = T.library.custom_op("slotfuzz_scopes::double", double,
                                                       mutates_args={"x"})
    return made_operators["double"]
mutated_arguments = {"result": lambda x: x * 1, "clone": lambda x: x.clone(),
                     "view": lambda x: (x * 1)[:], "leaf": lambda x: x}
def check_mutating_op(argument):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        x = T.ones(1).requires_grad_()
        try:
            y = mutated_arguments[argument](x)
            writing_operator()(y)
            (gradient,) = T.autograd.grad(y.sum(), x)
        except RuntimeError:
            return
        assert argument != "leaf" and gradient.item() == 2, (
            "A7: a custom operator writes its argument, which autograd does not see")

#: check_edge [torch]: a gradient with respect to an edge is right, or an error (A7)
#> check_edge: checks
edge_results = {"multiply": (lambda x: x * 2, 1), "unbind": (lambda x: x.unbind(), 2),
                "chunk": (lambda x: x.chunk(2), 2), "sort": (lambda x: x.sort()[0], 1)}
def check_edge(call, number):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        function, count = edge_results[call]
        results = function(T.ones(2).requires_grad_())
        results = results if isinstance(results, tuple) else (results,)
        total = sum((place + 3) * one.sum() for place, one in enumerate(results))
        node = results[0].grad_fn
        try:
            edge = T.autograd.graph.GradientEdge(node, number)
            (found,) = T.autograd.grad(total, [edge], allow_unused=True)
        except (RuntimeError, IndexError, ValueError, TypeError, OverflowError):
            return
        if 0 <= number < count:
            right = found is not None and set(found.flatten().tolist()) == {number + 3.}
        else:
            right = found is None
        assert right, f"A7: the gradient with respect to edge {number} of {call} is wrong"

#: check_map_arg [torch]: map_arg holds of a container that changes what was in it, or raises (P8)
#> check_map_arg: checks
import torch.fx
map_arg_makers = {"list": list, "dictionary": lambda nodes: dict(enumerate(nodes))}
map_arg_acts = {"nothing": lambda held: None, "clear": lambda held: held.clear(),
                "pop": lambda held: held.pop(len(held) - 1, None) if isinstance(held, dict)
                else held and held.pop(),
                "replace": lambda held: held.__setitem__(0, 5) if len(held) else None}
def check_map_arg(kind, act):
    if in_hermetic():
        return
    graph = T.fx.Graph()
    nodes = [graph.placeholder(f"x{number}") for number in range(1000)]
    held = map_arg_makers[kind](nodes)
    def callback(node):
        map_arg_acts[act](held)
        return node
    try:
        found = T.fx.node.map_arg(held, callback)
    except (RuntimeError, IndexError, KeyError, TypeError):
        return
    found = list(found.values() if kind == "dictionary" else found)
    assert all(one == 5 or one in nodes for one in found), (
        f"P8: map_arg of a {kind} that its callback changes ({act}) gives what was not in it")

#: check_save_protocol [torch]: what torch.save writes by a protocol, torch.load reads (P8)
#> check_save_protocol: checks
import io
import pickle
def check_save_protocol(protocol):
    if in_hermetic():
        return
    file, raised, found = io.BytesIO(), "", None
    try:
        T.save(T.ones(2), file, pickle_protocol=protocol)
    except (ValueError, RuntimeError, TypeError, pickle.PicklingError):
        return
    file.seek(0)
    try:
        found = T.load(file, weights_only=False)
    except Exception as error:
        raised = type(error).__name__
    assert not raised and T.equal(found, T.ones(2)), (
        f"P8: torch.load of what torch.save has written by a protocol raises {raised or 'nothing'}")
