# M14 check_mode_refuses: AssertionError: M14: real inside: an error changes a tensor, torch 2.6.0
# contract: M14
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: M14: real inside: an error changes a tensor"
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

storage_of = getattr(T.Tensor, "untyped_storage", None) or T.Tensor._storage
MetaConverter = T._subclasses.meta_utils.MetaConverter
FakeTensorMode = T._subclasses.FakeTensorMode
def is_leaf_of(tensor):
    try:
        return tensor.is_leaf
    except RuntimeError:  # a view that a custom Function returned, and that was written since
        return False
all_questions = {
    "size": lambda one: tuple(one.size()), "stride": lambda one: one.stride(),
    "offset": lambda one: one.storage_offset(), "type": lambda one: one.dtype,
    "bytes": lambda one: storage_of(one).nbytes(),
    "resizable": lambda one: storage_of(one).resizable(),
    "requires_grad": lambda one: one.requires_grad, "leaf": is_leaf_of,
    "conjugate bit": lambda one: one.is_conj(), "negative bit": lambda one: one.is_neg(),
    "version": lambda one: one._version, "view": lambda one: one._is_view()}
def fields_of(tensor):
    found, rows, place = [tensor], [], {tensor._cdata: 0}
    for one in found:
        links = []
        for other in (one._base, one.grad):
            if other is not None and other._cdata not in place:
                place[other._cdata] = len(found)
                found.append(other)
            links.append(None if other is None else place[other._cdata])
        rows.append(([ask(one) for ask in questions.values()], links))
    return rows
def known_tensors():
    leaf, written = T.ones(2, 3).requires_grad_(), T.ones(2)
    written.add_(1)
    return {
        "size": T.ones(2, 3), "stride": T.ones(2, 3).t(), "offset": T.ones(2, 3)[1],
        "type": T.ones(1, dtype=T.int64), "bytes": T.ones(2, 3)[1], "view": leaf.view(-1),
        "resizable": T.frombuffer(bytearray(8), dtype=T.uint8), "requires_grad": leaf,
        "leaf": leaf.mul(2), "conjugate bit": T.ones(1, dtype=T.complex64).conj(),
        "negative bit": T.ones(1)._neg_view(), "version": written}
def is_promised(name, tensor):
    ask = all_questions[name]
    try:
        return ask(MetaConverter()(tensor)) == ask(tensor)
    except AttributeError:  # before 2.0 a storage does not say whether it can be resized
        return False
questions = {name: ask for name, ask in all_questions.items()
             if is_promised(name, known_tensors()[name]) and is_promised(name, T.ones(2))}
def entered_mode():
    if hasattr(T._C, "_get_torch_dispatch_mode"):  # before 2.0 a thread has one mode
        return T._C._get_torch_dispatch_mode()
    return T.utils._python_dispatch._get_current_dispatch_mode()
def mixes_of(mode, real, fake, other):
    def add_inside(one):
        with mode:
            one.add_(one)
    return {"fake and real": lambda: fake.add(real), "real and fake": lambda: real.add(fake),
            "two modes": lambda: fake.add_(other), "a copy": lambda: real.copy_(fake),
            "a storage": lambda: real.set_(storage_of(fake)),
            "data": lambda: setattr(real, "data", fake),
            "a gradient": lambda: setattr(fake, "grad", real),
            "real inside": lambda: add_inside(real), "other inside": lambda: add_inside(other),
            "a list": lambda: fake.tolist(), "an item": lambda: fake[0].item(),
            "a truth": lambda: bool(fake[0])}
def new_mixes():
    mode, real = FakeTensorMode(), T.ones(2)
    return mixes_of(mode, real, mode.from_tensor(real), FakeTensorMode().from_tensor(real))
def is_allowed(name):
    try:
        new_mixes()[name]()
    except Exception:  # 1.13 raises no other class
        return False
    return True
mixes_of_release = tuple(name for name in new_mixes() if is_allowed(name))
def check_mode_refuses(mode, tensor):
    def seen(tensors):
        return [fields_of(one) for one in tensors], tensors[0].tolist()
    before = entered_mode()
    for name in [one for one in new_mixes() if one not in mixes_of_release]:
        real, other = T.ones(2), FakeTensorMode().from_tensor(T.ones(2))
        tensors = [real, mode.from_tensor(real), other]
        had = seen(tensors)
        try:
            mixes_of(mode, *tensors)[name]()
        except Exception:
            assert entered_mode() is before, f"M14: {name}: an error leaves a mode entered"
            assert seen(tensors) == had, f"M14: {name}: an error changes a tensor"
            continue
        assert False, f"M7: {name} is not refused"

t0 = T.ones(1)
k0 = FakeTensorMode()
check_mode_refuses(k0, t0)
