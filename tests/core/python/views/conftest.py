"""How a view is made."""

import pytest
import slotcore as T

VIEWS = {
    "view": lambda t: t.view(2, 2), "narrow": lambda t: t.narrow(0, 1, 2),
    "select": lambda t: t.select(0, -1), "as_strided": lambda t: t.as_strided((2,), (1,), 1),
    "transpose": lambda t: t.transpose(0, 0), "t": lambda t: t.t(),
    "expand": lambda t: t.expand(2, 4), "view_as": lambda t: t.view_as(T.ones(2, 2)),
    "int": lambda t: t[1], "slice": lambda t: t[1:], "ellipsis": lambda t: t[...],
}


@pytest.fixture(params=VIEWS.values(), ids=VIEWS.keys())
def make_view(request):
    return request.param
