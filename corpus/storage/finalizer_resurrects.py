s0 = Phoenix(4)
r0 = weakref.ref(s0, fallen.append)
del s0
s0 = risen.pop()
s0[0] = 7
s0[0]
s0.nbytes()
