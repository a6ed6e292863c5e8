t0 = T.ones(1)
with hermetic(): s0 = t0.untyped_storage()
s1 = t0.untyped_storage()
del s0
s0 = t0.untyped_storage()
with hermetic(): del s0
raise_in_hermetic(t0)
