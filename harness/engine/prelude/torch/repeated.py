"""What lines about repeated calls may call: in a mode, each call again keeps no memory (P5)."""

#: blocks_in_use [torch]: how many blocks of memory Python has, or malloc if Python uses that
import ctypes
class MallocInfo(ctypes.Structure):  # of mallinfo2(3); `bytes_used` is its uordblks
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "unused", "small", "mapped", "mapped_bytes", "largest", "small_bytes",
        "bytes_used", "bytes_free", "top_bytes")]
USUAL_BLOCK_BYTES = 48
def blocks_in_use():
    malloc_info = ctypes.CDLL(None).mallinfo2
    malloc_info.restype = MallocInfo
    return sys.getallocatedblocks() or malloc_info().bytes_used // USUAL_BLOCK_BYTES

#: deaf, in_python, check_steady [torch]: calls that are repeated in a mode keep no object (P5)
#> check_steady: collects checks
STEADY_CALLS, STEADY_ROUNDS = 200, 12
def deaf():
    module = __import__("torch.utils._python_dispatch", fromlist=["TorchDispatchMode"])
    class Deaf(module.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
            return None
    return Deaf()
def in_python():
    module = __import__("torch._dispatch.python", fromlist=["enable_python_dispatcher"])
    return module.enable_python_dispatcher()
def keeps_memory(mode, call):
    with mode():
        for _ in range(STEADY_ROUNDS):  # caches grow, and memory is cut up, by first calls
            before = blocks_in_use()
            for _ in range(STEADY_CALLS):
                try:
                    call()
                except (AttributeError, *refused):
                    pass  # a mode may give what is no tensor
            gc.collect()
            if blocks_in_use() - before < 0.9 * STEADY_CALLS:
                return False
    return True
def check_steady(mode, call):
    if in_hermetic() or not keeps_memory(mode, call):
        return
    any_does = keeps_memory(mode, lambda: T.ones(3, 4))
    what = "any operation" if any_does else called_by(call)
    raise AssertionError(f"P5: in {mode.__name__} each call of {what} keeps memory")
