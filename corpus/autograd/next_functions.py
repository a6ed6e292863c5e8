t0 = T.ones(1).requires_grad_()
t1 = t0 * t0
t1.grad_fn.next_functions
