s0 = Finalized(1)
s0.tag = 7
c0 = CppWeak(s0)
x0 = Owner(s0)
del s0
gc.collect()
s0 = c0.lock()
x0.use_count()
del s0
x0.drop()
c0.expired()
