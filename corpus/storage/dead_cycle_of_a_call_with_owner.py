t0 = T.ones(1)
s0 = t0.untyped_storage()
s0.tag = 7
dead_cycle(s0)
del s0
gc.collect()
s0 = t0.untyped_storage()
