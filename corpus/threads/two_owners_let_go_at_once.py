t0 = T.ones(1)
x0 = Owner(t0)
x1 = Owner(t0)
x0.start_locking()
x1.start_locking()
s0 = t0.untyped_storage()
s0.tag = 7
del t0
gc.collect()
x0.drop_on_thread()
x1.drop()
s0[0] = 7
