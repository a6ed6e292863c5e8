s0 = Finalized(1)
r0 = weakref.ref(s0)
c0 = CppWeak(s0)
x0 = Owner(s0)
x0.start_locking()
s0.me = s0
s1 = c0.lock()
del s1
del s0
gc.collect()
s0 = c0.lock()
x0.join()
x0.use_count()
