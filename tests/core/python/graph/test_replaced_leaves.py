"""Leaves whose data was replaced while a graph keeps the node that adds up their gradients (A7)."""

import pytest
import slotcore as T

REPLACEMENTS = {
    "longer": lambda t: setattr(t, "data", T.ones(3)),
    "of_more_dims": lambda t: setattr(t, "data", T.ones(2, 3)),
    "empty": lambda t: setattr(t, "data", T.ones(0)),
    "a_number": lambda t: setattr(t, "data", T.ones(())),
    "of_another_type": lambda t: setattr(t, "data", T.ones(1, dtype=T.float64)),
    "set": lambda t: t.set_(T.ones(3)),
}


each_replacement = pytest.mark.parametrize("replace", REPLACEMENTS.values(), ids=REPLACEMENTS)


def replaced(replace):
    """A leaf, and the result of a graph from before its data was replaced."""
    leaf = T.ones(1).requires_grad_()
    former = leaf * 2
    with T.no_grad():
        replace(leaf)
    return leaf, former


@each_replacement
def test_a_new_graph_gives_the_leaf_a_gradient_of_its_own_size_and_type(replace):
    leaf, former = replaced(replace)
    (leaf * leaf).sum().backward()
    assert (leaf.grad.size(), leaf.grad.dtype) == (leaf.size(), leaf.dtype)
    assert leaf.grad.tolist() == leaf.detach().mul(2).tolist()
    del former


@each_replacement
def test_a_backward_of_the_former_graph_is_an_error_and_changes_no_gradient(replace):
    leaf, former = replaced(replace)
    leaf.grad = leaf.detach().mul(5)
    with pytest.raises(RuntimeError, match="other sizes or another dtype since"):
        former.sum().backward()
    assert leaf.grad.tolist() == leaf.detach().mul(5).tolist()


@each_replacement
def test_the_leaf_has_one_node_for_its_present_size(replace):
    leaf, former = replaced(replace)
    nodes = [(leaf * k).grad_fn.next_functions[0][0] for k in (2, 3)]
    assert nodes[0] is nodes[1] and nodes[0].variable is leaf
    assert former.grad_fn.next_functions[0][0] is not nodes[0]


def test_data_of_the_same_size_keeps_the_node():
    leaf = T.ones(2).requires_grad_()
    former = leaf * 2
    leaf.data = T.ones(2)
    assert (leaf * 1).grad_fn.next_functions == former.grad_fn.next_functions
    former.sum().backward()
    assert leaf.grad.tolist() == [2.0, 2.0]
