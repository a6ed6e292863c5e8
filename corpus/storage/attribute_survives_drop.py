t0 = T.ones(1)
s0 = t0.untyped_storage()
s0.tag = 7
del s0
gc.collect()
s1 = t0.untyped_storage()
t0.untyped_storage().tag = 255
s1 = t0.untyped_storage()
