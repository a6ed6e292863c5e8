t0 = T.ones(1)
check_two_backwards(t0)
check_error_leaves_nothing(t0)
check_nested(t0)
