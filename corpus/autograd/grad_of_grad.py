t0 = T.ones(1).requires_grad_()
t1 = t0 * t0
t2 = T.autograd.grad(t1.sum(), t0, create_graph=True)[0]
t2.sum().backward()
