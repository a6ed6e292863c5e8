t0 = T.ones(1)
s0 = t0.untyped_storage()
s0.tag = 7
x0 = Owner(s0)
x0.start_copying()
del s0
gc.collect()
s0 = t0.untyped_storage()
check_wraps(t0)
x0.join()
