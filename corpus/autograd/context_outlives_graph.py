t0 = T.ones(1).requires_grad_()
n0 = ctx_of(fn('save_input'), t0)
n0.saved_tensors
n1 = fn()._backward_cls()
n1.next_functions
n1.save_for_backward(t0)
p0 = n1.to_save
n1.to_save = (t0,)
del n1.to_save
