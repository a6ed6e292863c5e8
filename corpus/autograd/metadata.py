t0 = T.ones(1).requires_grad_()
t1 = t0 * t0
n0 = t1.grad_fn
n0.metadata['held'] = t1
t2 = n0.metadata['held']
del t1
del t2
del n0
gc.collect()
