t0 = T.ones(1).requires_grad_()
with T.autograd.graph.saved_tensors_hooks(*pair('same')): t1 = t0 * t0
with T.autograd.graph.saved_tensors_hooks(*pair('same')): t2 = t1 * t1
t1.grad = t2
