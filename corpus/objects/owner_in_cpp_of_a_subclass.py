t0 = TensorFinalized(1)
t0.tag = 7
x0 = Owner(t0)
del t0
gc.collect()
x0.drop_on_thread()
gc.collect()
