s0 = T.UntypedStorage(1)
t0 = T.empty(0, dtype=T.uint8).set_(s0)
r0 = weakref.ref(s0, wrap_again(t0))
enter_hermetic()
s0 = T.UntypedStorage(1)
s1 = r0()
s1.me = s1
t1 = T.empty(0, dtype=T.uint8).set_(s1)
t2 = t1.view(-1)
t1.grad = t2
