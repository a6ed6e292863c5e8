"""What lines about memory may call: tensors over buffers of any form, and writes that overlap.

The model of a buffer is its memoryview; that of a write is a list and two ranges of bytes.
"""

#: exporters: functions that make a buffer
exporters = {
    "bytearray": lambda: bytearray(range(24)), "bytes": lambda: bytes(range(24)),
    "empty": lambda: bytearray(), "view": lambda: memoryview(bytearray(range(24))),
    "part": lambda: memoryview(bytearray(range(24)))[4:20],
    "every_second": lambda: memoryview(bytearray(range(24)))[::2],
    "reversed": lambda: memoryview(bytearray(range(24)))[::-1],
    "one_of_many": lambda: memoryview(bytearray(range(24)))[3::24],
    "read_only": lambda: memoryview(bytearray(range(24))).toreadonly(),
    "shorts": lambda: memoryview(bytearray(range(24))).cast("H"),
    "floats": lambda: memoryview(bytearray(24)).cast("f"),
    "rows": lambda: memoryview(bytearray(range(24))).cast("B", (4, 6)),
    "steps_of_shorts": lambda: memoryview(bytearray(range(24))).cast("H")[::3],
    "storage": lambda: T.UntypedStorage(list(range(24))),
    "view_of_storage": lambda: memoryview(T.UntypedStorage(list(range(24))))[8:],
}

#: check_buffer [slotcore]: a tensor over a buffer has its bytes, and those alone (P9)
#> check_buffer: checks
def check_buffer(exporter, dtype, offset, count):
    if in_hermetic():
        return
    buffer = exporters[exporter]()
    view = memoryview(buffer)
    width = T.empty(0, dtype=dtype).element_size()
    before = view.tobytes()
    left = (len(before) - offset) // width if count == -1 else count
    fits = (0 <= offset <= len(before) and left > 0
            and offset + left * width <= len(before)
            and (count != -1 or (len(before) - offset) % width == 0))
    try:
        found = T.frombuffer(buffer, dtype=dtype, offset=offset, count=count)
    except (BufferError, *refused):
        assert not (fits and view.c_contiguous and not view.readonly), (
            f"P9: {exporter} is no buffer for {left} numbers from {offset}")
        return
    assert view.c_contiguous, f"P9: a tensor takes {exporter}, whose bytes are not side by side"
    assert fits, f"P9: a tensor takes {left} numbers of {width} bytes from {offset}"
    expected = list(before[offset:offset + left * width])
    places = found.storage_offset() * width
    bytes_found = storage_of(found).tolist()[places:places + len(expected)]
    assert bytes_found == expected, f"P9: a tensor over {exporter} has {bytes_found}"
    if not view.readonly:
        found[-1] = 1
        after = view.tobytes()
        last = offset + (left - 1) * width
        assert after[:last] == before[:last] and after[last + width:] == before[last + width:], (
            f"P9: a write to a tensor over {exporter} changes other bytes")
        assert after[last:last + width] != bytes(width), f"P9: a write does not get to {exporter}"

#: writes_over: operations that write to a tensor and read another one
writes_over = {
    "copy": lambda to, read: to.copy_(read), "plus": lambda to, read: to.add_(read),
    "times": lambda to, read: to.mul_(read), "part": lambda to, read: to.__setitem__(..., read),
}

#: check_write_over [slotcore]: a write is refused if it reads what it writes in part (P9)
#> check_write_over: checks
def check_write_over(name, written_type, read_type, written_at, read_at):
    if in_hermetic():
        return
    storage = T.UntypedStorage(256)
    def placed(dtype, place, count=4):
        one = T.empty(0, dtype=dtype)
        return one.set_(storage[place * 8:], 0, (count,))
    written, read = placed(written_type, written_at), placed(read_type, read_at)
    with T.no_grad():
        read.copy_(T.tensor([1, 0, 1, 1]))
        apart = [one.clone() for one in (written, read)]
        kept, bits = read.tolist(), storage.tolist()
        begin, end = written_at * 8, written_at * 8 + 4 * written.element_size()
        first, last = read_at * 8, read_at * 8 + 4 * read.element_size()
        overlaps = max(begin, first) < min(end, last) and (begin, end) != (first, last)
        try:
            writes_over[name](*apart)
            allowed = True
        except refused:
            allowed = False
        try:
            writes_over[name](written, read)
        except refused as error:
            assert overlaps or not allowed, f"P9: {name} is refused without reason: {error}"
            assert storage.tolist() == bits, f"P9: {name} writes and is refused"
            return
    assert allowed and not overlaps, f"P9: {name} writes to what it reads"
    assert written.tolist() == apart[0].tolist(), f"P9: {name} gives {written.tolist()}"
    if (begin, end) != (first, last):
        assert read.tolist() == kept, f"P9: {name} changes what it reads"
