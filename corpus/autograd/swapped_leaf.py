t0 = T.ones(1).requires_grad_()
t1 = t0.clone()
t2 = T.ones(1)
T.utils.swap_tensors(t0, t2)
T.utils.swap_tensors(t2, t2)
del t0
gc.collect()
t1.sum().backward()
