t0 = T.ones(1)
s0 = T.UntypedStorage(1)
t0.held = s0
s1 = t0.held
s0.owner = t0
t1 = s0.owner
t2 = t0[:1]
