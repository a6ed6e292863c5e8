# A10 check_allow_mutation: AssertionError: A10: under allow_mutation_on_saved_tensors, nested gives AssertionError, else [N.N, N.N], torch 2.14.1
# contract: A10
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A10: under allow_mutation_on_saved_tensors, nested gives AssertionError, else \[(?:N|\d+)\.(?:N|\d+), (?:N|\d+)\.(?:N|\d+)\]"
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

def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
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
def enter_refused(saved):
    try:
        with T.autograd.graph.allow_mutation_on_saved_tensors():
            pass
    except RuntimeError:
        pass
saved_writes = {"nested": enter_refused,
                }
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

check_allow_mutation('nested')
