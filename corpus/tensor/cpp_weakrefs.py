t0 = T.ones(1)
c0 = CppWeak(t0)
t1 = c0.lock()
c1 = WeakTensor(t0)
c0.expired()
c1.expired()
del t0
del t1
c0.expired()
c1.expired()
