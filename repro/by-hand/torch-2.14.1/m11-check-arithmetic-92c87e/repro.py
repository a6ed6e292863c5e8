# M11 check_arithmetic: AssertionError: M11: an expression has another value, torch 2.14.1
# contract: M11
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: M11: an expression has another value"
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

size_steps = {
    "nothing": lambda x, y: (x, y), "divided": lambda x, y: (x // y, y), "by_minus_two": lambda x, y: (x // -2, y),
}
def sized(*names):
    def function(x, y):
        for name in names:
            x, y = size_steps[name](x, y)
        return x
    return function
from torch.fx.experimental.symbolic_shapes import ShapeEnv
def size_of(env, hint, kind):
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic
    env.inputs = getattr(env, "inputs", 0) + 1
    source = ConstantSource(f"x{env.inputs}")
    symbol = env.create_symbol(hint, source, dynamic_dim=getattr(DimDynamic, kind.upper()))
    return env.create_symintnode(symbol, hint=hint, source=source)
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

check_sound(sized('divided', 'nothing', 'nothing', 'by_minus_two'), 3, 4)
