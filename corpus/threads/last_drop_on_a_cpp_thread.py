s0 = Finalized(1)
s0.tag = 7
x0 = Owner(s0)
del s0
x0.drop_on_thread()
s1 = T.UntypedStorage(1)
