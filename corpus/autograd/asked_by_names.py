t0 = T.ones(1).requires_grad_()
t1 = fn('save_both').apply(t0)
n0 = t1.grad_fn
p0 = n0.next_functions
p1 = p0[0]
n0.name()
p0 = n0.name
p0()
check_node_asks(t0)
