t0 = T.ones(1)
t1 = T.ones(1)
t1.grad = t0
r0 = weakref.ref(t0)
del t0
t2 = fixed(r0)
del t1
t2.fill_(1)
