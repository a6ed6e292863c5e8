t0 = T.ones(1).requires_grad_()
q0 = Backward(t0)
gc.collect()
q0.join()
