t0 = T.ones(1)
s0 = t0.untyped_storage()
del s0
s0 = t0.untyped_storage()
s1 = t0.untyped_storage()
check_wraps(t0)
