t0 = T.ones(1)
t0.requires_grad_()
t0.register_hook(hook_of(t0))
t1 = T.ones(1)
t1._backward_hooks = t0._backward_hooks
t1._backward_hooks = None
del t0
gc.collect()
