t0 = T.ones(1).requires_grad_()
h0 = t0.register_hook(doing('raises'))
t1 = t0 * t0
t1.sum().backward(retain_graph=True)
h0.remove()
t1.sum().backward()
