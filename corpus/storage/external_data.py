t0 = T.frombuffer(bytearray(8), dtype=T.uint8)
s0 = t0.untyped_storage()
s0.resize_(64)
s0[3] = 7
del t0
s0[3]
