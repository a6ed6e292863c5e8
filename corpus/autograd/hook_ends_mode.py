t0 = T.ones(1).requires_grad_()
with T.autograd.graph.saved_tensors_hooks(*pair('ends')): t1 = t0 * t0
with T.autograd.graph.saved_tensors_hooks(*pair('ends')): t1 = t0 * t0
t1.sum().backward()
