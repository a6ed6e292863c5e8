t0 = T.ones(1)
t1 = TensorSub(1)
t1.tag = 7
t0.grad = t1
del t1
gc.collect()
t1 = t0.grad
