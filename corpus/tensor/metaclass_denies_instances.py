t0 = T.ones(1)
t1 = TensorOdd(1)
t1.tag = 0
t0.grad = t1
del t1
t1 = t0.grad
t2 = TensorOverriding(1)
t3 = t2.detach()
