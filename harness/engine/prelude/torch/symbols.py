"""Symbolic sizes and traces on PyTorch: what lines may call, and checks.

A check of guards asks the release whether sizes pass, and runs the function on them.
"""

#: ShapeEnv [torch meta]: torch's class, in which sizes are symbols and decisions are guards
from torch.fx.experimental.symbolic_shapes import ShapeEnv

#: dynamic [torch meta]: a fake whose sizes have a symbol each
def all_dynamic(tensor):
    from torch.fx.experimental.symbolic_shapes import DimDynamic, StatelessSymbolicContext
    if not is_plain(tensor):  # the parts of a subclass have sizes of their own
        raise TypeError("other sizes")
    base = None if tensor._base is None else all_dynamic(tensor._base)
    return StatelessSymbolicContext(
        dynamic_sizes=[DimDynamic.DYNAMIC] * tensor.dim(), view_base_context=base)
def dynamic(mode, tensor):
    if hasattr(mode, "shape_env"):
        return fake_in(mode, tensor, symbolic_context=all_dynamic(tensor))
    # Before 2.0 a mode has no environment of its own.
    mode.own_env = getattr(mode, "own_env", None) or ShapeEnv()
    return fake_in(mode, tensor, shape_env=mode.own_env)

#: size_of [torch meta]: one more input of an environment
def size_of(env, hint, kind):
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic
    env.inputs = getattr(env, "inputs", 0) + 1
    source = ConstantSource(f"x{env.inputs}")
    symbol = env.create_symbol(hint, source, dynamic_dim=getattr(DimDynamic, kind.upper()))
    return env.create_symintnode(symbol, hint=hint, source=source)

#: check_sound, check_guards [torch meta]: inputs that pass have what the example has (M11)
#> check_sound: checks
#> check_guards: checks
def answer_of(function, sizes):
    try:
        answer = function(*sizes)
    except ZeroDivisionError as error:
        return type(error)
    return bool(answer) if isinstance(answer, (bool, T.SymBool)) else answer
def passes(env, code, sizes):
    try:
        return not code or bool(env.evaluate_guards_expression(code, sizes))
    except ZeroDivisionError:  # a guard on a quotient
        return False
def check_sound(function, first, second):
    example = (first, second)
    for kind in ("duck", "dynamic", "static"):
        env = ShapeEnv()
        sizes = [size_of(env, hint, kind) for hint in example]
        answer, expected = answer_of(function, sizes), answer_of(function, example)
        if isinstance(answer, type):
            assert answer is expected, "M11: a decision is not that of the example"
            continue  # an error ends a trace, and leaves nothing that other inputs could use
        is_size = isinstance(answer, T.SymInt)
        expression = answer.node.expr if is_size else None
        assert (answer.node.hint if is_size else answer) == expected, (
            "M11: a decision is not that of the example")
        code = env.produce_guards_expression(sizes, ignore_static=False)
        assert passes(env, code, example), "M11: the example does not pass"
        for point in [*((a, b) for a in range(7) for b in range(7)), (64, 65), (65, 64), (64, 64)]:
            if not passes(env, code, point):
                continue
            actual = answer_of(function, point)
            if is_size:
                values = {size.node.expr: value for size, value in zip(sizes, point)
                          if isinstance(size, T.SymInt)}
                assert expression.subs(values) == actual, "M11: an expression has another value"
            else:
                assert actual == expected, "M11: an input that passes decides otherwise"
check_guards = check_sound

#: check_inference_rows [torch meta]: writes count where tensors have no version, too (M15)
#> check_inference_rows: checks
def check_inference_rows(first):
    with T.inference_mode(), FakeTensorMode(shape_env=ShapeEnv()):
        fake = T.ones(first)
        before = fake.nonzero().size(0)
        fake.zero_()
        after = fake.nonzero().size(0)
    assert not is_decided_equal(before, after), (
        "M15: a fake has the number of rows that it had with other numbers")

#: traced [torch meta]: the graph of a function, traced with a tensor
import torch.fx.experimental.proxy_tensor as proxy_tensor
def traced(function, tensor, kind):
    if not isinstance(tensor, T.Tensor):
        raise TypeError("no tensor")
    return proxy_tensor.make_fx(function, tracing_mode=kind)(tensor)

#: check_trace [torch meta]: a graph gives what its function gives (M11)
#> check_trace: checks grows
def copies_of(tensor, number):
    storage, layout = storage_of(tensor), (tensor.storage_offset(), tensor.size(), tensor.stride())
    return [T.empty(0, dtype=tensor.dtype).set_(storage.clone(), *layout) for _ in range(number)]
def check_trace(function, tensor, kind):
    tensor = simple(tensor)
    if tensor is None:
        return
    example, one, other = copies_of(tensor, 3)
    try:
        expected = function(one)
    except refused:
        return
    graph = traced(function, example, kind)
    actual = graph(other)
    for found, wanted in ((actual, expected), (other, one)):
        layouts = [(one.size(), one.stride(), one.storage_offset(), one.dtype)
                   for one in (found, wanted)]
        assert layouts[0] == layouts[1], "M11: a graph gives another layout"
        has_same = found.numel() > tensor.numel() or repr(found.tolist()) == repr(wanted.tolist())
        assert has_same, "M11: a graph gives other numbers"  # new memory has any numbers

#: warmed_symbols [torch meta]: caches of sympy and of operations that grow with first uses
warmed_symbols = traced(lambda a: a.view(-1).add(1), T.ones(2, 3), "symbolic") is not None
