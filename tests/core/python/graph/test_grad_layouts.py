"""The strides of `.grad` (A7): those of a leaf that fills its memory, else contiguous ones."""

import pytest
import slotcore as T


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(("make", "give", "strides"), [
    (lambda: T.ones(2, 3).t(), lambda: T.ones(3, 2), (1, 3)),
    (lambda: T.ones(3, 2), lambda: T.ones(2, 3).t(), (2, 1)),
    (lambda: T.ones(3, 4).t()[::2], lambda: T.ones(3, 2).t(), (3, 1)),
    (lambda: T.ones(1).expand(3), lambda: T.ones(3), (1,)),
    (lambda: T.ones(6)[::2], lambda: T.ones(6)[::2], (1,)),
], ids=["dense", "contiguous", "with gaps", "expanded", "every second"])
def test_grad_has_the_strides_of_a_dense_leaf_else_contiguous_ones(
    create_graph, make, give, strides,
):
    leaf, gradient = make().detach().requires_grad_(), give()
    (leaf * leaf).backward(gradient, create_graph=create_graph)
    assert leaf.grad.stride() == strides
    assert leaf.grad.tolist() == (gradient * 2).tolist()
    assert leaf.grad.requires_grad == create_graph
    leaf.grad = None
