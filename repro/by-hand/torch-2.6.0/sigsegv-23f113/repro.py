# SIGSEGV, torch 2.6.0
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import gc, os, subprocess, sys, weakref
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^killed by SIGSEGV$"
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

class Slotted(T.UntypedStorage):
    __slots__ = ("tag", "box", "me")
class TensorSub(T.Tensor):
    if hasattr(T, "_C"):
        __torch_function__ = T._C._disabled_torch_function_impl
class TensorSlotted(TensorSub):
    __slots__ = ("tag", "box", "me")
def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
class Sentinel:
    pass
import threading
SMALL_STACK_BYTES = 1 << 18
def on_small_stack(function, bytes_min=0):
    results, errors = [], []
    def work():
        try:
            results.append(function())
        except Exception as error:
            errors.append(error.with_traceback(None))
    former = threading.stack_size(max(SMALL_STACK_BYTES, bytes_min))
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(former)
    thread.join()
    if errors:
        raise errors.pop()
    return results.pop()
class Dying(T.Tensor):
    def __del__(self):
        for run in self.__dict__.pop("runs", ()):
            run()
def link_by_slot(former):
    one = TensorSlotted(1)
    one.tag = former
    return one
def link_by_attribute(former):
    one = T.ones(1)
    one.note = former
    return one
def link_by_storage(former):
    one = T.ones(1)
    one.untyped_storage().note = former
    return one
def link_by_storage_slot(former):
    storage = Slotted(4)
    storage.tag = former
    return T.empty(0).set_(storage, 0, (1,), (1,))
def link_by_hook(former):
    one = T.ones(1).requires_grad_()
    one.register_hook(lambda gradient, former=former: gradient)
    return one
class Lender(bytearray):
    pass
def link_by_buffer(former):
    lender = Lender(4)
    lender.former = former
    return T.frombuffer(lender, dtype=T.float32)
def link_by_death(former):
    one = Dying(1)
    one.former, one.runs = former, [int]
    return one
deep_links = { "slot": link_by_slot, "attribute": link_by_attribute,
    "storage": link_by_storage, "storage_slot": link_by_storage_slot, "hook": link_by_hook, "buffer": link_by_buffer,
    "death": link_by_death, "graph": lambda former: former * T.ones(1).requires_grad_(),
}
def link_by_rows(former):
    former[0].mul_(2)
    return former
long_links = {**{name: deep_links[name] for name in (
    "slot", "attribute", "hook", "buffer", "death", "graph")}, "rows": link_by_rows}
if hasattr(T.Tensor, "untyped_storage"):
    long_links |= {name: deep_links[name] for name in ("storage", "storage_slot")}
LONG_CHAIN, USUAL_STACK_BYTES = 100_000, 1 << 23
def freed_chain(link):
    with T.inference_mode(False), T.enable_grad():
        chain = T.ones(2).requires_grad_() * 1
        chain.first = Sentinel()
        first = weakref.ref(chain.first)
        for _ in range(LONG_CHAIN):
            chain = link(chain)
    del chain
    gc.collect()
    return first
def check_long_chain(name):
    if in_hermetic() or name not in long_links:
        return
    first = on_small_stack(lambda: freed_chain(long_links[name]), USUAL_STACK_BYTES)
    assert first() is None, f"P6: a chain by {name} is not freed"

check_long_chain('slot')
