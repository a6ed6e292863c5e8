# A7 check_rows_written: AssertionError: A7: aten::fill_diagonal_.default of a plain tensor writes rows that are one row, and not what it writes to two rows, torch 2.14.1
# contract: A7
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A7: aten::fill_diagonal_\.default of a plain tensor writes rows that are one row, and not what it writes to two rows"
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
import math
numbers = lambda *sizes: T.arange(float(math.prod(sizes))).div(math.prod(sizes)).view(sizes)
layouts_tried = {
    "a plain": lambda: numbers(2, 4), "an integer": lambda: T.tensor([[0, 1, 1], [1, 0, 1]]).t(), }
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
def results_of(schema, positional, keywords):
    operator = getattr(T.ops.aten, schema.name[len("aten::"):])
    results = getattr(operator, schema.overload_name or "default")(*positional, **keywords)
    flat = results if isinstance(results, (tuple, list)) else [results]
    return [one for one in flat if isinstance(one, T.Tensor) and one.layout == T.strided]
# Names of what draws numbers, and of what changes no element.
left_out = ("bernoulli", "cauchy", "exponential", "geometric", "log_normal", "normal", "random",
            "uniform", "rrelu", "dropout", "alpha_dropout", "feature_", "resize", "set_",
            "squeeze", "unsqueeze", "transpose", "swap", "t_", "as_strided", "detach")
def writers_between(first, end):
    for schema in sorted(T._C._jit_get_all_schemas(), key=str):
        space, _, name = schema.name.partition("::")
        if (space == "aten" and first <= name < end and name.endswith("_")
                and not name.startswith(("_", *left_out)) and schema.arguments
                and str(schema.arguments[0].type) == "Tensor"):
            yield schema
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
    assert T.equal(written, whole), (
        f"A7: {schema.name}.{schema.overload_name or 'default'} of {layout} tensor writes rows that"
        " are one row, and not what it writes to two rows")

check_rows_written('fft_ifft2', 'fix')
