t0 = T.ones(1)
q0 = Backward(t0)
check_aside('fake_with_sizes', 'nothing', 'nothing', 'on_meta', 'on_meta')
