t0 = T.ones(1)
t1 = T.ones(1)
t0[0:1] = 3
t0[0:1] = t1
