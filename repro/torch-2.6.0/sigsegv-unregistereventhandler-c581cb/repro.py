# SIGSEGV in unregisterEventHandler, torch 2.6.0
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
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

import datetime
def check_monitor(*acts):
    seen, expected, is_registered = [], 0, True
    handler = T.monitor.register_event_handler(seen.append)
    for act in (*acts, "unregister"):
        if act == "log":
            T.monitor.log_event(T.monitor.Event("an event", datetime.datetime(2020, 1, 1), {}))
            expected += is_registered
        elif act == "unregister again" or is_registered:
            T.monitor.unregister_event_handler(handler)
            is_registered = False
    assert len(seen) == expected, f"P8: after {acts}, a handler has got {len(seen)} events"

check_monitor('unregister', 'unregister again', 'log')
