"""The results of the methods of storages and tensors, and the errors that they raise."""

import pytest
import slotcore as T


def test_a_storage_is_a_sequence_of_bytes():
    s = T.UntypedStorage([1, 2, 3])
    assert len(s) == s.nbytes() == s.size() == 3 and s[-1] == 3 and list(s) == [1, 2, 3]
    s[0] = 9
    s[1:] = 7
    assert s.tolist() == [9, 7, 7] and s[:2].tolist() == [9, 7]
    s[:2][0] = 5
    assert s[0] == 5
    assert s.clone().fill_(1).tolist() == [1, 1, 1] and s[0] == 5
    assert T.UntypedStorage(3).copy_(s).tolist() == s.tolist()
    assert T.UntypedStorage().data_ptr() == 0


def test_a_slice_outlives_a_resize_of_its_source():
    s = T.UntypedStorage([1, 2, 3])
    part = s[1:]
    s.resize_(0)
    assert part.tolist() == [2, 3] and not part.resizable()


def test_a_buffer_pins_the_bytes():
    s = T.UntypedStorage(4)
    view = memoryview(s)
    with pytest.raises(BufferError):
        s.resize_(8)
    address = s.data_ptr()
    del s
    view[0] = 3
    assert bytes(view) == b"\3\0\0\0" and address
    s = view.obj
    view.release()
    assert s.resize_(2).tolist() == [3, 0]


def test_a_tensor_over_a_buffer_shares_its_memory():
    data = bytearray(8)
    t = T.frombuffer(data, dtype=T.uint8)
    t[3] = 4
    assert data[3] == 4 and not t.untyped_storage().resizable()
    with pytest.raises(BufferError):
        data.append(1)
    with pytest.raises(RuntimeError):
        t.untyped_storage().resize_(9)
    del t
    data.append(1)


@pytest.mark.parametrize("error, call", [
    (RuntimeError, lambda: T.UntypedStorage(-1)),
    (RuntimeError, lambda: T.UntypedStorage(1 << 50)),
    (RuntimeError, lambda: T.UntypedStorage(1 << 80)),
    (RuntimeError, lambda: T.UntypedStorage([256])),
    (TypeError, lambda: T.UntypedStorage("ab")),
    (IndexError, lambda: T.UntypedStorage(1)[1]),
    (RuntimeError, lambda: T.UntypedStorage(2)[::2]),
    (RuntimeError, lambda: T.UntypedStorage(2).copy_(T.UntypedStorage(1))),
    (TypeError, lambda: T.UntypedStorage(2).copy_(None)),
    (RuntimeError, lambda: T.ones(-1)),
    (RuntimeError, lambda: T.ones(1 << 40, 1 << 40)),
    (TypeError, lambda: T.ones(1, dtype=int)),
    (RuntimeError, lambda: T.ones(2).view(3)),
    (RuntimeError, lambda: T.ones(2).item()),
    (ValueError, lambda: T.tensor([[1], [1, 2]])),
    (TypeError, lambda: T.tensor("ab")),
    (RuntimeError, lambda: T.tensor([256], dtype=T.uint8)),
    (ValueError, lambda: T.frombuffer(bytearray(3), dtype=T.float32)),
    (ValueError, lambda: T.frombuffer(bytearray(), dtype=T.uint8)),
    (BufferError, lambda: T.frombuffer(b"ab", dtype=T.uint8)),
    (TypeError, lambda: len(T.tensor(1))),
    (IndexError, lambda: T.ones(2)[2]),
])
def test_errors(error, call):
    with pytest.raises(error):
        call()


def test_grad_errors():
    t = T.ones(2)
    for error, value in [(RuntimeError, t), (RuntimeError, T.ones(3)), (TypeError, 1),
                         (RuntimeError, T.ones(2, dtype=T.int64))]:
        with pytest.raises(error):
            t.grad = value
    t.grad = T.ones(2)
    t.grad = None
    assert t.grad is None


def test_tensors_hold_and_convert_numbers():
    t = T.tensor([[1, 2], [3, 4]])
    assert t.shape == t.size() == (2, 2) and t.dtype is T.int64 and t.numel() == 4
    assert t.view(-1).tolist() == [1, 2, 3, 4] and t[1].tolist() == [3, 4]
    t.view(4)[0] = 8
    assert t[0][0].item() == 8 and float(t[0][0]) == 8.0
    assert T.empty(2, 2, dtype=T.bool).copy_(t).tolist() == [[True, True], [True, True]]
    assert T.tensor([1.5]).dtype is T.float32 and T.tensor(True).item() is True


def test_views_share_the_storage():
    t = T.ones(4)
    assert t.view(2, 2).untyped_storage() is t.untyped_storage()
    s = t.untyped_storage()
    u = T.empty(0).set_(s, 1, (2,), (2,))
    assert u.tolist() == [1.0, 1.0] and u.data_ptr() == t.data_ptr() + 4
    T.empty(0).set_(s, 0, (8,))
    assert s.nbytes() == 32


def test_a_shrunken_storage_is_an_error_and_no_access():
    t = T.ones(4)
    t.untyped_storage().resize_(4)
    for call in (t.tolist, lambda: t.fill_(1), lambda: t[0].copy_(t)):
        with pytest.raises(RuntimeError):
            call()
    assert t[0].item() == 1.0


def test_blocks_of_memory_are_counted():
    before = T._live_blocks()
    s, empty = T.UntypedStorage(4), T.UntypedStorage(0)
    assert T._live_blocks() == before + 1 and empty.nbytes() == 0
    s.resize_(8)
    assert T._live_blocks() == before + 1
    part = s[1:]
    assert T._live_blocks() == before + 2, "the block, and what its two owners share"
    buffer = T.frombuffer(bytearray(8), dtype=T.uint8)
    assert T._live_blocks() == before + 3
    del s, part, buffer
    assert T._live_blocks() == before


@pytest.mark.parametrize("make, index", [
    (lambda: T.tensor([2]), 2), (lambda: T.tensor(-1), -1), (lambda: T.tensor([[True]]), 1),
    (lambda: T.ones(1, 1, dtype=T.uint8), 1),
])
def test_a_tensor_of_one_integer_is_an_index(make, index):
    t = make()
    assert t.__index__() == index and type(t.__index__()) is int
    assert "abc"[t] == "abc"[index]
    with pytest.raises(IndexError, match="not by Tensor"):
        T.ones(3)[t]
    with pytest.raises(IndexError, match="not by Tensor"):
        T.ones(3)[t] = 1


@pytest.mark.parametrize("make", [
    lambda: T.ones(1), lambda: T.tensor([1, 2]), lambda: T.tensor(1j),
    lambda: T.ones(0, dtype=T.int64), lambda: T.ones(1, device="meta"),
])
def test_no_other_tensor_is_an_index(make):
    with pytest.raises(TypeError, match="only a tensor of one integer"):
        make().__index__()


def test_an_integer_on_meta_has_no_value_for_an_index():
    with pytest.raises(RuntimeError):
        T.ones(1, dtype=T.int64, device="meta").__index__()
