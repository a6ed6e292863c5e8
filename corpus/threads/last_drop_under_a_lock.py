t0 = T.ones(1)
s0 = t0.untyped_storage()
s0.owner = t0
x0 = Owner(t0)
del t0
del s0
x0.drop_under_lock()
gc.collect()
