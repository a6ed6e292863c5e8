t0 = T.ones(1).requires_grad_()
t1 = t0.relu()
n0 = t1.grad_fn
h0 = n0.register_hook(node_hook_of(t1))
del t1
gc.collect()
n1 = n0.next_functions[0][0]
