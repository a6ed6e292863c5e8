t0 = T.ones(1).requires_grad_()
t1 = t0 * t0
t0.other = t1
del t0
del t1
gc.collect()
