# P8 check_safe_globals: AssertionError: P8: a scope of safe_globals leaves other globals, torch 2.14.1
# contract: P8
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: P8: a scope of safe_globals leaves other globals"
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
class SafeOne:
    pass
class SafeOther:
    pass
def check_safe_globals(*acts):
    if in_hermetic():
        return
    T.serialization.clear_safe_globals()
    try:
        for act in acts:
            if act == "add":
                T.serialization.add_safe_globals([SafeOne])
            before = T.serialization.get_safe_globals()
            with T.serialization.safe_globals([SafeOther] if act == "other" else [SafeOne]):
                if act == "nested":
                    with T.serialization.safe_globals([SafeOne]):
                        pass
                    assert set(T.serialization.get_safe_globals()) == {*before, SafeOne}, (
                        "P8: a scope of safe_globals leaves other globals")
            assert set(T.serialization.get_safe_globals()) == set(before), (
                "P8: a scope of safe_globals leaves other globals")
    finally:
        T.serialization.clear_safe_globals()

check_safe_globals('add', 'plain')
