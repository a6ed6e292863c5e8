s0 = T.UntypedStorage(4)
s0.resize_(64)
s1 = s0.clone()
s0.copy_(s1)
s0.data_ptr()
s0._use_count()
s0[-1] = 255
s0[100]
s0.resize_(65536)
s1 = T.UntypedStorage(65536)
s0.resize_(-1)
s1 = T.UntypedStorage((1 << 63) - 1)
