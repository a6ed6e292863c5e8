t0 = T.ones(1).requires_grad_()
n0 = Legacy()
t1 = n0(t0)
t1.sum().backward()
del t1
t2 = n0(t0)
