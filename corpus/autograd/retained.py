t0 = T.ones(1).requires_grad_()
t1 = t0 * t0
t1.retain_grad()
t1.sum().backward()
t2 = t1.grad
t2.tag = 7
