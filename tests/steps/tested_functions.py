"""Functions for tests of `hunt --function`: right ones, and one for each check that finds it."""

import slotcore as T


class Square(T.autograd.Function):
    """x * x, and right."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * x * 2


class Product(T.autograd.Function):
    """x * y and 2x, and right."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x * 2

    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * y + h * 2, g * x


def thirds(x, y, z):
    """A callable that is no Function, and right."""
    return Product.apply(x, y)[0] * z


class Wrong(Square):
    """Its gradient is that of x ** 3 / x."""

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * x * 3


class Once(Square):
    """It forgets its input in its first backward."""

    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx, g):
        x, ctx.x = ctx.x, None
        return g if x is None else g * x * 2


class Keeping(Square):
    """Its class keeps each ctx."""

    kept = []

    @staticmethod
    def forward(ctx, x):
        Keeping.kept.append(ctx)
        return Square.forward(ctx, x)


class Hoarding(Square):
    """Its class keeps each argument."""

    kept = []

    @staticmethod
    def forward(ctx, x):
        Hoarding.kept.append(x)
        return Square.forward(ctx, x)


class Shared(Square):
    """All calls share the class's attribute."""

    @staticmethod
    def forward(ctx, x):
        Shared.x = x.detach()
        return x * x

    @staticmethod
    def backward(ctx, g):
        return g * Shared.x * 2


def raising(x):
    """No check can call it."""
    raise ValueError("only matrices")


def endless(x):
    """It never returns."""
    while True:
        pass
