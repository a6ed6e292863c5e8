t0 = T.ones(1).requires_grad_()
t1 = t0 * t0
t1.sum().backward()
t1.sum().backward()
