t0 = T.ones(2, 3)
t1 = t0.select(0, -1)
t2 = t1.as_strided((2,), (1,), 1)
t0.untyped_storage().resize_(64)
t2.zero_()
s0 = t0.untyped_storage()
t3 = T.ones(1)
t3.set_(s0, 1, (2,), (1,))
t3.grad = t2
del t2
older_cycle(lambda: t3.grad)
gc.collect()
t2 = t3.grad
