s0 = T.UntypedStorage(1)
m0 = memoryview(s0)
t0 = T.frombuffer(m0, dtype=T.uint8)
l0 = [s0]
s1 = t0.untyped_storage()
s0.box = l0
s2 = s1[:1]
l0.append(s2)
l0.append(s1)
