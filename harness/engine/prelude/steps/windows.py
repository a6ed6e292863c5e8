"""What lines about windows may call: storages over parts of one memory, beside a model of bytes.

A window of the model is a part of a list of bytes, so the model shares no code with the subject.
None stands for a byte that nothing has written.
"""

#: Window: a storage, the list that has its bytes, and the part of it that the storage has
class Window:
    def __init__(self, storage, cells, start, count, owner):
        self.storage, self.cells, self.start, self.count = storage, cells, start, count
        self.owner = owner  # the Python object that has the memory, or None
        self.is_whole = owner is None
        self.views = []
    def numbers(self):
        return self.cells[self.start:self.start + self.count]
    def write(self, start, numbers):
        start += self.start
        self.cells[start:start + len(numbers)] = numbers
    def part(self, storage, start, count):
        part = Window(storage, self.cells, self.start + start, count, self.owner)
        part.is_whole = False
        return part
    def move(self, count):
        kept = self.numbers()[:count]
        self.cells, self.start, self.count = kept + [None] * (count - len(kept)), 0, count

#: HeldBuffer: memory of Python that can hold what is over it
class HeldBuffer(bytearray):
    def __init__(self, numbers):
        super().__init__(numbers)
        self.mark = "kept"

#: Windows: some windows, of which the last one is the one that a move is about
class Windows:
    def __init__(self):
        self.every, self.exporters = [], []
        self.own()
    @property
    def now(self):
        return self.every[-1]
    def own(self):
        numbers = [1, 2, 3, 4, 5, 6, 7, 8]
        self.every.append(Window(T.UntypedStorage(numbers), list(numbers), 0, 8, None))
    def borrow(self, offset, count):
        exporter, numbers = HeldBuffer(range(8)), list(range(8))
        self.exporters.append((exporter, numbers))
        tensor = T.frombuffer(exporter, dtype=T.uint8, offset=offset, count=count)
        self.every.append(Window(storage_of(tensor), numbers, offset, count, exporter))
    def slice(self, start, stop):
        now = self.now
        taken = range(now.count)[start:stop]
        self.every.append(now.part(now.storage[start:stop], taken.start if len(taken) else 0,
                                   len(taken)))
    def resize(self, count):
        now = self.now
        try:
            now.storage.resize_(count)
        except (BufferError, RuntimeError):
            assert now.views or not now.is_whole, "P8: a storage of its own cannot be resized"
            return
        assert now.is_whole and not now.views, "P8: bytes that others have were resized"
        now.move(count)
    def fill(self, start, stop, byte):
        now = self.now
        taken = range(now.count)[start:stop]
        now.storage[start:stop] = byte
        now.write(taken.start, [byte] * len(taken))
    def set_first(self):
        if self.now.count:
            self.now.storage[0] = 200
            self.now.write(0, [200])
    def copy(self):
        now, other = self.now, self.every[-2 % len(self.every)]
        if now.count == other.count:
            now.storage.copy_(other.storage)
            now.write(0, other.numbers())
    def clone(self):
        now = self.now
        self.every.append(Window(now.storage.clone(), now.numbers(), 0, now.count, None))
    def export(self):
        self.now.views.append(memoryview(self.now.storage))
    def release(self):
        if self.now.views:
            self.now.views.pop(0).release()
    def fill_tensor(self):
        tensor = T.empty(0, dtype=T.uint8).set_(self.now.storage)
        assert tensor.tolist() == list(self.now.storage), "P9: a tensor has other bytes"
        tensor.fill_(5)
        self.now.write(0, [5] * self.now.count)
    def grow_tensor(self):
        count = self.now.count + 3
        tensor = T.empty(0, dtype=T.uint8).set_(self.now.storage)
        try:
            tensor.resize_(count)
        except (BufferError, RuntimeError):
            assert self.now.views or not self.now.is_whole, "P8: a tensor cannot grow"
            return
        self.now.move(count)
    def wrap_again(self):
        tensor = T.empty(0, dtype=T.uint8).set_(self.now.storage)
        self.now.storage = None
        self.now.storage = storage_of(tensor)
    def tie(self):
        if self.now.owner is not None:
            self.now.owner.window = self.now.storage
    def back(self):
        self.every.insert(0, self.every.pop())
    def drop(self):
        if len(self.every) > 1:
            del self.every[0]
        gc.collect()
    def tangle(self):
        cycle = [window.storage for window in self.every]
        cycle.append(cycle)
        # From here on a frame alone has the last one, which the collector cannot see.
        exporter, numbers = self.exporters.pop() if self.exporters else (None, [])
        self.every.clear()
        del cycle
        gc.collect()
        self.own()
        if exporter is not None:
            self.exporters.append((exporter, numbers))
    def drop_exporters(self):
        self.exporters.clear()
        for window in self.every:
            window.owner = None
        gc.collect()
    def with_unwritten(self, expected, found):
        if len(expected) != len(found):
            return expected
        return [there if byte is None else byte for byte, there in zip(expected, found)]
