t0 = T.ones(1).requires_grad_()
n0 = t0.view_as(t0).grad_fn.next_functions[0][0]
del t0
gc.collect()
t1 = n0.variable
