"""`.data`, `set_` and `resize_`: operations that move a tensor to other bytes."""

import gc
import weakref

import pytest
import slotcore as T


def test_data_is_a_fresh_tensor_over_the_same_bytes():
    t = T.ones(2)
    d = t.data
    assert d is not t and t.data is not d and d._base is None and t._use_count() == 1
    assert d.untyped_storage() is t.untyped_storage()
    d.fill_(3)
    assert t.tolist() == [3.0, 3.0] and (t._version, d._version) == (0, 1)


def test_a_tensor_may_be_given_its_own_data():
    t = T.ones(2)
    t.data = t
    assert t.tolist() == [1.0, 1.0] and t.untyped_storage()._use_count() == 2


def test_setting_data_replaces_bytes_sizes_and_dtype():
    t, former = T.ones(4), None
    v = t.view(2, 2)
    former = weakref.ref(t.untyped_storage())
    v.data = T.zeros(3, dtype=T.int64)
    assert v.shape == (3,) and v.dtype is T.int64 and v._base is t and former() is not None
    t.fill_(1)
    assert v._version == 1 and v.tolist() == [0, 0, 0]
    t.data = v
    assert former() is None and t.untyped_storage() is v.untyped_storage()


def test_the_former_storage_may_wrap_again_when_it_dies():
    seen = []

    class Storage(T.UntypedStorage):
        def __del__(self):
            seen.append((t.tolist(), t.untyped_storage() is not self))

    t = T.empty(0).set_(Storage(4), 0, (1,))
    t.data = T.ones(2)
    assert seen == [([1.0, 1.0], True)]
    t.set_(Storage(4), 0, (1,))
    t.set_()
    assert seen[1] == ([], True)


@pytest.mark.parametrize("error, change", [
    (TypeError, lambda t: setattr(t, "data", 3)), (TypeError, lambda t: setattr(t, "data", None)),
    (RuntimeError, lambda t: delattr(t, "data")),
    (RuntimeError, lambda t: t.set_(T.ones(1, dtype=T.int64))),
    (TypeError, lambda t: t.set_(3)), (TypeError, lambda t: t.set_(None)),
    (TypeError, lambda t: t.set_(t.untyped_storage(), 1)),
    (RuntimeError, lambda t: t.set_(t.untyped_storage(), -1, (1,))),
    (RuntimeError, lambda t: t.set_(t.untyped_storage(), 0, (1,), (-1,))),
    (RuntimeError, lambda t: t.resize_(-1)), (RuntimeError, lambda t: t.resize_(1 << 60)),
    (TypeError, lambda t: t.resize_()), (TypeError, lambda t: t.resize_(1.5)),
    (RuntimeError, lambda t: T.frombuffer(bytearray(8), dtype=T.uint8).resize_(9)),
])
def test_errors(error, change):
    t = T.ones(4)
    with pytest.raises(error):
        change(t)
    assert t.tolist() == [1.0] * 4 and t._version == 0


def test_set_takes_tensors_and_storages():
    t, source = T.ones(2), T.tensor([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    assert t.set_(source) is t and t.is_set_to(source) and t._base is None and t._version == 1
    assert t.set_(source, 1, (2,), (2,)).tolist() == [1.0, 3.0]
    assert t.set_(source.untyped_storage()).is_set_to(source)
    assert t.set_(source.untyped_storage(), 4, (2,)).tolist() == [4.0, 5.0]
    assert not t.is_set_to(source) and t._version == 4
    assert t.set_().shape == (0,) and t.untyped_storage().nbytes() == 0
    assert t.set_(T.UntypedStorage(4), 0, (8,)).untyped_storage().nbytes() == 32


def test_resize_keeps_the_offset_and_never_shrinks():
    t = T.ones(4)
    v = t[1:]
    assert v.resize_(5) is v and v.storage_offset() == 1 and v._base is t and v._version == 1
    assert t.untyped_storage().nbytes() == 24 and v.tolist() == [1.0, 1.0, 1.0, 0.0, 0.0]
    assert v.resize_(()).item() == 1.0 and t.untyped_storage().nbytes() == 24
    turned = T.ones(2, 2).t()
    assert turned.resize_(2, 2).stride() == (1, 2) and turned.resize_(4).stride() == (1,)


def test_resizing_a_pinned_storage_is_refused():
    t = T.ones(1)
    view = memoryview(t.untyped_storage())
    with pytest.raises(BufferError):
        t.resize_(2)
    assert t.shape == (1,)
    view.release()
    t.resize_(2)


def test_a_size_that_changes_the_tensor_while_it_is_read():
    class Size:
        def __index__(self):
            t.set_()
            gc.collect()
            return 2

    t = T.ones(4)
    assert t.resize_(Size()).shape == (2,)
    t.set_(T.UntypedStorage(8), 0, (Size(),))
    assert t.shape == (2,)