#: moves: what may happen to windows; a move that does not fit does nothing
moves = {
    "nothing": lambda w: None, "own": Windows.own, "borrow": lambda w: w.borrow(0, 8),
    "borrow_part": lambda w: w.borrow(2, 5), "rest": lambda w: w.slice(2, None),
    "start": lambda w: w.slice(None, 3), "middle": lambda w: w.slice(1, -1),
    "whole": lambda w: w.slice(None, None), "empty": lambda w: w.slice(1, 1),
    "grow": lambda w: w.resize(w.now.count + 4), "shrink": lambda w: w.resize(w.now.count // 2),
    "keep_size": lambda w: w.resize(w.now.count), "become_empty": lambda w: w.resize(0),
    "fill": lambda w: w.fill(None, None, 9), "fill_rest": lambda w: w.fill(2, None, 77),
    "set_first": Windows.set_first, "copy": Windows.copy, "clone": Windows.clone,
    "export": Windows.export, "release": Windows.release, "fill_tensor": Windows.fill_tensor,
    "grow_tensor": Windows.grow_tensor, "wrap_again": Windows.wrap_again, "tie": Windows.tie,
    "back": Windows.back, "drop": Windows.drop, "tangle": Windows.tangle,
    "drop_exporters": Windows.drop_exporters,
}

#: check_of_windows, check_windows [slotcore]: bytes, sizes, exports after each of five moves (P9)
#> check_windows: checks
def check_of_windows(windows, name):
    for window in windows.every:
        found = list(window.storage)
        expected = windows.with_unwritten(window.numbers(), found)
        assert found == expected, f"P9: after {name} a storage has {found}, and not {expected}"
        shown = [view.tolist() for view in window.views]
        assert all(one == found for one in shown), (
            f"P9: after {name} an export has {shown}, and its storage {found}")
        assert window.storage.resizable() == window.is_whole, (
            f"P8: after {name} resizable() is {not window.is_whole}")
    for exporter, numbers in windows.exporters:
        found = list(exporter)
        assert found == windows.with_unwritten(numbers, found), (
            f"P9: after {name} an exporter has other bytes")
        assert getattr(exporter, "mark", "") == "kept", (
            f"P5: after {name} the collector has cleared an exporter that is in use")
        is_used = "window" in exporter.__dict__ or any(
            window.owner is exporter for window in windows.every)
        try:
            exporter.append(0)
            exporter.pop()
        except BufferError:
            assert is_used, f"P7: after {name} the memory of a dead storage is still lent"
            continue
        assert not is_used, f"P2: after {name} the memory of a storage is not lent any more"
def check_windows(*names):
    if in_hermetic():
        return  # wrappers of a cycle through C++ would not be found again
    windows = Windows()
    for name in names:
        moves[name](windows)
        check_of_windows(windows, name)  # whose frame ends, and keeps none of them
