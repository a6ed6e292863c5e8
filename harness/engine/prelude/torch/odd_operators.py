"""Operators of PyTorch by their schemas, with operands that few programs have.

Numbers that no size has, and writes in place to a tensor whose rows are one row.
"""

#: check_odd_numbers [torch meta]: an operator takes odd numbers, or is an error (P8)
odd_numbers = (-1, 0, 1 << 62, (1 << 63) - 1, -1 << 63)
def odd_forms(argument, value):
    kind = str(argument.type).replace("SymInt", "int")
    # A schema has an int for each enumeration.
    if argument.name in ("dtype", "out_dtype", "layout", "memory_format", "reduction"):
        return ()
    if kind in ("int", "Optional[int]"):
        return odd_numbers
    is_list = kind in ("List[int]", "Optional[List[int]]")
    return [[one] * len(value or [0]) for one in odd_numbers] if is_list else []
def check_odd_numbers(first, end):
    if in_hermetic():
        return
    with T.inference_mode(False), T.no_grad():
        for schema in operators_between(first, end):
            for layout in ("a plain", "an empty", "a swapped image"):
                positional, keywords = arguments_for(schema, layouts_tried[layout], lambda one: one)
                make_odd_calls(schema, positional, keywords)
def make_odd_calls(schema, positional, keywords):
    for at, argument in enumerate(schema.arguments):
        is_named = at >= len(positional)
        for odd in odd_forms(argument, None if is_named else positional[at]):
            given = positional if is_named else [*positional[:at], odd, *positional[at + 1:]]
            more = {argument.name: odd} if is_named else {}
            try:
                results_of(schema, given, keywords | more)
            except (*refused, AttributeError, MemoryError):
                continue

#: check_rows_written [torch meta]: an operator writes rows that are one row, or is an error (A7)
#> check_rows_written: checks
# Names of what draws numbers, and of what changes no element.
left_out = ("bernoulli", "cauchy", "exponential", "geometric", "log_normal", "normal", "random",
            "uniform", "rrelu", "dropout", "alpha_dropout", "feature_", "resize", "set_",
            "squeeze", "unsqueeze", "transpose", "swap", "t_", "as_strided", "detach")
def writers_between(first, end):
    return [schema for name, schema in schemas_between(first, end)
            if name.endswith("_") and not name.startswith(("_", *left_out))
            and schema.arguments and str(schema.arguments[0].type) == "Tensor"]
def check_rows_written(first, end):
    if in_hermetic():
        return
    with T.inference_mode(False), T.no_grad():
        for schema in writers_between(first, end):
            for layout in ("a plain", "an integer"):
                check_row_written(schema, layout)
def check_row_written(schema, layout):
    one_row = lambda: layouts_tried[layout]()[:1].contiguous().expand(2, -1)
    written, whole = one_row(), one_row().clone()
    positional, keywords = arguments_for(schema, one_row, lambda one: one.clone())
    try:
        results_of(schema, [whole, *positional[1:]], keywords)
        results_of(schema, [written, *positional[1:]], keywords)
    except (*refused, AttributeError):
        return
    assert T.allclose(written, whole, equal_nan=True), (
        f"A7: {schema.name}.{schema.overload_name or 'default'} of {layout} tensor writes rows that"
        " are one row, and not what it writes to two rows")
