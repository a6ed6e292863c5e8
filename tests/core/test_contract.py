"""The contract of docs/contract.md, sentence by sentence, for storages and tensors alike."""

import gc
import subprocess
import sys
import weakref

import pytest
import slotcore as T


class Kind:
    """How to make a wrapper of one kind, give its impl a C++ owner, and wrap it again."""

    def __init__(self, name, base, make, own, rewrap):
        self.name, self.base, self.make, self.own, self.rewrap = name, base, make, own, rewrap


def _own_storage(storage):
    return T.empty(0, dtype=T.uint8).set_(storage)


def _own_tensor(tensor):
    owner = T.empty(2)
    owner.grad = tensor
    return owner


STORAGE = Kind("storage", T.UntypedStorage, lambda cls: cls(8), _own_storage,
               lambda owner: owner.untyped_storage())
TENSOR = Kind("tensor", T.Tensor, lambda cls: cls(2), _own_tensor, lambda owner: owner.grad)


@pytest.fixture(params=[STORAGE, TENSOR], ids=lambda kind: kind.name)
def kind(request):
    return request.param


@pytest.fixture(autouse=True)
def ledger():
    """P5: every test gives back all that it made."""
    gc.collect()
    before = T._live_impls(), T._live_wrappers()
    yield
    gc.collect()
    assert (T._live_impls(), T._live_wrappers()) == before
    assert not T._is_hermetic()


def test_wrapping_again_gives_the_same_wrapper(kind):  # P1
    x = kind.make(kind.base)
    owner = kind.own(x)
    assert kind.rewrap(owner) is x
    address = id(x)
    del x
    assert id(kind.rewrap(owner)) == address


def test_nothing_is_lost_while_the_impl_lives(kind):  # P2
    class Sub(kind.base):
        __slots__ = ("slot",)

    x = kind.make(Sub)
    x.slot, x.attribute = [1], [2]
    owner = kind.own(x)
    for _ in range(3):
        del x
        gc.collect()
        x = kind.rewrap(owner)
        assert type(x) is Sub and x.slot == [1] and x.attribute == [2]


@pytest.mark.parametrize("cycle", ["self", "list", "outer"])
def test_a_dead_cycle_does_not_empty_a_preserved_wrapper(kind, cycle):  # P2, P5
    x = kind.make(kind.base)
    x.attribute = "kept"
    owner = kind.own(x)
    if cycle == "self":
        x.me = x
    elif cycle == "list":
        x.items = [x]
    else:
        outer = [x]
        outer.append(outer)
        del outer
    del x
    gc.collect()
    x = kind.rewrap(owner)
    assert x.attribute == "kept"
    x.__dict__.clear()


def test_the_class_of_a_preserved_wrapper_survives(kind):  # P2
    class Sub(kind.base):
        def answer(self):
            return 42

    x = kind.make(Sub)
    owner = kind.own(x)
    hold = [x]
    hold.append(hold)
    del x, hold, Sub
    gc.collect()
    assert kind.rewrap(owner).answer() == 42


def _with_finalizer(kind, log):
    class Sub(kind.base):
        def __del__(self):
            log.append(self._use_count())

    return Sub


def test_finalizer_runs_once_with_a_living_impl(kind):  # P3
    log = []
    x = kind.make(_with_finalizer(kind, log))
    owner = kind.own(x)
    del x
    assert log == []
    x = kind.rewrap(owner)
    del owner
    assert log == []
    del x
    assert log == [1]


def test_finalizer_runs_when_the_last_cpp_owner_goes(kind):  # P3
    log = []
    x = kind.make(_with_finalizer(kind, log))
    owner = kind.own(x)
    del x
    del owner
    assert log == [1]


def test_a_resurrected_object_is_whole(kind):  # P3
    kept, log = [], []

    class Sub(kind.base):
        def __del__(self):
            log.append("del")
            kept.append(self)

    x = kind.make(Sub)
    x.attribute = 1
    owner = kind.own(x)
    del x, owner
    x = kept.pop()
    assert x.attribute == 1 and x._use_count() == 1 and x.data_ptr() != 0
    owner = kind.own(x)
    assert kind.rewrap(owner) is x
    del x, owner
    assert log == ["del"] and not kept


