# A2a check_raw_saved: AssertionError: A2a: what a node that is gone has saved says nothing of it, torch 2.6.0
# contract: A2a
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A2a: what a node that is gone has saved says nothing of it"
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

import copy, pickle
def copied(one, copy=copy.copy):
    twin = copy(one)
    serial = getattr(one, "serial", None)
    if twin is not one and serial is not None and getattr(twin, "serial", None) is serial:
        twin.serial = -1
    return twin
def deep_copied(one):
    return copied(one, copy.deepcopy)
def pickled(one):
    return copied(one, lambda one: pickle.loads(pickle.dumps(one)))
def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
formats = {T.float32: "f", T.float64: "d", T.int64: "q", T.uint8: "B", T.bool: "?",
           T.complex64: "ff"}
import struct
def packed(dtype, number):
    parts = (number.real, number.imag) if dtype == T.complex64 else (number,)
    return struct.pack(formats[dtype], *parts)
def unpacked(dtype, held, place):
    parts = struct.unpack_from(formats[dtype], held, place)
    return complex(*parts) if len(parts) == 2 else parts[0]
def sent(tensor):
    rebuild, arguments = T.multiprocessing.reductions.reduce_tensor(tensor)
    return rebuild(*arguments)
def through_file(objects, saving, loading):
    import io
    file = io.BytesIO()
    T.save(objects, file, **saving)
    file.seek(0)
    return T.load(file, **loading)
def saved(objects):
    return through_file(objects, {}, {})
def pickled_together(objects):
    return pickle.loads(pickle.dumps(objects))
def saved_in_old_format(objects):
    return through_file(objects, {"_use_new_zipfile_serialization": False},
                        {"weights_only": False})
def saved_to_fakes(objects):
    module = __import__("torch._subclasses", fromlist=["FakeTensorMode"])
    with module.FakeTensorMode():
        try:
            return saved(objects)
        except AssertionError as error:  # what it says of a class that a mode does not know
            raise TypeError("no fakes") from error
def raw_saved_by(node):
    found = [getattr(node, name) for name in dir(node) if name.startswith("_raw_saved")]
    return [raw for one in found for raw in (one if isinstance(one, (tuple, list)) else [one])]
def check_raw_saved(end):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        leaf = T.ones(2).requires_grad_()
        result = leaf * leaf
        raws = raw_saved_by(result.grad_fn)
        if end == "run":
            result.sum().backward()
        del result
        taken = [leaf * leaf for _ in range(50)]  # the memory that was freed
    for raw in raws:
        try:
            said = raw.register_hooks(lambda saved: saved, lambda packed: packed)
        except RuntimeError as error:
            said = error
        assert "freed" in str(said), "A2a: what a node that is gone has saved says nothing of it"
    del taken

check_raw_saved('run')
