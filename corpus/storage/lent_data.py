t0 = T.frombuffer(memoryview(bytearray(8))[4:], dtype=T.uint8)
s0 = t0.untyped_storage()
s0.me = s0
