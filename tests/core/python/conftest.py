"""The two kinds of wrappers in the contract, and the ledger around every test."""

import gc

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
    """P5: every test releases everything that it made.

    Its collections need not visit the objects of pytest and of earlier tests, which are many.
    """
    gc.collect()
    gc.freeze()
    before = T._live_impls(), T._live_wrappers()
    yield
    gc.collect()
    assert (T._live_impls(), T._live_wrappers()) == before
    assert not T._is_hermetic()
