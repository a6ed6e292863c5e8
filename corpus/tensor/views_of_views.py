t0 = T.ones(2, 3)
t1 = t0.transpose(0, -1)
t2 = t1.select(0, 0)
t3 = t2.narrow(0, 0, 1)
t1 = t0.t()
t2 = t1[0]
t3 = t2[:1]
t1 = t3.as_strided((1,), (1,))
t2 = t1.expand(3, -1)
t3 = t2._base
t1 = t0.as_strided((64,), (1,))
check_viewing('narrow(0, -1, 2)', '[1:]', 'expand(2, -1, -1)', 'select(-1, 1)')
check_viewing('t()', 'view(3, -1)', '[0:5:2]', 'as_strided((2, 2), (1, 1), 1)')
