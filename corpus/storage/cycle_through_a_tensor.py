t0 = T.tensor([7])
s0 = t0.untyped_storage()
s0.owner = t0
t0.held = s0
del s0
del t0
gc.collect()
