"""What lines about states may call: Functions that save, write or give back their argument."""

#: Squaring, Returning: Functions that save their argument, and give it back
class Squaring(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, gradient):
        x, = ctx.saved_tensors
        return gradient * x * 2
class Returning(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, gradient):
        return gradient

#: state_functions: calls of Functions with x
def square_by_function(s):
    x = s.all[-1]
    s.compute(Squaring.apply(x.tensor), x, saved=[x.writes])
def write_by_function(s):
    """The forward writes x before anybody knows that this cannot be recorded."""
    x = s.all[-1]
    is_refused, edge = s.is_refused(x, [x]), x.edge()
    error = raised_by(lambda: Doubling.apply(x.tensor))
    assert (error is not None) == is_refused, (
        f"A7a: a Function that writes its argument raises {type(error).__name__}")
    x.writes.count += 1
    if not is_refused and s.is_recording([x]):
        s.rebase(x, ModelNode(edge))
        x.has_grad = x.has_grad and is_slotcore  # PyTorch empties `.grad` (A7a)
def return_by_function(s):
    """The result is a view of x. Where x requires a gradient and nothing is recorded, it is not."""
    x = s.all[-1]
    is_recorded, base = s.is_recording([x]), x.base or x
    made = s.keep(Returning.apply(x.tensor), source=x, is_recorded=False,
                  base=base if is_recorded or not x.requires() else None)
    made.is_given = made.base is not None
    if is_recorded:
        made.put_at(ModelNode(x.edge()))
state_functions = {
    "square_by_function": square_by_function, "write_by_function": write_by_function,
    "return_by_function": return_by_function,
}
