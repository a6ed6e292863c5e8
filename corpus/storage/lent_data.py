t0 = T.frombuffer(memoryview(bytearray(8))[4:], dtype=T.uint8)
s0 = t0.untyped_storage()
s0.me = s0
s1 = T.UntypedStorage(4)
m0 = memoryview(s1)
t1 = T.frombuffer(m0, dtype=T.uint8)
del m0
s1.owner = t1
