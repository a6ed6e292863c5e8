# SIGABRT in libstdc++.so.6+0xaad11: instance allocation failed: new instance has no pybind11-registered base types, torch 2.14.1
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^killed by SIGABRT$"
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

import sys
def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
import inspect
import copy
import pickle
def within_depth(call, most=18):
    frame, depth, before = inspect.currentframe(), 0, sys.getrecursionlimit()
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    sys.setrecursionlimit(depth + most)  # else what calls itself twice at each depth takes ages
    try:
        return call()
    finally:
        sys.setrecursionlimit(before)
def ended_future():
    future = T.futures.Future()
    future.set_result(1)
    return future
copied_objects = {
    "future": (ended_future, lambda one: one.value()),
    }
def sent_copy(one, protocol):
    function, arguments = T.multiprocessing.reductions.reduce_tensor(one)
    return function(*arguments)
def shallow_copy(one, protocol):
    if isinstance(one, type(T.ops.aten.add)):
        return within_depth(lambda: copy.copy(one))
    return copy.copy(one)
copiers = {"copy": shallow_copy,
           "pickle": lambda one, protocol: pickle.loads(pickle.dumps(one, protocol)),
           "sent": sent_copy}
def check_copies(kind, copier, protocol):
    if in_hermetic():
        return
    make, content_of = copied_objects[kind]
    try:
        one = make()
    except (AttributeError, RuntimeError, TypeError):
        return
    if copier == "sent" and not isinstance(one, T.Tensor):
        return
    raised = ""
    try:
        found = copiers[copier](one, protocol)
    except (TypeError, pickle.PicklingError):
        return
    except Exception as error:
        raised = type(error).__name__
        if "INTERNAL ASSERT" in str(error):
            raised = "an internal assert"
        elif raised in ("RuntimeError", "NotImplementedError"):
            return
    assert not raised, f"P8: a copy of a {kind} by {copier} raises {raised}"
    try:
        content = content_of(found)
    except RuntimeError:
        content = "an error"
    assert content == content_of(one), f"P8: a copy of a {kind} by {copier} is not what it was"

check_copies('future', 'pickle', 0)
