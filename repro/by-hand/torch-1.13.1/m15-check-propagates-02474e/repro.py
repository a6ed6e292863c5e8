# M15 check_propagates: AssertionError: M15: an error of an operation is not that of a fake, torch 1.13.0a0
# contract: M15
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: M15: an error of an operation is not that of a fake"
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
refused = (IndexError, RuntimeError, TypeError, ValueError)
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
def is_plain(tensor):
    return (type(tensor) in (T.Tensor, T.nn.Parameter) and tensor.layout == T.strided
            and not (tensor.is_nested or tensor.is_quantized or any(getattr(tensor, "names", ()))
                     or T._is_functional_tensor(tensor) or T._is_zerotensor(tensor)
                     or T._C._functorch.is_functorch_wrapped_tensor(tensor)))
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
linked = T.ones(2)
linked.grad = T.ones(2)
has_gradients = MetaConverter()(linked).grad is not None
def differing(found, expected):
    for (asked, links), (wanted, other_links) in zip(found, expected):
        wrong = [name for name, one, other in zip(questions, asked, wanted) if one != other]
        wrong += ["base"] * (links[0] != other_links[0])
        wrong += ["gradient"] * (has_gradients and links[1] != other_links[1])
        if wrong:
            return wrong
    return []
unknown_to_fakes = (NotImplementedError, RecursionError, *(
    getattr(T._subclasses.fake_tensor, name, NotImplementedError) for name in (
        "DataDependentOutputException", "DynamicOutputShapeException",
        "UnsupportedOperatorException", "UnsupportedFakeTensorException")))
def outcome_of(function, tensor):
    try:
        result = fields_of(function(tensor))
    except unknown_to_fakes:
        raise
    except refused:
        result = "error"
    return result, fields_of(tensor)
def check_propagates(function, tensor):
    if not is_plain(tensor):
        return
    fakes = [converted_by(MetaConverter(), tensor), fake_in(FakeTensorMode(), tensor)]
    before = fields_of(tensor)
    fakes = [fake for fake in fakes if not differing(fields_of(fake), before)]  # else M4 is broken
    expected = outcome_of(function, tensor)
    for fake in fakes:
        try:
            outcome = outcome_of(function, fake)
        except unknown_to_fakes:
            continue
        wrong = differing(outcome[1], expected[1])
        assert not wrong, f"M15: an operation leaves its fake another {', '.join(wrong)}"
        if "error" in (expected[0], outcome[0]):
            assert outcome[0] == expected[0], "M15: an error of an operation is not that of a fake"
            continue
        wrong = differing(outcome[0], expected[0])
        assert not wrong, f"M15: an operation gives a fake another {', '.join(wrong)}"

t0 = T.ones(1)
t1 = t0.expand(3, -1)
check_propagates(lambda a: a.detach().copy_(a), t1)
