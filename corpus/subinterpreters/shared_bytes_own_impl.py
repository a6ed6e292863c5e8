o0 = Other()
s0 = T.UntypedStorage(4)
o0.share(s0)
s0.tag = 7
s1 = o0.take()
o0.keep()
del s0
s1[0] = 7
o0.drop()
s1.nbytes()
