# M15 check_fake_result: AssertionError: M15: flip gives a fake the layout [((N, N), (N, N), N, torch.float64)], a tensor [((N, N), (N, N), N, torch.float64)], torch 1.13.1
# contract: M15
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: M15: flip gives a fake the layout \[\(\((?:N|\d+), (?:N|\d+)\), \((?:N|\d+), (?:N|\d+)\), (?:N|\d+), torch\.float64\)\], a tensor \[\(\((?:N|\d+), (?:N|\d+)\), \((?:N|\d+), (?:N|\d+)\), (?:N|\d+), torch\.float64\)\]"
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

FakeTensorMode = T._subclasses.FakeTensorMode
linked = T.ones(2)
linked.grad = T.ones(2)
unknown_to_fakes = (NotImplementedError, RecursionError, *(
    getattr(T._subclasses.fake_tensor, name, NotImplementedError) for name in (
        "DataDependentOutputException", "DynamicOutputShapeException",
        "UnsupportedOperatorException", "UnsupportedFakeTensorException")))
def layouts_of(result):
    results = result if isinstance(result, (tuple, list)) else [result]
    return [(tuple(one.size()), one.stride(), one.storage_offset(), one.dtype)
            for one in results if isinstance(one, T.Tensor)]
def check_fake_result(function, view):
    with T.no_grad():
        try:
            expected = layouts_of(function(view(example())))
            fake = FakeTensorMode().from_tensor(view(example()))
            with fake.fake_mode:
                found = layouts_of(function(fake))
        except unknown_to_fakes:
            return
    assert found == expected, (
        f"M15: {called_by(function)} gives a fake the layout {found}, a tensor {expected}")
def called_by(function):
    if function.__name__ != "<lambda>":
        return function.__name__
    return " and ".join(name for name in function.__code__.co_names if name != "T")
def example():
    return T.tensor([[0.3, -0.7, 1.1], [-1.3, 0.9, 0.4]], dtype=T.float64)

check_fake_result(lambda a: a.flip(0), lambda t: t[:, ::2].repeat(1, 2)[:, 1:])
