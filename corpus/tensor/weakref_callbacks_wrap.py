t0 = T.ones(1)
t1 = T.ones(1)
t0.grad = t1
t2 = t1.view(-1)
t3 = T.ones(1)
r0 = weakref.ref(t3, fetch_grad_again(t0))
r1 = weakref.ref(t3, fetch_base_again(t2))
r2 = weakref.ref(t3, write_again(t1))
del t1
del t3
t1 = fetched.pop()
