t0 = T.ones(1).requires_grad_()
u0 = fn('save_input', 'y', 'saved')
u1 = also(u0, 'hold_result')
t1 = u1.apply(t0)
u0 = returning(u0, 'pair')
t2 = u0.apply(t1)[0]
t3 = u1.apply(t2, t2)
t3.sum().backward()
