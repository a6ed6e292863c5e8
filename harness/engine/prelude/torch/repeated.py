"""What lines about repeated calls may call: in a mode, each call again keeps no memory (P5)."""

#: deaf, in_python, check_steady [torch]: calls that are repeated in a mode keep no object (P5)
#> check_steady: collects checks
STEADY_CALLS, STEADY_ROUNDS = 200, 4
def deaf():
    module = __import__("torch.utils._python_dispatch", fromlist=["TorchDispatchMode"])
    class Deaf(module.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
            return None
    return Deaf()
def in_python():
    module = __import__("torch._dispatch.python", fromlist=["enable_python_dispatcher"])
    return module.enable_python_dispatcher()
def kept_blocks(mode, call):
    kept = []
    with mode():
        for _ in range(STEADY_ROUNDS):
            before = sys.getallocatedblocks()
            for _ in range(STEADY_CALLS):
                try:
                    call()
                except (AttributeError, *refused):
                    pass  # a mode may give what is no tensor
            gc.collect()
            kept.append(sys.getallocatedblocks() - before)
    return min(kept[1:])  # caches grow with first calls
def check_steady(mode, call):
    if in_hermetic() or kept_blocks(mode, call) < STEADY_CALLS / 2:
        return
    plain = kept_blocks(mode, lambda: T.ones(3, 4))
    what = "any operation" if plain >= STEADY_CALLS / 2 else called_by(call)
    raise AssertionError(f"P5: in {mode.__name__} each call of {what} keeps memory")
