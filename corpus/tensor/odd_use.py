t0 = T.ones(1)
t0.data = 7
del t0.grad
