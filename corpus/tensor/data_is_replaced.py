t0 = TensorSub(1)
t0.tag = 7
t1 = t0.data
t2 = T.ones(1)
t0.data = t2
t3 = t0.detach()
t0.detach_()
t0.data_ptr()
