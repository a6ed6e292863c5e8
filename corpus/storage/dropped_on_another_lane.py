t0 = T.ones(1)
lane(1, "s0 = t0.untyped_storage()")
s0.tag = 7
lane(2, "del s0")
gc.collect()
lane(1, "s0 = t0.untyped_storage()")
lane(2, "del t0")
lane(2, "del s0")
