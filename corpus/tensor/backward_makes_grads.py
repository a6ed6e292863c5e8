t0 = TensorSub(1)
t0.requires_grad_()
t1 = t0.add(t0)
t1.retain_grad()
t1.sum().backward()
t2 = t0.grad
t2.tag = 7
del t2
t2 = t0.grad
t0.requires_grad = False
