t0 = T.ones(1)
s0 = t0.untyped_storage()
r0 = weakref.ref(s0)
del s0
s0 = fixed(r0)
del t0
s0.nbytes()
