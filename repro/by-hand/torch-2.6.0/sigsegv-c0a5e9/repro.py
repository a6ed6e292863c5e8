# SIGSEGV, torch 2.6.0
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys, weakref
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
import threading
SMALL_STACK_BYTES = 1 << 18
def on_small_stack(function, bytes_min=0):
    results, errors = [], []
    def work():
        try:
            results.append(function())
        except Exception as error:
            errors.append(error.with_traceback(None))
    former = threading.stack_size(max(SMALL_STACK_BYTES, bytes_min))
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(former)
    thread.join()
    if errors:
        raise errors.pop()
    return results.pop()
LONG_CHAIN, USUAL_STACK_BYTES = 100_000, 1 << 23
def link_by_rows(former):
    former[0].mul_(2)
    return former
graph_links = { "rows": link_by_rows,}
def freed_graph(link):
    with T.inference_mode(False), T.enable_grad():
        leaf = T.ones(2).requires_grad_()
        known, last = weakref.ref(leaf), leaf * 1
        for _ in range(LONG_CHAIN):
            last = link(last)
    del leaf, last
    return known
def check_long_graph(name):
    if in_hermetic():
        return
    known = on_small_stack(lambda: freed_graph(graph_links[name]), USUAL_STACK_BYTES)
    assert known() is None, f"P6: a graph by {name} is not freed"

check_long_graph('rows')
