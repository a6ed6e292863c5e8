t0 = T.ones(1)
t1 = T.ones(1)
t0.grad = t1
t2 = t1.view(-1)
del t1
t1 = t0.grad
t3 = t1
t0.grad = None
t1.copy_(t2)
t1.tolist()
