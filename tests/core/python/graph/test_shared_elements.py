"""A7: writes in place to elements that share memory."""

import pytest
import slotcore as T


def shared_rows():
    leaf = T.tensor([1.0, 2.0]).requires_grad_()
    return leaf, (leaf * 2).expand(3, 2)


@pytest.mark.parametrize("fill", [
    lambda t: t.fill_(3), lambda t: t.zero_(), lambda t: t.t().fill_(3), lambda t: t[1].zero_()])
def test_what_a_fill_overwrites_has_no_gradient(fill):
    leaf, rows = shared_rows()
    fill(rows)
    (rows * 5).sum().backward()
    assert leaf.grad.tolist() == [0, 0]


def test_the_rest_of_the_base_keeps_its_gradients_to_the_second_order():
    leaf = T.tensor([1.0, 2.0, 3.0]).requires_grad_()
    square = leaf * leaf
    square[:2].expand(3, 2).fill_(3)
    (gradient,) = T.autograd.grad(square.sum(), leaf, create_graph=True)
    assert gradient.tolist() == [0, 0, 6]
    (second,) = T.autograd.grad(gradient.sum(), leaf)
    assert second.tolist() == [0, 0, 2]


@pytest.mark.parametrize("write", [
    lambda t: t.copy_(t), lambda t: t.copy_(T.ones(3, 2)), lambda t: t.add_(1),
    lambda t: t.mul_(t), lambda t: t.relu_()])
def test_another_write_is_refused(write):
    leaf, rows = shared_rows()
    version = rows._version
    with pytest.raises(RuntimeError, match="may share memory"):
        write(rows)
    assert rows.tolist() == [[2, 4]] * 3 and rows._version == version
    rows.sum().backward()
    assert leaf.grad.tolist() == [6, 6]


@pytest.mark.parametrize(("sizes", "strides"), [
    ((2, 2), (1, 1)), ((2, 2), (2, 2)), ((3, 2), (1, 2)), ((2, 2, 2), (1, 2, 2))])
def test_so_is_one_to_elements_that_strides_let_overlap(sizes, strides):
    leaf = T.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).requires_grad_()
    written = leaf * 1
    view = written.as_strided(sizes, strides)
    for write in (lambda: view.mul_(2), lambda: view.copy_(view), lambda: view.add_(view)):
        with pytest.raises(RuntimeError, match="may share memory"):
            write()
    view.fill_(0)
    written.sum().backward()
    assert leaf.grad.tolist() == [value != 0 for value in written.tolist()]


def test_elements_with_gaps_are_written():
    leaf = T.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).requires_grad_()
    written = leaf * 1
    written.as_strided((2, 2), (3, 2)).mul_(2)
    written.sum().backward()
    assert leaf.grad.tolist() == [2, 1, 2, 2, 1, 2]
