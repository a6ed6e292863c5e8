"""Each name that a release of PyTorch gives ctxs and nodes works, or raises with a reason (A1b).

ops/node_names.ops has the names; the core lacks some, and says so.
"""

import tomllib
from pathlib import Path

import pytest
import slotcore as T

TABLE = Path(__file__).resolve().parents[4] / "ops" / "node_names.ops"
NAMES = [name if isinstance(name, str) else name[0]
         for name in tomllib.loads(TABLE.read_text())["names"]["node_name"][1]]
# The ops of such a name, as ops/functions.ops and ops/torch.ops have them.
USES = ("n0.{}", "n0.{}()", "n0.{}(t0)", "n0.{}(None)", "n0.{}(7)", "n0.{} = (t0,)", "n0.{} = None",
        "n0.{} = 'x'", "del n0.{}")
WORKING_MIN = 40
REASONS = (AttributeError, IndexError, RuntimeError, TypeError, ValueError)


class Saving(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, x * 2)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


def leaf():
    return T.ones(4).requires_grad_()


def live():
    return Saving.apply(leaf())


def freed():
    y = Saving.apply(leaf())
    y.sum().backward()
    return y


def written():
    y = leaf() * 1
    y[0:1] = 3
    return y


# A node, by what owns it. The result is kept, and with it the node; `dead` drops it.
NODES = {
    "live": (live, lambda y: y.grad_fn), "freed": (freed, lambda y: y.grad_fn),
    "dead": (live, lambda y: None), "bare": (Saving._backward_cls, lambda ctx: ctx),
    "add": (lambda: leaf() + 1, lambda y: y.grad_fn),
    "relu": (lambda: leaf().relu(), lambda y: y.grad_fn),
    "view": (lambda: leaf().view(-1), lambda y: y.grad_fn),
    "sum": (lambda: leaf().sum(), lambda y: y.grad_fn),
    "accumulate": (live, lambda y: y.grad_fn.next_functions[0][0]),
    "copy_slices": (written, lambda y: y.grad_fn),
}


def made(kind):
    """What owns a node of KIND, and the node."""
    make, node_of = NODES[kind]
    owner = make()
    if kind == "dead":
        node, owner = owner.grad_fn, None
        return owner, node
    return owner, node_of(owner)


@pytest.mark.parametrize("kind", NODES)
def test_each_name_works_or_says_why_it_does_not(kind):  # A1b
    worked = 0
    for name in NAMES:
        for use in USES:
            owner, node = made(kind)
            try:
                exec(use.format(name), {"n0": node, "t0": T.ones(4)})
                worked += 1
            except REASONS as error:
                assert str(error), (use, name)
            del owner, node
    assert worked > WORKING_MIN
