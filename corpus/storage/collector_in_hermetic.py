t0 = T.ones(1)
s0 = t0.untyped_storage()
s0.me = s0
del s0
with hermetic(): gc.collect()
s0 = t0.untyped_storage()
