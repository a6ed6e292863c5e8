t0 = T.ones(1)
t1 = TensorFinalized(1)
t0.grad = t1
del t1
gc.collect()
t0.grad = None
