# P5 check_future_freed: AssertionError: P5: a future that was freed (pending) keeps a callback of add_done_callback(), torch 2.6.0
# contract: P5
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys, weakref
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: P5: a future that was freed \(pending\) keeps a callback of add_done_callback\(\)"
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

collect_all = gc.collect
future_ends = {"pending": lambda future: None, }
def check_future_freed(call, end):
    future = T.futures.Future()
    def callback(done):
        return 1
    reference = weakref.ref(callback)
    getattr(future, call)(callback)
    future_ends[end](future)
    del future, callback
    collect_all()
    assert reference() is None, f"P5: a future that was freed ({end}) keeps a callback of {call}()"

check_future_freed('add_done_callback', 'pending')
