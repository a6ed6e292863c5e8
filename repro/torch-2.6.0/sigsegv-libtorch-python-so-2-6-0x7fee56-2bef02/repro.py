# SIGSEGV in handle_torch_function_no_python_arg_parser, torch 2.6.0
# subject: torch
# sanitizer: none
# run: PYTHONMALLOC=debug MALLOC_PERTURB_=165 GLIBC_TUNABLES=glibc.malloc.tcache_count=0 python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^killed by SIGSEGV$"
    # Freed memory must not look alive.
    os.environ.update(
        PYTHONMALLOC="debug", MALLOC_PERTURB_="165", GLIBC_TUNABLES="glibc.malloc.tcache_count=0")
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

class TensorOverriding(T.Tensor):
    pass
class TensorDispatching(T.Tensor):
    @staticmethod
    def __new__(cls, inner):
        one = T.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype)
        one.inner = inner
        return one
    def __init__(self, inner):
        pass
    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), keywords=None):
        inner = [one.inner if type(one) is cls else one for one in arguments]
        return function(*inner, **(keywords or {}))
class TensorMute(TensorDispatching):
    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), keywords=None):
        return None

t0 = TensorOverriding(1)
t1 = TensorMute(t0)
t1.copy_(t0)
t1.copy_(t0)
