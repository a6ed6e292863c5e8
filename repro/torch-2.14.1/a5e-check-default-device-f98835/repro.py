# A5e check_default_device: AssertionError: A5e: the default device was None, and cpu from within `with device` on; after that, and after its reset, it is ('cpu', 'meta'), torch 2.14.1
# contract: A5e
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A5e: the default device was None, and cpu from within `with device` on; after that, and after its reset, it is \('cpu', 'meta'\)"
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

def check_default_device(before, within):
    def device_now():
        return T.empty(0).device.type
    T.set_default_device(before)
    try:
        with T.device("meta"):
            T.set_default_device(within)
        found = device_now()
        T.set_default_device(None)
        found = found, device_now()
    except AssertionError:  # of a release
        found = "an error"
    T.set_default_device(None)
    assert found == (within or "cpu", "cpu"), (
        f"A5e: the default device was {before}, and {within} from within `with device` on; after"
        f" that, and after its reset, it is {found}")

check_default_device(None, 'cpu')
