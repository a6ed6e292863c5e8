s0 = T.UntypedStorage(64)
s2 = s0[:1]
s1 = s0[1:]
s1.fill_(7)
check_bytes(s1)
check_part(s0)
del s2
t0 = T.frombuffer(bytearray(8), dtype=T.uint8, offset=4)
older_cycle(t0.untyped_storage)
gc.collect()
s2 = t0.untyped_storage()
check_bytes(s2)
