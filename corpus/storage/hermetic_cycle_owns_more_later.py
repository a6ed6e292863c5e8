enter_hermetic()
t0 = T.ones(0)
t1 = t0.view(-1)
t0.grad = t1
t2 = T.ones(0)
t0 = T.ones(1)
t1.grad = t2
t1 = T.ones(1)
s0 = T.UntypedStorage(1)
r0 = weakref.ref(s0, wrap_again(t2))
t2.set_(s0)
