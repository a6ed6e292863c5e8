# M2 check_shared: AssertionError: M2: the fakes do not share what the tensors share, torch 2.14.1
# contract: M2
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: M2: the fakes do not share what the tensors share"
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
MetaConverter = T._subclasses.meta_utils.MetaConverter
def bytes_of(tensor):
    places = [tensor.storage_offset()]
    for size, stride in zip(tensor.size(), tensor.stride()):
        places = [place + i * stride for place in places for i in range(min(size, 64))][:4096]
    width = tensor.element_size()
    return {place * width + i for place in places for i in range(width)}
def sharing_of(one, other):
    storages = [storage_of(two)._cdata for two in (one, other)]
    bases = [two if two._base is None else two._base for two in (one, other)]
    # By impls: a line may have a hermetic wrapper.
    return (storages[0] == storages[1], bytes_of(one) & bytes_of(other),
            bases[0]._cdata == bases[1]._cdata, one._cdata == other._cdata,
            [storage_of(base)._cdata == storage for base, storage in zip(bases, storages)])
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
def check_shared(converter, one, other):
    if not (is_plain(one) and is_plain(other)):
        return
    fresh = MetaConverter()
    fakes = [converted_by(fresh, tensor) for tensor in (one, other)]
    assert sharing_of(*fakes) == sharing_of(one, other), (
        "M2: the fakes do not share what the tensors share")

v0 = MetaConverter()
t0 = T.ones(1)
t1 = t0.view(-1)
s0 = T.UntypedStorage(1)
t0.set_(s0)
check_shared(v0, t0, t1)
