# SIGSEGV in operator, torch 2.6.0
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^killed by SIGSEGV$"
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
import itertools
library_numbers = itertools.count()
class LibraryOfOne:
    def __init__(self):
        self.namespace = f"slotfuzz_{next(library_numbers)}"
        self.in_call = lambda: None
        self.register(2)
        self.look_up()
    def register(self, factor):
        self.library, self.factor = None, factor
        self.library = T.library.Library(self.namespace, "DEF")
        self.library.define("multiply(Tensor x) -> Tensor")
        def implementation(x):
            self.in_call()
            return x * factor
        self.library.impl("multiply", implementation, "CPU")
    def look_up(self):
        self.operator = getattr(T.ops, self.namespace).multiply
    def free(self):
        self.library = self.factor = None
        gc.collect()
    def free_in_call(self):
        self.in_call = self.free
        self.call()
        self.in_call = lambda: None
    def call(self, name=None):
        factor = self.factor
        called = getattr(self.operator, name) if name else self.operator
        found = called(T.ones(1)).tolist()
        assert found == [factor], (
            "P8: an operator gives a result that is not what its library's implementation gives")
library_acts = {
    "call": LibraryOfOne.call, "free": LibraryOfOne.free,
    "free in call": LibraryOfOne.free_in_call,
    }
def check_library(*acts):
    if in_hermetic():
        return
    one = LibraryOfOne()
    for act in acts:
        try:
            library_acts[act](one)
        except (RuntimeError, AttributeError):
            if one.factor == 2:
                raise

check_library('free in call', 'call', 'call')
