t0 = T.ones(1).requires_grad_()
t1 = t0 * t0
with hermetic(): del t1
gc.collect()
t0.sum().backward()
