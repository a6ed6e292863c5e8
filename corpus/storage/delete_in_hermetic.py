t0 = T.ones(1)
s0 = t0.untyped_storage()
s0.tag = 7
enter_hermetic()
del s0
s1 = t0.untyped_storage()
exit_hermetic()
s0 = t0.untyped_storage()