def test_a_finalizer_may_make_a_cpp_owner(kind):  # P3, H2
    owners, log = [], []

    class Sub(kind.base):
        def __del__(self):
            log.append("del")
            owners.append(kind.own(self))

    x = kind.make(Sub)
    x.attribute = 1
    del x
    x = kind.rewrap(owners[0])
    assert x.attribute == 1 and type(x) is Sub
    del x
    owners.clear()
    assert log == ["del"]


def test_weakrefs_live_as_long_as_the_impl(kind):  # P4
    calls = []
    x = kind.make(kind.base)
    owner = kind.own(x)
    ref = weakref.ref(x, lambda _: calls.append("gone"))
    address = id(x)
    del x
    gc.collect()
    assert id(ref()) == address and calls == []
    del owner
    assert ref() is None and calls == ["gone"]


def test_a_dereferenced_weakref_keeps_the_impl(kind):  # P4, P7
    x = kind.make(kind.base)
    owner, ref = kind.own(x), weakref.ref(x)
    handle = x._weak_ref()
    del x
    x = ref()
    del owner
    assert x._use_count() == 1 and not kind.base._expired(handle)
    del x
    assert kind.base._expired(handle) and ref() is None
    assert kind.base._new_with_weak_ptr(handle) is None
    kind.base._free_weak_ref(handle)


def test_a_weakref_callback_cannot_reach_the_dying_wrapper(kind):  # H2, P4
    seen = []
    x = kind.make(kind.base)
    handle = x._weak_ref()
    ref = weakref.ref(x, lambda _: seen.append(kind.base._new_with_weak_ptr(handle)))
    del x
    assert seen == [None] and ref() is None
    kind.base._free_weak_ref(handle)


def test_an_attribute_finalizer_cannot_reach_the_dying_wrapper(kind):  # H2
    seen = []

    class Probe:
        def __del__(self):
            seen.append(kind.base._new_with_weak_ptr(handle))

    x = kind.make(kind.base)
    handle = x._weak_ref()
    x.probe = Probe()
    del x
    assert seen == [None]
    kind.base._free_weak_ref(handle)


def test_a_handle_wraps_to_the_same_object(kind):  # P1
    x = kind.make(kind.base)
    handle = x._weak_ref()
    assert kind.base._new_with_weak_ptr(handle) is x
    kind.base._free_weak_ref(handle)


def test_cycles_are_collected(kind):  # P5
    class Sub(kind.base):
        __slots__ = ("slot",)

    x, y = kind.make(Sub), kind.make(kind.base)
    x.slot, x.other, y.other = x, y, x
    handle = x._weak_ref()
    del x, y
    gc.collect()
    assert kind.base._expired(handle)
    kind.base._free_weak_ref(handle)


def test_a_cycle_through_the_impl_is_collected(kind):  # P5
    x = kind.make(kind.base)
    owner = kind.own(x)
    x.owner = owner
    handle = x._weak_ref()
    del x, owner
    gc.collect()
    assert kind.base._expired(handle)
    kind.base._free_weak_ref(handle)


def test_a_cycle_through_a_buffer_is_collected():  # P5
    class Buffer(bytearray):
        pass

    buffer = Buffer(8)
    buffer.tensor = T.frombuffer(buffer, dtype=T.uint8)
    ref = weakref.ref(buffer)
    del buffer
    gc.collect()
    assert ref() is None


@pytest.mark.parametrize("preserved", [False, True])
def test_a_million_links_are_freed_without_recursion(preserved):  # P6
    head = link = T.empty(0)
    for _ in range(1_000_000):
        following = T.empty(0)
        link.grad = following
        if preserved:
            following.attribute = None
        link = following
    handle = link._weak_ref()
    del link, following
    del head
    assert T.Tensor._expired(handle)
    T.Tensor._free_weak_ref(handle)


def test_a_long_chain_of_attributes_is_freed(kind):  # P6
    link = kind.make(kind.base)
    for _ in range(100_000):
        following = kind.make(kind.base)
        following.attribute = link
        link = following


