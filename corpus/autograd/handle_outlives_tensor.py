h0 = T.ones(1).requires_grad_().register_hook(hook_of(1))
h0.remove()
