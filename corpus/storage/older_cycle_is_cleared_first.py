s0 = T.UntypedStorage(1)
l0 = [s0]
l0.append(l0)
t0 = T.ones(1)
s1 = t0.untyped_storage()
s1.tag = 7
l0.append(s1)
del l0
del s1
gc.collect()
s1 = t0.untyped_storage()
