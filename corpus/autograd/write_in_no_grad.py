t0 = T.ones(1).requires_grad_()
t1 = t0 * t0
with T.no_grad(): t0.mul_(2)
t1.sum().backward()
