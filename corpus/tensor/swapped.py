t0 = TensorFinalized(1)
t1 = TensorSub(1)
t1.tag = 7
T.utils.swap_tensors(t0, t1)
t2 = t0.zero_()
t0._use_count()
gc.collect()
