t0 = T.ones(1)
s0 = t0.untyped_storage()
s0.tag = 7
l0 = [s0]
l0.append(l0)
s0.box = l0
del s0
del l0
gc.collect()
s0 = t0.untyped_storage()
