"""What calls give, as text: a line of Python each, and behind an arrow its result or error.

The lines of a text share their names and nothing with the program.
"""

#: parsed_calls: each line of a text, with the code of its call and of what it gives
import functools
@functools.lru_cache(maxsize=None)
def parsed_calls(text):
    rows = []
    for line in filter(None, map(str.strip, text.splitlines())):
        call, _, result = line.partition(" -> ")
        try:
            code = compile(call, call, "eval")
        except SyntaxError:
            code = compile(call, call, "exec")
        rows.append((line, code, compile(result, line, "eval") if result else None))
    return rows

#: class_raised [slotcore]: the class of the error that a call raises, or None
def class_raised(function, *given):
    try:
        function(*given)
    except Exception as error:
        return type(error)
    return None

#: assert_calls [slotcore]: each call gives what its line says, or raises an error of that class
import contextlib, slotcore_c10
def outcome_of_call(code, names):
    try:
        return "", eval(code, names)
    except Exception as error:
        return repr(error), type(error)
class Unless(contextlib.suppress, contextlib.ContextDecorator):
    pass
def assert_calls(number, text):
    if in_hermetic():  # each look at an object gives another wrapper
        return
    names = {"T": T, "gc": gc, "weakref": weakref, "Sub": Sub, "TensorSub": TensorSub,
             "TensorSlotted": TensorSlotted, "KeepingSub": KeepingSub, "Legacy": Legacy, "fn": fn,
             "fn_setup": fn_setup, "c10": slotcore_c10, "raised": class_raised, "unless": Unless}
    # Functions of `t`, as a text whose parts a semicolon ends.
    names["uses"] = lambda text, given="t": [
        eval(f"lambda {given}: {one}", names) for one in text.split("; ")]
    try:
        for line, code, result in parsed_calls(text):
            error, found = outcome_of_call(code, names)
            wrong = error
            if result is not None:
                expected = eval(result, names)
                # An error with its message is compared as such.
                said = error if isinstance(expected, Exception) else repr(found)
                wrong = said != repr(expected)
            assert not wrong, f"{number}: {line}; it gives {error or repr(found)}"
    finally:
        names.clear()

#: calls_of_bytes: a storage as a sequence of bytes
calls_of_bytes = """
s = T.UntypedStorage([1, 2, 3, 250])
len(s), s.nbytes(), s.size(), s.resizable() -> 4, 4, 4, True
s.tolist() -> [1, 2, 3, 250]
list(s) -> [1, 2, 3, 250]
[s[i] for i in (0, 3, -1, -4)] -> [1, 250, 250, 1]
s[4] -> IndexError
s[-5] -> IndexError
s[1 << 80] -> IndexError
s['x'] -> TypeError
s[1.0] -> TypeError
s[0] = 9
s[3] = 255
s.tolist() -> [9, 2, 3, 255]
s[3] = 0
s[-1] = 1 -> RuntimeError
s[4] = 1 -> RuntimeError
s[1 << 80] = 1 -> RuntimeError
s[0] = 256 -> RuntimeError
s[0] = -1 -> RuntimeError
s[0] = 1 << 80 -> RuntimeError
s[0] = 'x' -> TypeError
s['x'] = 1 -> TypeError
del s[0] -> TypeError
s[::2] = 1 -> RuntimeError
s[0:2] = 256 -> RuntimeError
s.tolist() -> [9, 2, 3, 0]
s[1:3] = 7
s[3:1] = 8
s[4:] = 8
s.tolist() -> [9, 7, 7, 0]
s[-1:] = 5
s[:] = 6
s.tolist() -> [6, 6, 6, 6]
w = T.UntypedStorage(9)
class Shrinks: __index__ = lambda self: w.resize_(1) and 5
w[0:9] = Shrinks()
w.tolist() -> [5]
w[0] = Shrinks()
w.tolist() -> [5]
class Empties: __index__ = lambda self: (w.resize_(0), 0)[1]
len(w.resize_(64)), w.__setitem__(slice(Empties(), None), 7), len(w) -> 64, None, 0
len(w.resize_(64)), w.__setitem__(slice(0, Empties()), 7), len(w) -> 64, None, 0
len(w.resize_(64)), w[Empties():].nbytes(), len(w) -> 64, 0, 0
len(w.resize_(64)), len(w.resize_(Empties())), len(w.resize_(9)) -> 64, 0, 9
s.fill_(3) is s -> True
s.tolist() -> [3, 3, 3, 3]
s.fill_(256) -> RuntimeError
s.fill_('x') -> TypeError
s.tolist() -> [3, 3, 3, 3]
s.copy_(T.UntypedStorage([1, 2, 3, 4])) is s -> True
s.copy_(s).tolist() -> [1, 2, 3, 4]
s.copy_(T.UntypedStorage(3)) -> RuntimeError
s.copy_(T.UntypedStorage(5)) -> RuntimeError
s.copy_(3) -> TypeError
s.copy_(T.ones(1)) -> TypeError
c = s.clone()
c.tolist(), type(c) is T.UntypedStorage, c is s -> [1, 2, 3, 4], True, False
c.fill_(7).tolist(), s.tolist() -> [7, 7, 7, 7], [1, 2, 3, 4]
class Own(T.UntypedStorage): pass
type(Own(3)) is Own, Own(3).nbytes(), isinstance(Own(1), T.StorageBase) -> True, 3, True
type(Own(3).clone()) is Own, type(Own(3)[1:]) is Own -> True, True
T.UntypedStorage(0).clone().nbytes(), T.UntypedStorage(0).fill_(1).tolist() -> 0, []
T.UntypedStorage(0).copy_(T.UntypedStorage(0)).tolist() -> []
s.data_ptr() != 0, c.data_ptr() != s.data_ptr() -> True, True
"""

