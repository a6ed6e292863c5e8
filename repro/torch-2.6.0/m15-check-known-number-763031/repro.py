# M15 check_known_number: AssertionError: M15: a fake that was set to N has the number N, torch 2.6.0
# contract: M15
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: M15: a fake that was set to (?:N|\d+) has the number (?:N|\d+)"
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

storage_of = getattr(T.Tensor, "untyped_storage", None) or (lambda one: one.storage().untyped())
refused = (IndexError, RuntimeError, TypeError, ValueError)
FakeTensorMode = T._subclasses.FakeTensorMode
def set_data_to(fake, number):
    fake.data = T.tensor(number)
def check_known_number():
    for write in (lambda fake, number: fake.fill_(number), set_data_to,
                  lambda fake, number: fake.set_(T.tensor(number)),
                  lambda fake, number: storage_of(fake).copy_(storage_of(T.tensor(number)))):
        with FakeTensorMode():
            fake = T.tensor(3)
            write(fake, 9)
            try:
                number = fake.item()
            except refused:
                continue
        assert number == 9, f"M15: a fake that was set to 9 has the number {number}"

check_known_number()
