s0 = T.UntypedStorage(4)
e0 = keep_frame(s0)
g0 = keep_generator(s0)
f0 = keep_closure(s0)
s1 = s0
del s0
s0 = e0.__traceback__.tb_frame.f_locals['held']
s1 = next(g0)
s2 = f0()
