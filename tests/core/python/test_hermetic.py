"""H1 to H4 of docs/contract.md, for storages and tensors alike."""

import gc

import pytest
import slotcore as T


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
