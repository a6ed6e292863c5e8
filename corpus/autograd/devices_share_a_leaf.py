t0 = T.ones(1).requires_grad_()
u0 = fn('save_input', 'y', 'saved')
with T.on_device(0): t1 = t0 * t0
with T.on_device(0): t2 = u0.apply(t1)
with T.on_device(1): t3 = t2.relu()
t3.sum().backward()
