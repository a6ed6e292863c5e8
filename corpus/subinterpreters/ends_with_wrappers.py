o0 = Other()
o0.make()
o0.keep()
s0 = o0.take()
s0.tag = 7
o0.end()
s0[0] = 7
o0.make()
o1 = Other()
o1.make()
o1.share(s0)
del o1
s0[0]
