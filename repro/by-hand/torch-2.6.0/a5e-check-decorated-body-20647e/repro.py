# A5e check_decorated_body: AssertionError: A5e: no_grad that decorates a coroutine makes True, not False, torch 2.6.0
# contract: A5e
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A5e: no_grad that decorates a coroutine makes True, not False"
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

modes_again = {"no_grad": (T.no_grad, T.is_grad_enabled),}
torch_modes_again = {
}
def body_of_coroutine(mode, state):
    @mode
    async def run():
        return state()
    try:
        run().send(None)
    except StopIteration as end:
        return end.value
decorated_bodies = {
                    "coroutine": body_of_coroutine,}
def check_decorated_body(name, kind):
    make, state = modes_again.get(name) or torch_modes_again[name]
    with make():
        expected = state()
    found = decorated_bodies[kind](make(), state)
    assert found == expected, f"A5e: {name} that decorates a {kind} makes {found}, not {expected}"

check_decorated_body('no_grad', 'coroutine')
