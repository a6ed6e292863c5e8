# A10 check_scope_state: AssertionError: A10: a scope of anomaly leaves another state, torch 2.14.1
# contract: A10
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A10: a scope of anomaly leaves another state"
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
scope_makers = {
    "anomaly": lambda: T.autograd.detect_anomaly(),
    }
def scope_state():
    with_nan = getattr(T, "is_anomaly_check_nan_enabled", lambda: None)
    return (T.is_grad_enabled(), T.is_inference_mode_enabled(), T.is_anomaly_enabled(), with_nan(),
            T.is_autocast_cpu_enabled(), str(T.get_autocast_cpu_dtype()), T.initial_seed(),
            str(T.empty(0).device))
def check_scope_state(name, *uses):
    if in_hermetic():
        return
    was_enabled, had_anomaly = T.is_grad_enabled(), T.is_anomaly_enabled()
    try:
        scope = scope_makers[name]()
        for use in uses:
            if use == "change":
                T.set_grad_enabled(not T.is_grad_enabled())
                T.autograd.set_detect_anomaly(not T.is_anomaly_enabled())
                continue
            before = scope_state()
            try:
                with scope:
                    if use == "error":
                        raise ValueError("an error")
            except (ValueError, AttributeError, RuntimeError, TypeError):
                pass  # some may be entered once
            assert scope_state() == before, f"A10: a scope of {name} leaves another state"
    finally:
        T.set_grad_enabled(was_enabled)
        T.autograd.set_detect_anomaly(had_anomaly)

check_scope_state('anomaly', 'change', 'plain', 'plain')