#: calls_of_sizes: sizes of storages, what they are made from, and where
calls_of_sizes = """
T.UntypedStorage().nbytes(), T.UntypedStorage(3).tolist() -> 0, [0, 0, 0]
T.UntypedStorage(size=2).nbytes(), T.UntypedStorage(True).nbytes() -> 2, 1
T.UntypedStorage((1, 2)).tolist(), T.UntypedStorage([]).tolist() -> [1, 2], []
T.UntypedStorage(-1) -> RuntimeError
T.UntypedStorage(1 << 50) -> RuntimeError
T.UntypedStorage(1 << 80) -> RuntimeError
T.UntypedStorage([256]) -> RuntimeError
T.UntypedStorage([-1]) -> RuntimeError
T.UntypedStorage(['x']) -> TypeError
T.UntypedStorage('ab') -> TypeError
T.UntypedStorage(1.5) -> TypeError
T.UntypedStorage(2, 'cpu') -> TypeError
T.UntypedStorage(2, other=3) -> TypeError
T.UntypedStorage(2, device='nowhere') -> RuntimeError
T.UntypedStorage(2, device=3) -> TypeError
T.StorageBase(1) -> TypeError
s = T.UntypedStorage([1, 2, 3])
str(s.device), s.device is T.device('cpu') is T.ones(1).device -> 'cpu', True
s.resize_(5) is s -> True
s.tolist(), s.resize_(2).tolist(), s.resize_(4).tolist() -> [1, 2, 3, 0, 0], [1, 2], [1, 2, 0, 0]
s.resize_(-1) -> RuntimeError
s.resize_(1 << 50) -> RuntimeError
s.resize_(1 << 80) -> RuntimeError
s.resize_('x') -> TypeError
s.tolist(), s.resize_(0).data_ptr(), s.nbytes() -> [1, 2, 0, 0], 0, 0
s.resize_(2).tolist(), s.data_ptr() != 0 -> [0, 0], True
s.copy_(T.UntypedStorage([8, 9])).tolist() -> [8, 9]
"""

#: calls_of_slices: a slice of a storage is one over the same bytes, which stay
calls_of_slices = """
s = T.UntypedStorage([1, 2, 3, 4])
p, q, r = s[1:3], s[-1:], s[2:2]
p.tolist(), q.tolist(), r.tolist(), s[:].tolist() -> [2, 3], [4], [], [1, 2, 3, 4]
s[:2].tolist(), s[3:1].tolist(), s[9:].tolist(), s[-9:1].tolist() -> [1, 2], [], [], [1]
p.data_ptr() - s.data_ptr(), q.data_ptr() - s.data_ptr() -> 1, 3
p.resizable(), s[:].resizable(), s.resizable() -> False, False, True
type(p) is T.UntypedStorage, p is s, p._cdata == s._cdata -> True, False, False
p.resize_(1) -> RuntimeError
s[:].resize_(9) -> RuntimeError
s[::2] -> RuntimeError
s[::-1] -> RuntimeError
s[::0] -> ValueError
s['x':] -> TypeError
p[0] = 8
p[1:][0], s.tolist() -> 3, [1, 8, 3, 4]
s[2] = 9
p.tolist(), p[1:].tolist() -> [8, 9], [9]
s.copy_(s.clone()).tolist(), p.copy_(s[2:]).tolist() -> [1, 8, 9, 4], [9, 4]
s.tolist(), s[1:].copy_(s[:3]).tolist(), s.tolist() -> [1, 9, 4, 4], [1, 9, 4], [1, 1, 9, 4]
s.resize_(9).tolist() -> [1, 1, 9, 4, 0, 0, 0, 0, 0]
s[0] = 7
p.tolist(), q.tolist() -> [1, 9], [4]
del s
p.fill_(6).tolist(), q.tolist(), r.nbytes() -> [6, 6], [4], 0
"""

