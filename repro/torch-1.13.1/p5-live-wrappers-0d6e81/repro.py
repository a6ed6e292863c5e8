# 2 wrappers live on (P5), torch 1.13.0a0
# contract: P5
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^ +(?:assert live_wrappers\(\) == 0)\n(?: +[~^]+\n)?AssertionError"
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
FakeTensorMode = T._subclasses.FakeTensorMode
def count_wrappers():
    return sum(issubclass(type(one), (T.Tensor, T.UntypedStorage)) for one in gc.get_objects())
wrappers_before = count_wrappers()
def live_wrappers():
    if count_wrappers() > wrappers_before:
        trivial_backward()
        gc.collect()
    return count_wrappers() - wrappers_before
def trivial_backward():
    with T.inference_mode(False), T.enable_grad():
        T.ones(1).requires_grad_().sum().backward()
def converted_by(converter, tensor):
    try:
        fake = converter(tensor) if isinstance(tensor, T.Tensor) else None
    except AssertionError as error:  # torch asserts what it supports, and says nothing
        raise TypeError("no fake of such a tensor") from error
    if not isinstance(fake, T.Tensor):
        raise TypeError("no fake of such a tensor")
    return fake
def fake_in(mode, tensor, **keywords):
    return converted_by(lambda one: mode.from_tensor(one, **keywords), tensor)
def check_mode(mode, tensor):
    if in_hermetic():
        return
    gc.collect()  # finalizers, which may change the tensor, run now
    fake = fake_in(mode, tensor)
    with mode:
        inside = mode.from_tensor(tensor)
        made = T.ones(2)
        derived = made.view(-1).add(1)
    gc.collect()
    assert inside is fake and mode.from_tensor(tensor) is fake, "M3: a mode has two fakes"
    for one in (fake, made, derived):
        assert one.fake_mode is mode, "M7: a fake has another mode"
    assert (fake.device, made.device) == (tensor.device, T.device("cpu")), (
        "M4: a fake is on another device")

t0 = T.ones(1)
k0 = FakeTensorMode()
check_mode(k0, t0)
if True:  # the end: every name is dropped, and the collector runs
    del t0, k0
    gc.collect()
    for _ in range(5): gc.collect()
    assert live_wrappers() == 0
