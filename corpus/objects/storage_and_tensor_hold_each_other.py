s0 = Finalized(4)
t0 = TensorFinalized(1)
s0.owner = t0
t0.held = s0
del s0
del t0
gc.collect()
