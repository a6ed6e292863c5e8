t0 = T.ones(1).requires_grad_()
t1 = fn('save_input').apply(t0)
n0 = t1.grad_fn
n0.tag = t1
n0.me = n0
r0 = weakref.ref(n0)
del t1
t2 = n0.tag
del t2
del n0
gc.collect()
