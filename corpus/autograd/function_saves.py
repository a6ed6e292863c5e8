t0 = T.ones(1).requires_grad_()
t1 = fn('save_input').apply(t0)
t2 = fn('save_both', 'y', 'saved').apply(t1)
n0 = t2.grad_fn
t3 = n0.saved_tensors[0]
t2.sum().backward(retain_graph=True)
n0.saved_tensors
t2.sum().backward()
n0.next_functions
del t2
n0.requires_grad