#: calls_of_buffers: exported bytes, and the bytes of other objects
calls_of_buffers = """
s = T.UntypedStorage([1, 2, 3])
v = memoryview(s)
v.readonly, v.format, v.itemsize, v.ndim, v.shape -> False, 'B', 1, 1, (3,)
v.obj is s, v.nbytes, v.contiguous, v.tolist() -> True, 3, True, [1, 2, 3]
v[1] = 9
s.tolist() -> [1, 9, 3]
s.resize_(9) -> BufferError
w = memoryview(s)
v.release()
s.resize_(9) -> BufferError
s.nbytes(), w.tolist() -> 3, [1, 9, 3]
w.release()
s.resize_(4).tolist() -> [1, 9, 3, 0]
with memoryview(s[1:]) as v: v[0] = 5
s.tolist() -> [1, 5, 3, 0]
memoryview(T.UntypedStorage(0)).nbytes, bytes(T.UntypedStorage(0)) -> 0, b''
b = bytearray(b'abcdef')
t = T.frombuffer(b, dtype=T.uint8, count=2, offset=1)
t.tolist(), t.untyped_storage().tolist(), t.storage_offset() -> [98, 99], [98, 99], 0
t.untyped_storage().resizable() -> False
t.resize_(9) -> RuntimeError
t.untyped_storage()[0] = 65
b -> bytearray(b'aAcdef')
b.append(1) -> BufferError
T.frombuffer(b, dtype=T.uint8, offset=4).tolist() -> [101, 102]
T.frombuffer(b, dtype=T.uint8, count=6).numel() -> 6
T.frombuffer(b, dtype=T.uint8, count=7) -> ValueError
T.frombuffer(b, dtype=T.uint8, count=6, offset=1) -> ValueError
T.frombuffer(b, dtype=T.uint8, count=0) -> ValueError
T.frombuffer(b, dtype=T.uint8, offset=6) -> ValueError
T.frombuffer(b, dtype=T.uint8, offset=7) -> ValueError
T.frombuffer(b, dtype=T.uint8, offset=-1) -> ValueError
T.frombuffer(b, dtype=T.float32) -> ValueError
T.frombuffer(b, dtype=T.float32, count=1).numel() -> 1
T.frombuffer(b, dtype=3) -> TypeError
T.frombuffer(b) -> TypeError
T.frombuffer(b'abc', dtype=T.uint8) -> BufferError
T.frombuffer(3, dtype=T.uint8) -> TypeError
del t
b.append(1)
len(b) -> 7
"""

#: calls_of_meta_storages: a storage on meta has a size and no bytes (M7)
calls_of_meta_storages = """
s = T.UntypedStorage(5, device='meta')
s.nbytes(), len(s), s.data_ptr(), str(s.device), s.resizable() -> 5, 5, 0, 'meta', True
s[0] -> NotImplementedError
s[5] -> IndexError
list(s) -> NotImplementedError
s.tolist() -> NotImplementedError
memoryview(s) -> BufferError
T.UntypedStorage(5).copy_(s) -> NotImplementedError
T.UntypedStorage([1], device='meta') -> NotImplementedError
s[0] = 1
s[1:] = 1
s[5] = 1 -> RuntimeError
s.fill_(1) is s, s.copy_(T.UntypedStorage(5)) is s -> True, True
s.fill_(256) -> RuntimeError
s.copy_(T.UntypedStorage(4)) -> RuntimeError
s.clone().nbytes(), str(s.clone().device) -> 5, 'meta'
s[1:3].nbytes(), str(s[1:3].device), s[1:3].resizable() -> 2, 'meta', False
s.resize_(9).nbytes(), s.data_ptr() -> 9, 0
s.resize_(-1) -> RuntimeError
"""

#: calls_of_handles: weak references of C++, and what the core says of its counts
calls_of_handles = """
s = T.UntypedStorage(4)
h = s._weak_ref()
h == s._cdata, s._use_count(), T.UntypedStorage._expired(h) -> True, 1, False
T.UntypedStorage._new_with_weak_ptr(h) is s -> True
t = T.empty(0, dtype=T.uint8).set_(s)
s._use_count(), t.untyped_storage() is s -> 2, True
s._fix_weakref()
s._use_count() -> 2
del s
T.UntypedStorage._expired(h), t.untyped_storage()._use_count() -> False, 2
del t
T.UntypedStorage._expired(h), T.UntypedStorage._new_with_weak_ptr(h) -> True, None
T.UntypedStorage._free_weak_ref(h)
T.UntypedStorage._free_weak_ref(None)
T.UntypedStorage._expired(0) -> ValueError
T.UntypedStorage._expired('x') -> TypeError
T.UntypedStorage._free_weak_ref(0) -> ValueError
T.UntypedStorage._new_with_weak_ptr(0) -> ValueError
t = T.ones(2)
h = t._weak_ref()
h == t._cdata, T.Tensor._expired(h), T.Tensor._new_with_weak_ptr(h) is t -> True, False, True
t._fix_weakref()
t._use_count(), t.untyped_storage()._use_count() -> 1, 2
del t
T.Tensor._expired(h), T.Tensor._new_with_weak_ptr(h) -> True, None
T.Tensor._free_weak_ref(h)
"""

#: check_storage_calls [slotcore]: the calls of storages (P8, P9, M7, P4)
#> check_storage_calls: checks
def check_storage_calls():
    for number, text in (("P9", calls_of_bytes), ("P8", calls_of_sizes), ("P9", calls_of_slices),
                         ("P9", calls_of_buffers), ("M7", calls_of_meta_storages),
                         ("P4", calls_of_handles)):
        assert_calls(number, text)
