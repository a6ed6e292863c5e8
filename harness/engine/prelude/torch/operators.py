"""Operators of PyTorch by their schemas: what each does to tensors of many layouts.

An argument that has a default is left out. The others get what their type and name ask for, so
some operators refuse each call: nothing is known of them. Left out are operators whose name begins
or ends with an underscore, those of a backward, and those that write to `out`.
"""

#: layouts_tried, others_tried [torch meta]: what the first tensor is, and the other ones
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

#: schemas_between, operators_between [torch meta]: the overloads of a range of names
other_libraries = ("cudnn", "fbgemm", "miopen", "mkldnn", "quantize", "sparse_", "fake_quantize")
def has_out(schema):
    return any(argument.kwarg_only and str(argument.type) == "Tensor"
               for argument in schema.arguments)
def schemas_between(first, end):
    for schema in sorted(T._C._jit_get_all_schemas(), key=str):
        space, _, name = schema.name.partition("::")
        if space == "aten" and first <= name < end:
            yield name, schema
def operators_between(first, end):
    return [schema for name, schema in schemas_between(first, end)
            if not name.endswith(("_", "_backward")) and not name.startswith(other_libraries)
            and not has_out(schema)
            and any("Tensor" in str(argument.type) for argument in schema.arguments)]

#: arguments_for, placed, results_of [torch meta]: a call of an operator, and what it gives
def argument_for(argument, make, narrowed, is_first):
    name, kind = argument.name, str(argument.type)
    if kind == "Tensor" and name in ("index", "indices"):
        return T.tensor([0, 1])
    tensor = make() if is_first else narrowed(make())
    inner = max(1, tensor.dim() - 2)  # dimensions of an image or a row, without batch and channels
    lists = {"size": list(tensor.shape), "stride": list(tensor.stride()),
             "output_size": [2] * inner}
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
def placed(given, place):
    if isinstance(given, dict):
        return {name: placed(one, place) for name, one in given.items()}
    if isinstance(given, list):
        return [placed(one, place) for one in given]
    return place(given) if isinstance(given, T.Tensor) else given
def results_of(schema, positional, keywords):
    operator = getattr(T.ops.aten, schema.name[len("aten::"):])
    results = getattr(operator, schema.overload_name or "default")(*positional, **keywords)
    flat = results if isinstance(results, (tuple, list)) else [results]
    return [one for one in flat if isinstance(one, T.Tensor) and one.layout == T.strided]

#: check_operators [torch meta]: an operator gives a fake what it gives a tensor (M15)
#> check_operators: checks
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
    given = [placed(one, mode.from_tensor) for one in arguments_for(schema, make, narrowed)]
    try:
        with mode:
            found = results_of(schema, *given)
    except (*unknown_to_fakes, RuntimeError, ValueError, IndexError):
        return
    pairs = [(layout_that_counts(one), layout_that_counts(other))
             for one, other in zip(found, expected)]
    for one, other in pairs:
        assert one == other, (
            f"M15: {schema.name}.{schema.overload_name or 'default'} of {layout} tensor gives a"
            f" fake the sizes, strides and type {one}, and a tensor {other}")

#: check_sizes_refused [torch meta]: an operator refuses on meta what it refuses on cpu (M15)
#> check_sizes_refused: checks
refused_for_numbers = (NotImplementedError, IndexError, T._C._LinAlgError)
others_refused = {
    "the like": lambda one: one, "one with a column less": lambda one: one[..., :3],
    "one with a row less": lambda one: one[:1], "one of a dimension less": lambda one: one[0],
    "one of a dimension more": lambda one: one[None]}
def answers_on(place, schema, layout, other):
    given = arguments_for(schema, layouts_tried[layout], others_refused[other])
    return results_of(schema, *(placed(one, lambda tensor: tensor.to(place)) for one in given))
def is_refused(schema, layout, other):
    try:
        answers_on("cpu", schema, layout, other)
    except refused_for_numbers:
        return None
    except RuntimeError:
        return True
    except (*refused, AttributeError):
        return None
    return False
def check_sizes_refused(first, end):
    if in_hermetic():
        return
    tried = [(layout, other) for layout in layouts_tried if layout != "an integer"
             for other in others_refused]
    with T.inference_mode(False), T.no_grad():
        for schema in operators_between(first, end):
            answers = {one: is_refused(schema, *one) for one in tried}
            # One that takes none of them refuses the type, or what a number is.
            if False in answers.values():
                for layout, other in (one for one in tried if answers[one]):
                    check_size_refused(schema, layout, other)
def check_size_refused(schema, layout, other):
    try:
        answers_on("meta", schema, layout, other)
    except (*refused, AttributeError, AssertionError):
        return
    assert False, (
        f"M15: {schema.name}.{schema.overload_name or 'default'} of {layout} tensor, with {other},"
        " raises for tensors and not on meta")
