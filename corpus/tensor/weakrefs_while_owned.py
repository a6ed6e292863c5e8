t0 = T.ones(1)
t1 = TensorSub(1)
t0.grad = t1
r0 = weakref.ref(t1)
r1 = weakref.ref(t1, fallen.append)
del t1
t2 = r0()
t2._fix_weakref()
