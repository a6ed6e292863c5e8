s0 = Resurrecting(4)
r0 = weakref.ref(s0, fallen.append)
del s0
s0 = resurrected.pop()
s0[0] = 7
s0[0]
s0.nbytes()
