t0 = T.ones(1).requires_grad_()
t1 = fn('save_input', 'x', 'saved').apply(t0)
t2 = fn('save_input', 'pair').apply(t1)[0]
t3 = fn('save_leaf', 'pair').apply(t2)[1]
t1 = fn('nothing').apply(t3, None)
t1.sum().backward()
t2 = fn('save_input', 'y', 'stashes').apply(t0)
t2.sum().backward()
n0 = ctxs.pop()
del t2
t3 = n0.apply(t0)