def test_wraps_and_drops_change_no_count(kind):  # P7
    x = kind.make(kind.base)
    owner = kind.own(x)
    assert x._use_count() == 2
    for _ in range(5):
        x = kind.rewrap(owner)
        references = sys.getrefcount(x)
        x._fix_weakref()
        assert sys.getrefcount(x) == references and x._use_count() == 2
        del x
    x = kind.rewrap(owner)
    ref = weakref.ref(x)
    del x
    x = ref()
    assert x._use_count() == 1
    x._fix_weakref()
    assert x._use_count() == 2 and kind.rewrap(owner) is x


def test_hermetic_wrapping_is_fresh_and_leaves_the_slot(kind):  # H1, H3
    class Sub(kind.base):
        pass

    x = kind.make(Sub)
    owner = kind.own(x)
    with T.hermetic():
        y, z = kind.rewrap(owner), kind.rewrap(owner)
        assert y is not x and y is not z and type(y) is kind.base
        del z
    assert kind.rewrap(owner) is x
    del y
    assert kind.rewrap(owner) is x


def _by_del(x):
    T.enter_hermetic()
    hold = x.pop()
    del hold
    T.exit_hermetic()


def _by_scope(x):
    def scope():
        hold = x.pop()  # noqa: F841
    with T.hermetic():
        scope()


def _by_collector(x):
    hold = [x.pop()]
    hold.append(hold)
    with T.hermetic():
        del hold
        gc.collect()


@pytest.mark.parametrize("delete", [_by_del, _by_scope, _by_collector])
def test_slot_never_dangles_after_a_hermetic_delete(kind, delete):  # H2
    x = kind.make(kind.base)
    x.attribute = 1
    owner = kind.own(x)
    box = [x]
    del x
    delete(box)
    assert kind.rewrap(owner).attribute == 1


def test_hermetic_mode_is_left_when_an_exception_passes():  # H4
    T.enter_hermetic()
    with pytest.raises(KeyError):
        with T.hermetic():
            raise KeyError
    assert T._is_hermetic()
    T.exit_hermetic()
    with pytest.raises(RuntimeError):
        T.exit_hermetic()


def test_pending_exceptions_pass_through_a_deallocation(kind):
    class Sub(kind.base):
        def __del__(self):
            try:
                raise KeyError
            except KeyError:
                pass

    def fail():
        x = kind.make(Sub)  # noqa: F841
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        fail()


def test_base_classes_cannot_be_created():
    for base in (T.StorageBase, T.TensorBase):
        with pytest.raises(TypeError):
            base()


SUBPROCESS = """
import sys
sys.path[:] = {path!r}
import slotcore as T
class S(T.UntypedStorage):
    def __del__(self): pass
s = S(4); s.me = s; t = T.ones(2); t.grad = T.ones(2); t.grad.foo = t
u = T.empty(0, dtype=T.uint8).set_(S(3)); v = T.frombuffer(bytearray(4), dtype=T.uint8)
{more}
"""


@pytest.mark.parametrize("more", [
    "", "T.enter_hermetic(); w = u.untyped_storage()", "del T, sys.modules['slotcore']",
    "sys.modules['slotcore'].__dict__.clear()", "import builtins; builtins.keep = [u, s]",
])
def test_exit_with_living_wrappers(more):  # T5
    script = SUBPROCESS.format(path=sys.path, more=more)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_sub_interpreter_shares_data_but_not_the_impl():  # T2
    interpreters = pytest.importorskip("_xxsubinterpreters")
    storage, tensor = T.UntypedStorage([1, 2]), T.ones(1)
    handles = storage._weak_ref(), tensor._weak_ref()
    other = interpreters.create()
    interpreters.run_string(other, f"""
import sys
sys.path[:] = {sys.path!r}
import slotcore as T
s = T.UntypedStorage._new_with_weak_ptr({handles[0]})
assert s.tolist() == [1, 2] and s._cdata != {storage._cdata}
s[0] = 9
try:
    T.Tensor._new_with_weak_ptr({handles[1]})
except RuntimeError as error:
    assert str(error).count('slotcore interpreter') == 2
else:
    raise AssertionError
keep = T.ones(1); keep.grad = T.ones(1); keep.grad.foo = 1
""")
    assert storage.tolist() == [9, 2]
    interpreters.destroy(other)
    T.UntypedStorage._free_weak_ref(handles[0])
    T.Tensor._free_weak_ref(handles[1])
