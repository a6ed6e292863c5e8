s0 = T.UntypedStorage(4)
m0 = memoryview(s0)
s0.resize_(64)
del s0
bytes(m0)
