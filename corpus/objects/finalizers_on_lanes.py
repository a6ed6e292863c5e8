t0 = T.ones(1)
lane(1, "t1 = TensorFinalized(1)")
t0.grad = t1
lane(2, "del t1")
lane(1, "t0.grad = None")
gc.collect()
