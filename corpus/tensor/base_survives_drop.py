t0 = TensorSub(1)
t1 = t0.view(-1)
t0.tag = 7
del t0
gc.collect()
t2 = t1._base
t3 = t2.view_as(t2)
t1._is_view()
