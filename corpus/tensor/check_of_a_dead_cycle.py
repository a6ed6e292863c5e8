t0 = T.ones(1)
check_grad_kept(t0, True)
