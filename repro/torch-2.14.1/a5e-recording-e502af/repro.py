# the thread no longer records what it recorded at the start (A5e), torch 2.14.1
# contract: A5e
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys
from contextlib import suppress
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^ +(?:assert recording\(\) == recording_at_start)\n(?: +[~^]+\n)?AssertionError"
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
def recording():
    keys = T._C._dispatch_tls_local_exclude_set()
    return T.is_grad_enabled(), T.is_inference_mode_enabled(), str(keys)
recording_at_start = recording()

t0 = T.ones(1)
t1 = t0.to(T.bool)
t2 = t1._neg_view()
k0 = FakeTensorMode()
with suppress(NotImplementedError), k0: t3 = t2.view(-1)
if True:  # the end: every name is dropped, and the collector runs
    del t0, t1, t2, k0
    gc.collect()
    gc.collect()
    for _ in range(5): gc.collect()
    assert recording() == recording_at_start
