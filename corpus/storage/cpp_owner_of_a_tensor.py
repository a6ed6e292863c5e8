t0 = T.ones(1)
s0 = t0.untyped_storage()
s0.tag = 7
x0 = Owner(t0)
del t0
del s0
del x0
