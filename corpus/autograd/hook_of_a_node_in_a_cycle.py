enter_hermetic()
t0 = T.ones(1).requires_grad_()
t0 = fn('nothing').apply(t0)
t1 = t0.view(-1)
n0 = t0.grad_fn
t1.mul_(t0)
t1 = T.ones(1)
t0 = T.ones(1)
h0 = n0.register_hook(node_hook_of(t0))
