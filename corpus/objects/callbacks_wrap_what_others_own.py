s0 = Sub(4)
t0 = T.empty(0, dtype=T.uint8).set_(s0)
t1 = TensorSub(1)
r0 = weakref.ref(t1, fallen.append)
r1 = weakref.ref(s0, wrap_again(t0))
x0 = Owner(t1)
del t1
del s0
x0.drop()
gc.collect()
