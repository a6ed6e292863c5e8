t0 = T.ones(1).requires_grad_()
t1 = chain(t0)
t1.sum().backward()
