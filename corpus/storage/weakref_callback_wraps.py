t0 = T.ones(1)
s0 = T.UntypedStorage(1)
r0 = weakref.ref(s0, wrap_again(t0))
c0 = CppWeak(s0)
r1 = weakref.ref(s0, lock_again(c0))
s1 = c0.lock()
del s1
del s0
c0.expired()
