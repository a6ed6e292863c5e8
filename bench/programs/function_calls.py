"""What bench/function_calls.py times, the same text on slotcore and on torch, in the form of the
prelude. Each function without an underscore is a row of the benchmark.
"""

#: Square: a Function that saves its argument
class Square(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * x * 2
_leaf = T.ones(4).requires_grad_()
_ones = T.ones(4)

#: call, forward_and_backward: of that Function
def call():
    Square.apply(_leaf)
def forward_and_backward():
    Square.apply(_leaf).backward(_ones)

#: product_and_backward: the same without a custom Function
def product_and_backward():
    (_leaf * _leaf).backward(_ones)
