t0 = T.ones(1).requires_grad_()
t1 = t0 * t0
h0 = t1.register_hook(doing('stashes'))
t1.sum().backward()
t2 = stash.pop()
t2.tag = 7
