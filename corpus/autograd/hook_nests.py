t0 = T.ones(1).requires_grad_()
h0 = t0.register_hook(doing('nests'))
t1 = t0 * t0
t1.sum().backward()
h0.remove()
