t0 = T.ones(1).requires_grad_()
enter_hermetic()
t1 = fn('save_view').apply(t0)
