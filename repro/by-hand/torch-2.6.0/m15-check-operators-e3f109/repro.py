# M15 check_operators: AssertionError: M15: aten::zero.default of a transposed tensor gives a fake the sizes, strides and type ((N, N), [N, N], torch.float32), and a tensor ((N, N), [N, N], torch.float32), torch 2.6.0
# contract: M15
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: M15: aten::zero\.default of a transposed tensor gives a fake the sizes, strides and type \(\((?:N|\d+), (?:N|\d+)\), \[(?:N|\d+), (?:N|\d+)\], torch\.float32\), and a tensor \(\((?:N|\d+), (?:N|\d+)\), \[(?:N|\d+), (?:N|\d+)\], torch\.float32\)"
    failed, others = [], []
    for run in range(runs):
        end = subprocess.run([sys.executable, __file__], stderr=subprocess.PIPE, text=True,
                             errors="replace")
        code, said = end.returncode, end.stderr.strip().splitlines()
        said = [line for line in said if "SUMMARY" in line] or said[-2:]
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        if code and re.search(stated, f"{end.stderr}\n{how}", re.MULTILINE):
            failed.append((code, said))
        elif code:
            others.append(": ".join([how, *said[-1:]]))
        print(f"\r{run + 1} of {runs} runs, {len(failed)} failed", end="", file=sys.stderr)
        sys.stderr.flush()
    print(file=sys.stderr)
    codes = sorted({code for code, _ in failed})
    print(f"failed {len(failed)} of {runs}, exit codes {codes}")
    for line in failed[0][1] if failed else []:
        print(line)
    for how in sorted(set(others)):
        print(f"{others.count(how)} ended otherwise: {how}")
    sys.exit(1 if failed else 2 if others else 0)

refused = (IndexError, RuntimeError, TypeError, ValueError)
def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
FakeTensorMode = T._subclasses.FakeTensorMode
unknown_to_fakes = (NotImplementedError, RecursionError, *(
    getattr(T._subclasses.fake_tensor, name, NotImplementedError) for name in (
        "DataDependentOutputException", "DynamicOutputShapeException",
        "UnsupportedOperatorException", "UnsupportedFakeTensorException")))
import math
numbers = lambda *sizes: T.arange(float(math.prod(sizes))).div(math.prod(sizes)).view(sizes)
layouts_tried = {
    "a plain": lambda: numbers(2, 4), "a transposed": lambda: numbers(4, 2).t(),
    "a strided": lambda: numbers(2, 8)[:, ::2], "an expanded": lambda: numbers(4).expand(2, 4),
    "an empty": lambda: T.ones(0, 4), "a permuted": lambda: numbers(2, 5, 4).permute(2, 0, 1),
    "an integer": lambda: T.tensor([[0, 1, 1], [1, 0, 1]]).t(), "a square": lambda: T.eye(3).t(),
    "a swapped image": lambda: numbers(1, 5, 2, 6).permute(0, 1, 3, 2),
    "an empty image": lambda: T.ones(0, 5, 6, 2)}
others_tried = (lambda one: one, lambda one: one[..., :3], lambda one: one[0])
other_libraries = ("cudnn", "fbgemm", "miopen", "mkldnn", "quantize", "sparse_", "fake_quantize")
def has_out(schema):
    return any(argument.kwarg_only and str(argument.type) == "Tensor"
               for argument in schema.arguments)
def operators_between(first, end):
    for schema in sorted(T._C._jit_get_all_schemas(), key=str):
        space, _, name = schema.name.partition("::")
        if (space == "aten" and first <= name < end and not name.endswith(("_", "_backward"))
                and not name.startswith(other_libraries) and not has_out(schema)
                and any("Tensor" in str(argument.type) for argument in schema.arguments)):
            yield schema
def argument_for(argument, make, narrowed, is_first):
    name, kind = argument.name, str(argument.type)
    if kind == "Tensor" and name in ("index", "indices"):
        return T.tensor([0, 1])
    tensor = make() if is_first else narrowed(make())
    inner = max(1, tensor.dim() - 2)  # dimensions of an image or a row, without batch and channels
    lists = {"size": list(tensor.shape), "output_size": [2] * inner}
    values = {
        "Tensor": tensor, "List[Tensor]": [tensor, make()], "bool": False, "float": 0.5,
        "number": 2, "Scalar": 2, "int": 0 if "dim" in name else 1, "str": "mean",
        "List[int]": [0] if "dim" in name else lists.get(name, [1] * inner)}
    return values.get(kind.replace("SymInt", "int"))
def arguments_for(schema, make, narrowed):
    positional, keywords = [], {}
    for argument in schema.arguments:
        if not argument.has_default_value():
            value = argument_for(argument, make, narrowed, not positional)
            if argument.kwarg_only:
                keywords[argument.name] = value
            else:
                positional.append(value)
    return positional, keywords
def results_of(schema, positional, keywords):
    operator = getattr(T.ops.aten, schema.name[len("aten::"):])
    results = getattr(operator, schema.overload_name or "default")(*positional, **keywords)
    flat = results if isinstance(results, (tuple, list)) else [results]
    return [one for one in flat if isinstance(one, T.Tensor) and one.layout == T.strided]
def layout_that_counts(one):
    sizes = tuple(one.size())
    steps = [step for size, step in zip(sizes, one.stride()) if size > 1 and one.numel()]
    return sizes, steps, one.dtype
def check_operators(first, end):
    if in_hermetic():
        return
    with T.inference_mode(False), T.no_grad():
        for schema in operators_between(first, end):
            for layout, make in layouts_tried.items():
                for narrowed in others_tried:
                    check_operator(schema, layout, make, narrowed)
def check_operator(schema, layout, make, narrowed):
    try:
        positional, keywords = arguments_for(schema, make, narrowed)
        expected = results_of(schema, positional, keywords)
    except (*refused, AttributeError):
        return
    mode = FakeTensorMode()
    positional, keywords = arguments_for(schema, make, narrowed)
    fake_of = lambda one: (mode.from_tensor(one) if isinstance(one, T.Tensor) else
                           [fake_of(part) for part in one] if isinstance(one, list) else one)
    try:
        with mode:
            found = results_of(schema, fake_of(positional),
                               {name: fake_of(one) for name, one in keywords.items()})
    except (*unknown_to_fakes, RuntimeError, ValueError, IndexError):
        return
    pairs = [(layout_that_counts(one), layout_that_counts(other))
             for one, other in zip(found, expected)]
    for one, other in pairs:
        assert one == other, (
            f"M15: {schema.name}.{schema.overload_name or 'default'} of {layout} tensor gives a"
            f" fake the sizes, strides and type {one}, and a tensor {other}")

check_operators('view_as_real_', 'zz')
